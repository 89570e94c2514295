"""Projections onto the order simplex 1 >= u_1 >= ... >= u_p >= 0.

Its vertices are the levels 0, e_1, e_1 + e_2, ..., 1. Without the bounds the projection is a non-increasing regression:
a block of equal entries takes the mean m of its scores, u = m for the Euclidean one and u = exp(m - 1) for the entropic
one; with the bounds, that is clipped. A score of -inf makes its entry 0 and all those after it.
"""

import numpy as np
from numba import njit

from maximand.numerics.copying import overwrite
from maximand.numerics.isotonic import pool
from maximand.support import Array


@njit(cache=True, nogil=True)
def _length(scores):  # type: ignore[no-untyped-def]
    """Return how many entries come before the first forbidden one."""
    for l in range(scores.size):
        if scores[l] == -np.inf:
            return l
    return scores.size


@njit(cache=True, nogil=True)
def _pool(scores, sums, masses, starts):  # type: ignore[no-untyped-def]
    overwrite(sums, scores)
    masses[:] = 1.0
    return pool(sums, masses, starts)


@njit(cache=True, nogil=True)
def project_euclidean(scores: Array, values: Array, means: Array) -> None:
    """Write to means[i] the u of largest scores[i] @ u - |u|^2 / 2, and to values[i] that maximum."""
    n, p = scores.shape
    sums, masses, starts = np.empty(p), np.empty(p), np.empty(p + 1, dtype=np.int64)
    for i in range(n):
        length = _length(scores[i])
        blocks = _pool(scores[i, :length], sums[:length], masses[:length], starts)
        level, value = 1.0, 0.0
        for b in range(blocks):
            level = min(level, max(sums[b] / masses[b], 0.0))
            for l in range(np.uint64(starts[b]), np.uint64(starts[b + 1])):  # unsigned: no look at the sign of l
                means[i, l] = level
            value += level * (sums[b] - 0.5 * level * masses[b])
        values[i] = value
        means[i, length:] = 0.0


@njit(cache=True, nogil=True)
def project_entropic(scores: Array, values: Array, means: Array) -> None:
    """Write to means[i] the u of largest scores[i] @ u - sum u log u, and to values[i] that maximum."""
    n, p = scores.shape
    sums, masses, starts = np.empty(p), np.empty(p), np.empty(p + 1, dtype=np.int64)
    for i in range(n):
        length = _length(scores[i])
        blocks = _pool(scores[i, :length], sums[:length], masses[:length], starts)
        level, value = 1.0, 0.0
        for b in range(blocks):
            logarithm = min(sums[b] / masses[b] - 1.0, 0.0)
            level = min(level, np.exp(logarithm))
            for l in range(np.uint64(starts[b]), np.uint64(starts[b + 1])):  # unsigned: no look at the sign of l
                means[i, l] = level
            value += level * (sums[b] - logarithm * masses[b])
        values[i] = value
        means[i, length:] = 0.0
