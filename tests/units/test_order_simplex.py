"""Projections onto the order simplex by their optimality conditions and against scipy's regression."""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from maximand.numerics import order_simplex

PROJECTIONS = {"euclidean": order_simplex.project_euclidean, "entropic": order_simplex.project_entropic}
SCALES = {"euclidean": [1e-6, 0.1, 1.0, 30.0, 1e6], "entropic": [1e-6, 0.1, 1.0, 30.0, 700.0]}
CASES = [(kind, scale) for kind, scales in SCALES.items() for scale in scales]


def apply(kernel, scores):
    scores = np.ascontiguousarray(scores, dtype=float)
    values, means = np.full(len(scores), np.nan), np.full(scores.shape, np.nan)
    kernel(scores, values, means)
    return values, means


def levels(p):
    return np.tril(np.ones((p + 1, p)), -1)


@pytest.mark.parametrize(("kind", "scale"), CASES)
@pytest.mark.parametrize("p", [1, 2, 5, 40, 300])
def test_projections(kind, scale, p):
    rng = np.random.default_rng(p)
    scores = rng.normal(size=(10, p)) * scale + rng.normal(size=(10, 1))
    scores[0] = scores[0].round()
    scores[1] = scores[1, 0]
    values, means = apply(PROJECTIONS[kind], scores)
    assert (np.diff(means, axis=1) <= 0.0).all()
    assert ((means >= 0.0) & (means <= 1.0)).all()
    for theta, value, u in zip(scores, values, means, strict=True):
        fit = isotonic_regression(theta, increasing=False).x
        expected = np.clip(fit, 0.0, 1.0) if kind == "euclidean" else np.exp(np.minimum(fit - 1.0, 0.0))
        np.testing.assert_allclose(u, expected, rtol=0.0, atol=1e-12 * max(1.0, scale))
        logarithms = np.log(np.maximum(u, 1e-307))
        slope, regularisation = (u, 0.5 * u @ u) if kind == "euclidean" else (1.0 + logarithms, u @ logarithms)
        size = max(1.0, np.abs(theta).sum())
        assert value == pytest.approx(theta @ u - regularisation, rel=0.0, abs=1e-13 * size)
        assert ((levels(p) - u) @ (theta - slope)).max() <= 1e-13 * size + 1e-12 * p


def test_points_of_the_set_stay():
    points = np.random.default_rng(0).dirichlet(np.ones(6), size=30) @ levels(5)
    np.testing.assert_allclose(apply(order_simplex.project_euclidean, points)[1], points, atol=1e-15)
    np.testing.assert_array_equal(apply(order_simplex.project_euclidean, levels(5))[1], levels(5))


@pytest.mark.parametrize("kernel", PROJECTIONS.values())
def test_forbidden_scores_end_the_row(kernel):
    scores = np.random.default_rng(0).normal(size=(5, 6)) + 1.0
    for length in range(1, 6):
        cut = scores.copy()
        cut[:, length] = -np.inf
        values, means = apply(kernel, cut)
        expected_values, expected_means = apply(kernel, scores[:, :length])
        np.testing.assert_allclose(values, expected_values, rtol=1e-14)
        np.testing.assert_allclose(means[:, :length], expected_means, rtol=1e-14)
        assert not means[:, length:].any()
    cut[:, 0] = -np.inf
    values, means = apply(kernel, cut)
    assert not values.any()
    assert not means.any()


@pytest.mark.parametrize("kernel", PROJECTIONS.values())
def test_batch_is_one_by_one(kernel):
    scores = np.random.default_rng(1).normal(size=(20, 9))
    values, means = apply(kernel, scores)
    for i in range(20):
        value, mean = apply(kernel, scores[i : i + 1])
        assert value[0] == values[i]
        np.testing.assert_array_equal(mean[0], means[i])
