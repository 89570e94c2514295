"""The averaged perceptron beside one in plain Python, and what it must respect."""

import numpy as np
import pytest
from cases import CASES, NAMES

from maximand import GraphLabeler, NodesAndEdges, Perceptron
from maximand.engine import Threads
from maximand.losses import CRF, EUCLIDEAN, HINGE, PERCEPTRON, SQUARED
from maximand.oracles import Over, Soft
from maximand.solvers import Result

EVERY = pytest.mark.parametrize("case", CASES, ids=NAMES)


def dense(objective, weights, size, epochs, seed=0):
    """Subgradients of a few examples at a time, as vectors, and the mean of the weights after each step."""
    (shard,) = objective.placed
    total, n_steps = np.zeros(objective.n_weights), 0
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        order = rng.permutation(objective.n_examples)
        for first in range(0, order.size, size):
            own = order[first : first + size]
            penalty = shard.sums(objective.loss.penalty, "", weights, own).slope
            reward = shard.sums(Soft(Over.ANNOTATED), "", weights, own).slope
            weights = objective.clip(weights - (penalty - reward) / objective.share.mean())
            total, n_steps = total + weights, n_steps + 1
    return weights, total / n_steps


@EVERY
@pytest.mark.parametrize("loss", [PERCEPTRON, HINGE], ids=lambda loss: loss.name)
def test_few_changes_make_the_weights_of_dense_steps(case, loss):
    n = case.space.n_examples
    for annotation in (case.full, case.partial):
        for weight in (None, np.arange(n) % 3 + 0.5):
            objective = case.objective(loss, annotation, sample_weight=weight, engine=Threads(1))
            untied = objective.clip(np.random.default_rng(1).normal(size=objective.n_weights))  # rounding decides ties
            start = Result(untied, np.inf, None, False, False, "")
            last, mean = dense(objective, untied, 2, 3)
            settings = {"max_iterations": 3, "batch_size": 2}
            if (found := Perceptron(**settings).minimize(objective, start)) and len(found.history) == 3:
                np.testing.assert_allclose(found.weights, mean, rtol=1e-9, atol=1e-9)
                found = Perceptron(averaging=False, **settings).minimize(objective, start)
                np.testing.assert_allclose(found.weights, last, rtol=1e-9, atol=1e-9)
            assert found.value == pytest.approx(objective.value(found.weights), rel=1e-12)


@EVERY
def test_changes_move_weights_and_leave_room_without_any_empty(case):
    objective, rng = case.objective(PERCEPTRON), np.random.default_rng(0)
    (shard,) = objective.placed
    features, examples = shard.features, shard.batch.examples
    weights, change = rng.normal(size=features.n_weights), rng.normal(size=case.space.n_parts)
    change[rng.random(change.size) < 0.7] = 0.0
    sums = np.zeros(features.n_expanded)
    features.add_sums(examples, change, sums)
    expanded = features.expand(weights.copy())
    features.move(examples, change, expanded)
    np.testing.assert_allclose(expanded, features.expand(weights + features.reduce(sums)), atol=1e-12)


def test_examples_without_weight_teach_nothing():
    case = CASES[NAMES.index("chain")]
    n, solver = case.space.n_examples, Perceptron(batch_size=1, averaging=False)
    weighted = case.objective(PERCEPTRON, sample_weight=(np.arange(n) == 0).astype(float))
    alone = solver.minimize(case.objective(PERCEPTRON, examples=np.array([0])))
    result = solver.minimize(weighted)
    assert result.converged
    assert alone.weights.any()
    np.testing.assert_allclose(result.weights, n * alone.weights)


def test_it_refuses_steps_without_bound_and_rewards_of_no_example():
    case = CASES[NAMES.index("choice")]
    with pytest.raises(ValueError, match=r"Perceptron takes steps as long as gradients, .* use LBFGS\(\)"):
        Perceptron().check(case.objective(SQUARED))
    for loss in (CRF, EUCLIDEAN):
        Perceptron().check(case.objective(loss))
    frozen = case.objective(PERCEPTRON, case.partial)
    with pytest.raises(ValueError, match="which CCCP freezes"):
        Perceptron().check(frozen.linearized(np.zeros(frozen.n_weights)))


def test_associative_tables_stay_so():
    rng = np.random.default_rng(0)
    edges = np.array([[i, i + 1] for i in range(5)])
    X = [NodesAndEdges(rng.normal(size=(6, 2)), edges) for _ in range(6)]
    Y = [rng.integers(2, size=6) for _ in X]
    model = GraphLabeler(loss="perceptron", tables="potts", associative=True, solver=Perceptron(max_iterations=4))
    model.fit(X, Y)
    assert (model.weights_[model.task_.features.nonnegative] >= 0.0).all()
