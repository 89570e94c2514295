"""Projections onto the permutahedron by their optimality conditions, and the orders behind them."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from maximand.numerics import permutahedron

PROJECTIONS = {"euclidean": permutahedron.project_euclidean, "entropic": permutahedron.project_entropic}
SCALES = {"euclidean": [1e-6, 0.1, 1.0, 30.0, 1e6], "entropic": [1e-6, 0.1, 1.0, 30.0, 700.0]}
CASES = [(kind, scale) for kind, scales in SCALES.items() for scale in scales]


def apply(kernel, scores, weights):
    scores, weights = np.ascontiguousarray(scores, dtype=float), np.ascontiguousarray(weights, dtype=float)
    values, means = np.full(len(scores), np.nan), np.full(scores.shape, np.nan)
    kernel(scores, weights, values, means)
    return values, means


def regularised(kind, theta, u):
    """Return the objective and its gradient, where the regularisation of 0 is 0 and its slope is that of 1e-307."""
    if kind == "euclidean":
        return theta @ u - 0.5 * u @ u, theta - u
    logarithms = np.log(np.maximum(u, 1e-307))
    return theta @ u - u @ logarithms, theta - 1.0 - logarithms


def weight_vectors(rng, k, kind):
    yield np.arange(k, 0.0, -1.0)
    yield np.sort(rng.uniform(0.0, 3.0, size=k))[::-1]
    yield np.where(np.arange(k) < (k + 1) // 2, 1.0, 0.0)
    yield np.full(k, 0.5)
    if kind == "euclidean":
        yield np.sort(rng.normal(size=k))[::-1]


def distance_outside(u, weights):
    """Return by how much a point is outside: its largest entries may not sum to more than the largest weights."""
    largest = np.cumsum(np.sort(u)[::-1]) - np.cumsum(weights)
    return max(largest.max(), abs(largest[-1]))


@pytest.mark.parametrize(("kind", "scale"), CASES)
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_optimality_conditions(kind, scale, k):
    rng = np.random.default_rng(k)
    for weights in weight_vectors(rng, k, kind):
        scores = rng.normal(size=(8, k)) * scale
        scores[0] = scores[0].round()
        scores[1] = scores[1, 0]
        values, means = apply(PROJECTIONS[kind], scores, weights)
        vertices = np.array(list(itertools.permutations(weights)))
        for theta, value, u in zip(scores, values, means, strict=True):
            assert distance_outside(u, weights) <= 1e-13 * max(1.0, np.abs(weights).sum())
            objective, gradient = regularised(kind, theta, u)
            size = np.abs(theta) @ np.abs(u) + abs(theta @ u - objective)
            assert value == pytest.approx(objective, rel=0.0, abs=1e-12 * max(1.0, size))
            assert ((vertices - u) @ gradient).max() <= 1e-9 * max(1.0, 1e-3 * scale)


@pytest.mark.parametrize(("kind", "scale"), CASES)
@pytest.mark.parametrize("k", [14, 15, 100, 700])
def test_many_scores(kind, scale, k):
    """A point is the projection if it is feasible and no vertex is better than it along the gradient."""
    rng = np.random.default_rng(k)
    for weights in weight_vectors(rng, k, kind):
        scores = rng.normal(size=(3, k)) * scale
        scores[1] = np.round(scores[1] / scale) * scale
        values, means = apply(PROJECTIONS[kind], scores, weights)
        for theta, value, u in zip(scores, values, means, strict=True):
            assert distance_outside(u, weights) <= 1e-12 * max(1.0, np.abs(weights).sum())
            objective, gradient = regularised(kind, theta, u)
            size = np.abs(theta) @ np.abs(u) + abs(theta @ u - objective)
            assert value == pytest.approx(objective, rel=0.0, abs=1e-12 * max(1.0, size))
            best = np.sort(gradient)[::-1] @ weights
            assert best - gradient @ u <= 1e-12 * max(1.0, scale) * max(1.0, np.abs(weights).sum())


@pytest.mark.parametrize("kind", PROJECTIONS)
def test_against_a_general_solver(kind):
    rng = np.random.default_rng(5)
    for weights in ([3.0, 1.5, 1.0, 0.2], [1.0, 1.0, 0.0, 0.0]):
        vertices = np.array(sorted(set(itertools.permutations(weights))))
        theta = rng.normal(size=4)
        found = minimize(
            lambda a, theta=theta, vertices=vertices: -regularised(kind, theta, a @ vertices)[0],
            np.full(len(vertices), 1.0 / len(vertices)),
            jac=lambda a, theta=theta, vertices=vertices: -vertices @ regularised(kind, theta, a @ vertices)[1],
            bounds=[(0.0, 1.0)] * len(vertices),
            constraints={"type": "eq", "fun": lambda a: a.sum() - 1.0, "jac": np.ones_like},
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 500},
        )
        values, means = apply(PROJECTIONS[kind], theta[None], weights)
        assert values[0] == pytest.approx(-found.fun, abs=1e-7)
        np.testing.assert_allclose(means[0], found.x @ vertices, atol=1e-3)


def test_points_of_the_set_stay():
    rng = np.random.default_rng(0)
    weights = np.array([4.0, 2.5, 1.0, -1.0])
    vertices = np.array(list(itertools.permutations(weights)))
    points = rng.dirichlet(np.ones(len(vertices)), size=20) @ vertices
    np.testing.assert_allclose(apply(permutahedron.project_euclidean, points, weights)[1], points, atol=1e-14)
    np.testing.assert_array_equal(apply(permutahedron.project_euclidean, vertices, weights)[1], vertices)
    np.testing.assert_array_equal(apply(permutahedron.project_euclidean, 1e3 * vertices, weights)[1], vertices)


def test_simplex_and_softmax_are_special_cases():
    scores = np.random.default_rng(2).normal(size=(10, 6))
    weights = np.eye(6)[0]
    means = apply(permutahedron.project_entropic, scores, weights)[1]
    softmax = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(means, softmax, rtol=1e-14)
    values, means = apply(permutahedron.project_entropic, scores, np.zeros(6))
    assert not values.any()
    assert not means.any()


@pytest.mark.parametrize("k", [1, 2, 10, 14, 15, 31, 64, 100, 257, 1000])
def test_orders_are_stable(k):
    rng = np.random.default_rng(k)
    cluster = rng.normal(size=k)
    rows = np.array(
        [
            rng.normal(size=k),
            rng.integers(-3, 4, size=k),
            np.zeros(k),
            np.arange(k),
            -np.arange(k),
            np.exp(rng.normal(size=k) * 20.0),
            np.append(cluster[1:] * 1e-9, 1e9),
            1.0 + rng.integers(0, 50, size=k) * 2.0**-52,
            rng.choice([0.0, -0.0, 5e-324, -5e-324], size=k),
        ]
    )
    weights = np.arange(k, 0.0, -1.0)
    values, means = apply(permutahedron.best_orders, rows, weights)
    for theta, value, u in zip(rows, values, means, strict=True):
        expected = np.empty(k)
        expected[np.argsort(-theta, kind="stable")] = weights
        np.testing.assert_array_equal(u, expected)
        assert value == pytest.approx(theta @ u, rel=1e-12, abs=1e-12 * np.abs(theta) @ u)


@pytest.mark.parametrize("kernel", [*PROJECTIONS.values(), permutahedron.best_orders])
@pytest.mark.parametrize("k", [5, 40])
def test_forbidden_scores_take_weights_of_zero(kernel, k):
    rng = np.random.default_rng(k)
    scores = rng.normal(size=(4, k))
    scores[1:, 1], scores[2:, 3], scores[3] = -np.inf, -np.inf, -np.inf
    weights = np.append(np.sort(rng.uniform(1.0, 2.0, size=k - 2))[::-1], [0.0, 0.0])
    values, means = apply(kernel, scores, weights)
    for i, places in ((0, []), (1, [1]), (2, [1, 3])):
        left = np.setdiff1d(np.arange(k), places)
        value, mean = apply(kernel, scores[i : i + 1, left], weights[: left.size])
        assert values[i] == pytest.approx(value[0], rel=1e-13)
        np.testing.assert_allclose(means[i, left], mean[0], rtol=1e-13)
        assert not means[i, places].any()
    assert values[3] == -np.inf
    assert not means[3].any()
    values, means = apply(kernel, scores[1:2], np.ones(k))
    assert values.tolist() == [-np.inf]
    assert not means.any()


@pytest.mark.parametrize("kernel", [*PROJECTIONS.values(), permutahedron.best_orders])
@pytest.mark.parametrize("k", [7, 60])
def test_batch_is_one_by_one(kernel, k):
    scores = np.random.default_rng(1).normal(size=(20, k)) * 3.0
    weights = np.arange(k, 0.0, -1.0)
    values, means = apply(kernel, scores, weights)
    for i in range(20):
        value, mean = apply(kernel, scores[i : i + 1], weights)
        assert value[0] == values[i]
        np.testing.assert_array_equal(mean[0], means[i])
