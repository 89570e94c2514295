"""What is particular to single kernels."""

import numpy as np
import pytest

from maximand.numerics.chain_pairs import add_soft_pairs
from maximand.numerics.chain_sums import soft_paths
from maximand.numerics.exponential import exponentials
from maximand.numerics.simplex_blocks import _project
from maximand.numerics.simplex_qp import maximize_on_simplex


def sorted_projection(point):
    ordered = np.sort(point)[::-1]
    thresholds = (np.cumsum(ordered) - 1.0) / np.arange(1, point.size + 1)
    return np.maximum(0.0, point - thresholds[ordered > thresholds][-1])


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1.0, 1e6, 1e12, 1e17, 1e300])
def test_simplex_projection_ends_and_is_right(scale):
    rng = np.random.default_rng(0)
    for _ in range(200):
        point = rng.normal(size=rng.integers(1, 12)) * scale
        point -= point.max() - rng.random()  # as the solver calls it: the largest entry lies in [0, 1]
        out = np.empty_like(point)
        _project(point, out)
        np.testing.assert_allclose(out, sorted_projection(point), atol=1e-12)
        np.testing.assert_allclose(out.sum(), 1.0, atol=1e-12)


def test_simplex_projection_ends_on_any_numbers():
    for point in (np.full(5, 1e17), np.array([1e300, -1e300]), np.full(3, np.nan), np.array([np.inf, 0.0])):
        _project(point, np.empty_like(point))


def test_exponentials_are_right_to_the_last_digits():
    values = np.concatenate([-np.logspace(-20, 2.84, 2001), [0.0, -706.0, -800.0, -1e300, -np.inf]])
    expected = np.exp(values)
    exponentials(values)
    normal = expected > 1e-306
    np.testing.assert_allclose(values[normal], expected[normal], rtol=5e-16)
    assert (values[~normal] <= 1e-306).all()
    assert (values[-3:] == 0.0).all()


def test_simplex_program_is_feasible_and_optimal():
    rng = np.random.default_rng(0)
    for m in (1, 2, 5, 40):
        factor = rng.normal(size=(m, 8))
        gram, linear = factor @ factor.T, rng.normal(size=m) * 3
        alpha = maximize_on_simplex(gram, linear)
        assert (alpha >= 0).all()
        np.testing.assert_allclose(alpha.sum(), 1.0, atol=1e-12)
        gradient = linear - gram @ alpha
        assert gradient.max() - alpha @ gradient < 1e-7 * (1 + np.abs(linear).max())


def test_scaled_and_logarithmic_sums_agree():
    """Wide transitions take the way over logarithms; a constant shift of all transitions must not matter."""
    rng = np.random.default_rng(0)
    k, length = 4, 6
    nodes, zeros, between = rng.normal(size=(length, k)), np.zeros(k), np.zeros((k, k))
    offsets = np.array([0, length])
    moderate = rng.normal(size=(1, k, k))
    wide = moderate.copy()
    wide[0, 0, 0] -= 2000.0  # a span beyond SAFE_RANGE
    moderate[0, 0, 0] -= 90.0  # within it, and as good as forbidden
    answers = []
    for transitions in (moderate, wide):
        sums = soft_paths(nodes, transitions, offsets, np.zeros(1, dtype=np.int64), zeros, between, zeros, 1.0)
        assert sums.scaled[0] == (transitions is moderate)
        pairs = np.zeros((1, k, k))
        add_soft_pairs(sums, offsets, np.ones(1), pairs)
        answers.append((sums.values, sums.means, pairs))
    for moderate_answer, wide_answer in zip(*answers, strict=True):
        np.testing.assert_allclose(moderate_answer, wide_answer, atol=1e-12)
