"""Dual ascent for independent items, one after the other, each a problem of its own with two outcomes.

With the score w' x_i of an item in row i, what its presence costs there, and a mean mu_i between 0 and 1, the dual
problem of one block is

    maximise  mu (score + cost) - q/2 (mu - mu_old)^2  between 0 and 1,   q = share_i |x_i|^2 / regularization,

whose solution is mu_old + (score + cost) / q, clipped. Items share the rows, but no weights: those of an item stay
in the cache until its gap has fallen.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.support import Array, Ints

NEGLIGIBLE = 0.05  # rows are left out whose part in the gap of an item is below this share of the average
GOAL = 0.1  # an item is left when its gap, as visits see it, has fallen to this share
PASSES = 10  # over the rows of an item, at most


class Matrix(NamedTuple):
    """Rows of features: dense, or empty there and in CSR form."""

    dense: Array
    indptr: Ints
    indices: Ints
    data: Array


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _dot(matrix, i, weights):  # type: ignore[no-untyped-def]
    """Return the product of row i with the weights."""
    total = 0.0
    if matrix.dense.size:
        row = matrix.dense[i]
        for f in range(row.size):
            total += row[f] * weights[f]
    else:
        for j in range(matrix.indptr[i], matrix.indptr[i + 1]):
            total += matrix.data[j] * weights[matrix.indices[j]]
    return total


@njit(cache=True, nogil=True)
def _add(matrix, i, factor, weights):  # type: ignore[no-untyped-def]
    """Add a multiple of row i to the weights."""
    if matrix.dense.size:
        row = matrix.dense[i]
        for f in range(row.size):
            weights[f] += factor * row[f]
    else:
        for j in range(matrix.indptr[i], matrix.indptr[i + 1]):
            weights[matrix.indices[j]] += factor * matrix.data[j]


@njit(cache=True, nogil=True)
def _shuffle(values, count, state):  # type: ignore[no-untyped-def]
    """Put the first values in random order; return the next state of a linear congruential generator."""
    for j in range(count - 1, 0, -1):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        other = np.int64((state >> np.uint64(33)) % np.uint64(j + 1))
        values[j], values[other] = values[other], values[j]
    return state


@njit(cache=True, nogil=True)
def ascend_items(
    items: Ints,
    scores: Array,
    matrix: Matrix,
    costs: Array,
    mean: Array,
    share: Array,
    squared: Array,
    regularization: float,
    weights: Array,
    bias: Array,
    seed: int,
    violation: Array,
) -> None:
    """Visit rows until the gap of each item has fallen; weights (item, feature) and bias follow the means.

    scores[i, j] is that of items[j] in row i, costs[l, i] what its presence costs. violation[j] is the gap of items[j]
    at the beginning.
    """
    n = share.size
    active, gaps = np.empty(n, np.int64), np.empty(n)
    for j in range(items.size):
        l = items[j]
        own, means, own_costs = weights[l], mean[l], costs[l]
        gap = 0.0
        for i in range(n):
            value = scores[i, j] + own_costs[i]
            gaps[i] = share[i] * (max(value, 0.0) - means[i] * value)
            gap += gaps[i]
        violation[j] = gap
        count, threshold, goal = 0, NEGLIGIBLE * gap / n, GOAL * gap
        for i in range(n):
            if gaps[i] > threshold:
                active[count] = i
                count += 1
        state = np.uint64(seed) + np.uint64(l) * np.uint64(0x9E3779B97F4A7C15)
        for _ in range(PASSES):
            state = _shuffle(active, count, state)
            gap = 0.0
            for visit in range(count):
                i = active[visit]
                value = _dot(matrix, i, own) + own_costs[i]
                if bias.size:
                    value += bias[l]
                gaps[i] = share[i] * (max(value, 0.0) - means[i] * value)
                gap += gaps[i]
                factor = share[i] / regularization
                if gaps[i] == 0.0:
                    continue
                new = 1.0 if value > 0.0 else 0.0
                if factor * squared[i] > 0.0:
                    new = min(max(means[i] + value / (factor * squared[i]), 0.0), 1.0)
                if new != means[i]:
                    change = factor * (means[i] - new)
                    _add(matrix, i, change, own)
                    if bias.size:
                        bias[l] += change
                    means[i] = new
            if gap <= goal:
                break
            kept, threshold = 0, NEGLIGIBLE * gap / max(count, 1)
            for visit in range(count):
                if gaps[active[visit]] > threshold:
                    active[kept] = active[visit]
                    kept += 1
            count = kept
