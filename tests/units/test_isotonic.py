"""Pooling of adjacent violators: the fit against scipy's, and the blocks of exponentials against their definition."""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.special import logsumexp

from maximand.numerics.isotonic import pool, pool_exponentials


def fitted(targets, weights):
    sums, masses, starts = weights * targets, weights.copy(), np.empty(targets.size + 1, dtype=np.int64)
    blocks = pool(sums, masses, starts)
    assert starts[0] == 0
    assert starts[blocks] == targets.size
    return np.repeat(sums[:blocks] / masses[:blocks], np.diff(starts[: blocks + 1]))


@pytest.mark.parametrize("k", [1, 2, 3, 10, 200])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_fit_is_scipys(k, scale):
    rng = np.random.default_rng(k)
    for trend in (0.0, 1.0, -1.0):
        targets = (rng.normal(size=k) + trend * np.arange(k)) * scale
        weights = rng.uniform(0.1, 3.0, size=k)
        expected = isotonic_regression(targets, weights=weights, increasing=False).x
        np.testing.assert_allclose(fitted(targets, weights), expected, rtol=1e-12, atol=1e-12 * scale)
        ties = np.round(targets / scale)
        expected = isotonic_regression(ties, increasing=False).x
        np.testing.assert_allclose(fitted(ties, np.ones(k)), expected, rtol=1e-12, atol=1e-12)


def test_nothing_to_fit():
    assert fitted(np.empty(0), np.empty(0)).size == 0
    starts = np.empty(1, dtype=np.int64)
    assert pool_exponentials(np.empty(0), np.empty(0), np.empty(0), starts) == 0
    assert starts[0] == 0


def first_block(tops, masses):
    """Return where the first block ends: the last place of largest log sum exp(tops) - log sum masses."""
    with np.errstate(divide="ignore"):
        levels = [logsumexp(tops[:end]) - np.log(masses[:end].sum()) for end in range(1, tops.size + 1)]
    return len(levels) - int(np.argmax(np.array(levels[::-1]).round(9)))


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0, 700.0])
@pytest.mark.parametrize("k", [1, 2, 5, 30])
def test_blocks_of_exponentials(k, scale):
    rng = np.random.default_rng(k)
    for _ in range(10):
        tops = np.sort(rng.normal(size=k) * scale)[::-1].copy()
        masses = np.sort(rng.uniform(0.0, 5.0, size=k))[::-1] * (rng.random() < 0.7 or np.arange(k) < 1)
        starts = np.empty(k + 1, dtype=np.int64)
        blocks = pool_exponentials(tops.copy(), np.ones(k), masses.copy(), starts)
        expected = [0]
        while expected[-1] < k:
            expected.append(expected[-1] + first_block(tops[expected[-1] :], masses[expected[-1] :]))
        assert starts[: blocks + 1].tolist() == expected
