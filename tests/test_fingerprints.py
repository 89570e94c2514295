"""Problems are told apart by what they hold, not by what their reprs show, and a checkpoint says what differs."""

import random
import threading
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from fuzzing import flip_bit
from maximand import Checkpoint, ModelFileError, MulticlassClassifier, OracleTask, StructuredPredictor
from maximand.batch import Batch
from maximand.costs import ZeroOne
from maximand.features import Examples, PerLabel, Rows
from maximand.fingerprints import fingerprint
from maximand.losses import CRF
from maximand.objective import Objective
from maximand.solvers import LBFGS, OneSlack
from maximand.spaces import Choice, Labels


class OwnInputs:
    """Inputs of a user: an object without a repr of its own, around a long array."""

    def __init__(self, matrix):
        self.matrix, self.n_examples, self.n_bytes = matrix, len(matrix), matrix.nbytes

    def take(self, examples):
        return OwnInputs(self.matrix[examples])

    def rows(self, kind):
        return Rows.single(self.matrix)


def problem(matrix, **changes):
    n = len(matrix)
    batch = Batch(Examples(Choice(n, 3), OwnInputs(matrix)), Labels.single(np.arange(n) % 3, 3), ZeroOne(), np.ones(n))
    objective = Objective.of(batch, PerLabel(matrix.shape[1], 3), CRF, 0.1)
    return fingerprint(replace(objective, **changes), LBFGS())


def test_what_users_write_is_known_by_what_it_holds():
    matrix = np.zeros((600, 3))  # its repr leaves most of it out
    changed = matrix.copy()
    changed[300, 1] = 1.0
    assert problem(matrix) == problem(matrix.copy())
    assert problem(matrix) != problem(changed)
    assert problem(matrix) != problem(matrix, regularization=0.2)


def top(k, guard=None):
    """Return the argmax over sets of at most k parts."""

    def argmax(theta, instance):
        with guard or threading.Lock():
            return ((np.argsort(np.argsort(-theta)) < k) & (theta > 0)).astype(float)

    return argmax


def fitted(path, k=2, shift=0.0, loss="hinge", regularization=0.1, solver=None, weight=None, cost=None, guard=None):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(6, 3)) + shift for _ in range(8)]
    Y = [top(2)(x @ np.array([1.0, -1.0, 0.5]), None) for x in X]
    task = OracleTask(top(k, guard), cost=cost)
    solver = solver or OneSlack(tolerance=1e-6, max_iterations=4)
    model = StructuredPredictor(task, loss=loss, regularization=regularization, solver=solver)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.set_callbacks(Checkpoint(path, seconds=0)).fit(X, Y, weight)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"k": 4}, "the argmax differs"),
        ({"shift": 1.0}, "the inputs and the space of outputs differ"),
        ({"loss": "perceptron"}, "the loss differs"),
        ({"regularization": 0.2}, "the regularization differs"),
        ({"solver": OneSlack(tolerance=1e-3)}, "the solver differs"),
        ({"weight": np.arange(1.0, 9.0)}, "the sample_weight differs"),
        ({"cost": ZeroOne()}, "the cost differs"),
    ],
)
def test_a_refused_checkpoint_says_what_differs(tmp_path, changes, words):
    path = tmp_path / "run"
    fitted(path)
    fitted(path)
    with pytest.raises(ModelFileError, match=rf"run is the checkpoint of another problem: {words}\. Delete it"):
        fitted(path, **changes)


def test_what_cannot_be_compared_is_not_resumed(tmp_path):
    fitted(tmp_path / "run", guard=threading.Lock())
    with pytest.raises(ModelFileError, match=r"may be .* another problem: the argmax holds an object of the type lock"):
        fitted(tmp_path / "run", guard=threading.Lock())


def test_a_flipped_bit_anywhere_is_found(tmp_path):
    path, rng = tmp_path / "run", random.Random(0)
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    model = MulticlassClassifier(loss="crf").set_callbacks(Checkpoint(path, seconds=0)).fit(X, y)
    content = path.read_bytes()
    for _ in range(120):
        path.write_bytes(flip_bit(content, rng))
        with pytest.raises(ModelFileError, match=r"run(: | is ).*[Dd]elete it"):
            model.fit(X, y)
