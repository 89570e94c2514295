"""Problems are told apart by what they hold, not by what their reprs show."""

from dataclasses import replace

import numpy as np

from maximand.batch import Batch
from maximand.costs import ZeroOne
from maximand.features import Examples, PerLabel, Rows
from maximand.fingerprints import fingerprint
from maximand.losses import CRF
from maximand.objective import Objective
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
    return fingerprint(replace(objective, **changes))


def test_what_users_write_is_known_by_what_it_holds():
    matrix = np.zeros((600, 3))  # its repr leaves most of it out
    changed = matrix.copy()
    changed[300, 1] = 1.0
    assert problem(matrix) == problem(matrix.copy())
    assert problem(matrix) != problem(changed)
    assert problem(matrix) != problem(matrix, regularization=0.2)
