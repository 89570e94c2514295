"""Maxima and projections on the permutahedron: the convex hull of all permutations of a vector of weights.

The weights w are given in descending order. With the scores s in descending order too, the projection is

    u = s - v           where the non-increasing v is the isotonic regression of s - w         (Euclidean),
    u = exp(s - 1 - v)  where v is constant on blocks, log sum_B exp(s - 1) - log sum_B w      (entropic, w >= 0),

so that u sums to what w does on every block. A score of -inf makes its entry 0, which takes a weight of 0 for each such
entry; where there are too few of them, the value is -inf and the mean 0.
"""

import numpy as np
from numba import njit

from maximand.numerics.copying import overwrite
from maximand.numerics.exponential import exponentials
from maximand.numerics.isotonic import pool, pool_exponentials
from maximand.numerics.sorting import digit_counts, sort_descending
from maximand.support import Array

NEAR = 600.0  # exponentials of scores no further apart than this are normal numbers


@njit(cache=True, nogil=True)
def _allowed(keys, weights):  # type: ignore[no-untyped-def]
    """Return how many scores are above -inf, or -1 where the others are too many for the weights of 0."""
    allowed = keys.size
    while allowed > 0 and keys[allowed - 1] == -np.inf:
        allowed -= 1
    for m in range(allowed, keys.size):
        if weights[m] != 0.0:
            return -1
    return allowed


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _missing(keys, weights, first, last):  # type: ignore[no-untyped-def]
    """Return what is to be added to each of keys - keys[first] for their sum to be that of the weights."""
    top, total = keys[first], 0.0
    for m in range(first, last):
        total += weights[m] - (keys[m] - top)
    return total / (last - first)


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _sum(numbers, first, last):  # type: ignore[no-untyped-def]
    total = 0.0
    for m in range(first, last):
        total += numbers[m]
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _value(keys, point):  # type: ignore[no-untyped-def]
    total = 0.0
    for m in range(keys.size):
        total += point[m] * (keys[m] - 0.5 * point[m])
    return total


@njit(cache=True, nogil=True)
def project_euclidean(scores: Array, weights: Array, values: Array, means: Array) -> None:
    """Write to means[i] the u of largest scores[i] @ u - |u|^2 / 2, and to values[i] that maximum."""
    n, k = scores.shape
    keys, sums, masses, counts = np.empty(k), np.empty(k), np.empty(k), digit_counts(k)
    order, spare, starts = np.empty(k, dtype=np.uint64), np.empty(k, dtype=np.uint64), np.empty(k + 1, dtype=np.int64)
    for i in range(n):
        sort_descending(scores[i], keys, order, sums, spare, counts)
        allowed = _allowed(keys, weights)
        if allowed < 0:
            values[i] = -np.inf
            means[i, :] = 0.0
            continue
        for m in range(allowed):
            sums[m] = keys[m] - weights[m]
            masses[m] = 1.0
        blocks = pool(sums[:allowed], masses[:allowed], starts)
        for b in range(blocks):
            first, last = np.uint64(starts[b]), np.uint64(starts[b + 1])
            top, level = keys[first], _missing(keys, weights, first, last)
            for m in range(first, last):
                sums[m] = keys[m] - top + level
        values[i] = _value(keys[:allowed], sums)
        sums[allowed:] = 0.0
        for m in range(k):
            means[i, order[m]] = sums[m]


@njit(cache=True, nogil=True)
def _pool_entropic(keys, weights, exponents, sums, masses, starts):  # type: ignore[no-untyped-def]
    """Write the blocks to starts and exp(keys - the largest of the block or of all) to exponents.

    Return the number of blocks and whether the exponents are relative to the block.
    """
    k = keys.size
    far = k > 0 and keys[0] - keys[k - 1] > NEAR
    overwrite(masses, weights)
    for m in range(k):
        exponents[m] = keys[m] - keys[0]
    if far:
        sums[:] = 1.0
        blocks = pool_exponentials(exponents, sums, masses, starts)
        for b in range(blocks):
            for m in range(starts[b], starts[b + 1]):
                exponents[m] = keys[m] - keys[starts[b]]
        exponentials(exponents)
        return blocks, far
    exponentials(exponents)
    overwrite(sums, exponents)
    return pool(sums, masses, starts), far


@njit(cache=True, nogil=True)
def project_entropic(scores: Array, weights: Array, values: Array, means: Array) -> None:
    """Write to means[i] the u of largest scores[i] @ u - sum u log u, and to values[i] that maximum; weights >= 0."""
    n, k = scores.shape
    keys, sums, masses, exponents, counts = np.empty(k), np.empty(k), np.empty(k), np.empty(k), digit_counts(k)
    order, spare = np.empty(k, dtype=np.uint64), np.empty(k, dtype=np.uint64)
    starts = np.empty(k + 1, dtype=np.int64)
    for i in range(n):
        sort_descending(scores[i], keys, order, sums, spare, counts)
        allowed = _allowed(keys, weights)
        if allowed < 0:
            values[i] = -np.inf
            means[i, :] = 0.0
            continue
        blocks, far = _pool_entropic(
            keys[:allowed], weights[:allowed], exponents[:allowed], sums[:allowed], masses[:allowed], starts
        )
        value = 0.0
        for b in range(blocks):
            first, last = np.uint64(starts[b]), np.uint64(starts[b + 1])
            total, mass = _sum(exponents, first, last), _sum(weights, first, last)
            scale = mass / total
            for m in range(first, last):
                exponents[m] *= scale
            if mass > 0.0:
                value += mass * (keys[starts[b] if far else 0] + np.log(total / mass))
        exponents[allowed:] = 0.0
        for m in range(k):
            means[i, order[m]] = exponents[m]
        values[i] = value


@njit(cache=True, nogil=True)
def best_orders(scores: Array, weights: Array, values: Array, means: Array) -> None:
    """Write the permutation of the weights of largest score: the largest weight to the largest score, and so on."""
    n, k = scores.shape
    keys, spare_keys, counts = np.empty(k), np.empty(k), digit_counts(k)
    order, spare = np.empty(k, dtype=np.uint64), np.empty(k, dtype=np.uint64)
    for i in range(n):
        sort_descending(scores[i], keys, order, spare_keys, spare, counts)
        allowed = _allowed(keys, weights)
        value = 0.0 if allowed >= 0 else -np.inf
        for m in range(k):
            means[i, order[m]] = weights[m] if allowed >= 0 else 0.0
        for m in range(allowed):
            value += keys[m] * weights[m]
        values[i] = value
