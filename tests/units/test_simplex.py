"""The projection onto the simplex: feasible, optimal, the same alone as in a batch, and equal to the sorted one."""

import numpy as np
import pytest

from maximand.numerics.simplex import project_simplex

SCALES = [1e-6, 1e-2, 1.0, 30.0, 1e6]


def project(scores):
    scores = np.ascontiguousarray(scores, dtype=float)
    values, means = np.full(len(scores), np.nan), np.full(scores.shape, np.nan)
    project_simplex(scores, values, means)
    return values, means


def by_sorting(theta):
    ordered = np.sort(theta)[::-1] - theta.max()
    thresholds = (np.cumsum(ordered) - 1.0) / np.arange(1, theta.size + 1)
    return np.maximum(theta - theta.max() - thresholds[ordered > thresholds][-1], 0.0)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("k", [1, 2, 3, 10, 33, 100, 1000])
def test_optimal_and_equal_to_the_sorted_one(k, scale):
    rng = np.random.default_rng(k)
    scores = rng.normal(size=(20, k)) * scale + rng.normal(size=(20, 1)) * scale
    values, means = project(scores)
    assert (means >= 0.0).all()
    np.testing.assert_allclose(means.sum(axis=1), 1.0, rtol=0.0, atol=1e-13)
    for theta, value, u in zip(scores, values, means, strict=True):
        np.testing.assert_allclose(u, by_sorting(theta), rtol=0.0, atol=1e-13)
        assert value == pytest.approx(theta @ u - 0.5 * u @ u, rel=1e-12, abs=1e-12)
        gradient = theta - u
        assert gradient.max() - gradient @ u <= 1e-12 * max(1.0, scale)


def test_points_of_the_set_and_vertices_stay():
    points = np.random.default_rng(0).dirichlet(np.ones(7), size=50)
    np.testing.assert_allclose(project(points)[1], points, atol=1e-15)
    np.testing.assert_array_equal(project(np.eye(5))[1], np.eye(5))
    np.testing.assert_array_equal(project(np.full((1, 4), 3.0))[1], np.full((1, 4), 0.25))
    np.testing.assert_array_equal(project([[2.0, 2.0, 1.5, -1e300]])[1], [[0.5, 0.5, 0.0, 0.0]])


def test_worst_case_of_newton():
    """Scores that fall below the threshold one at a time."""
    theta = -(1.0 - 0.5 ** np.arange(40.0))
    value, (u,) = project(theta[None])
    np.testing.assert_allclose(u, by_sorting(theta), atol=1e-15)
    assert value[0] == pytest.approx(theta @ u - 0.5 * u @ u, rel=1e-14)


def test_forbidden_entries():
    scores = np.array([[-np.inf, 0.2, -np.inf, 0.4], [-np.inf] * 4, [-np.inf, -np.inf, -5.0, -np.inf]])
    values, means = project(scores)
    np.testing.assert_allclose(means, [[0, 0.4, 0, 0.6], [0, 0, 0, 0], [0, 0, 1, 0]], atol=1e-15)
    np.testing.assert_allclose(values, [0.08 + 0.24 - 0.26, -np.inf, -5.5])


def test_batch_is_one_by_one():
    scores = np.random.default_rng(1).normal(size=(30, 17))
    values, means = project(scores)
    for i in range(30):
        value, mean = project(scores[i : i + 1])
        assert value[0] == values[i]
        np.testing.assert_array_equal(mean[0], means[i])
