"""Dual ascent over the planes of many examples.

The dual of  regularization / 2 |w|^2 - b @ w + sum_i share_i max_p (z_p @ w + c_p)  puts weights alpha on the planes
of each example, which sum to one, and w = (b - sum_i share_i sum_p alpha_p z_p) / regularization. Planes are sparse
rows; the planes of example i form a linked list: head[i], then following[p], until -1.
"""

import numpy as np
from numba import njit

from maximand.support import Array, Bools, Ints


@njit(cache=True, nogil=True)
def _height(p, indptr, indices, data, offsets, weights):  # type: ignore[no-untyped-def]
    total = offsets[p]
    for j in range(indptr[p], indptr[p + 1]):
        total += data[j] * weights[indices[j]]
    return total


@njit(cache=True, nogil=True)
def _squared_distance(p, q, indptr, indices, data):  # type: ignore[no-untyped-def]
    """|z_p - z_q|^2 by merging two sorted rows."""
    i, j, total = indptr[p], indptr[q], 0.0
    while i < indptr[p + 1] and j < indptr[q + 1]:
        if indices[i] == indices[j]:
            total += (data[i] - data[j]) ** 2
            i += 1
            j += 1
        elif indices[i] < indices[j]:
            total += data[i] ** 2
            i += 1
        else:
            total += data[j] ** 2
            j += 1
    for rest in range(i, indptr[p + 1]):
        total += data[rest] ** 2
    for rest in range(j, indptr[q + 1]):
        total += data[rest] ** 2
    return total


@njit(cache=True, nogil=True)
def sweep(
    examples: Ints,
    head: Ints,
    following: Ints,
    indptr: Ints,
    indices: Ints,
    data: Array,
    offsets: Array,
    alpha: Array,
    share: Array,
    regularization: float,
    weights: Array,
    violation: Array,
) -> float:
    """Visit the examples in order and move alpha from the lowest used plane to the highest, by exact line search.

    Updates alpha and weights in place; violation[i] becomes share_i times the distance between the highest plane and
    the alpha-average, before the step: the part of example i in the duality gap over the working sets. Returns the
    increase of the dual.
    """
    gain = 0.0
    for i in examples:
        high, low, top, bottom, average = -1, -1, -np.inf, np.inf, 0.0
        p = head[i]
        while p >= 0:
            height = _height(p, indptr, indices, data, offsets, weights)
            if height > top:
                top, high = height, p
            if alpha[p] > 0.0:
                average += alpha[p] * height
                if height < bottom:
                    bottom, low = height, p
            p = following[p]
        violation[i] = share[i] * (top - average)
        if high == low or top - bottom <= 1e-14 * max(1.0, abs(top)) or share[i] == 0.0:
            continue
        distance = _squared_distance(high, low, indptr, indices, data)
        step = alpha[low]
        if distance > 0.0:
            step = min(step, regularization * (top - bottom) / (share[i] * distance))
        alpha[high] += step
        alpha[low] = 0.0 if step == alpha[low] else alpha[low] - step
        move = share[i] * step / regularization
        for j in range(indptr[high], indptr[high + 1]):
            weights[indices[j]] -= move * data[j]
        for j in range(indptr[low], indptr[low + 1]):
            weights[indices[j]] += move * data[j]
        gain += share[i] * step * (top - bottom) - 0.5 * regularization * move * move * distance
    return gain


@njit(cache=True, nogil=True)
def highest(
    examples: Ints,
    head: Ints,
    following: Ints,
    indptr: Ints,
    indices: Ints,
    data: Array,
    offsets: Array,
    weights: Array,
    out: Array,
) -> None:
    """Write the height of the highest plane of each example; -inf where there is none."""
    for j in range(examples.size):
        out[j] = -np.inf
        p = head[examples[j]]
        while p >= 0:
            out[j] = max(out[j], _height(p, indptr, indices, data, offsets, weights))
            p = following[p]


@njit(cache=True, nogil=True)
def average_heights(
    owner: Ints,
    indptr: Ints,
    indices: Ints,
    data: Array,
    offsets: Array,
    alpha: Array,
    weights: Array,
    out: Array,
) -> None:
    """Add alpha_p * height of plane p to the entry of its example."""
    for p in range(owner.size):
        if alpha[p] > 0.0:
            out[owner[p]] += alpha[p] * _height(p, indptr, indices, data, offsets, weights)


@njit(cache=True, nogil=True)
def combine(owner: Ints, indptr: Ints, indices: Ints, data: Array, alpha: Array, share: Array, out: Array) -> None:
    """Add share_i alpha_p z_p over all planes to out."""
    for p in range(owner.size):
        factor = share[owner[p]] * alpha[p]
        if factor != 0.0:
            for j in range(indptr[p], indptr[p + 1]):
                out[indices[j]] += factor * data[j]


@njit(cache=True, nogil=True)
def keep_planes(keep: Bools, indptr: Ints, indices: Ints, data: Array) -> Ints:
    """Move the rows to keep to the front, in place, and return their row pointers."""
    pointers = np.zeros(keep.sum() + 1, dtype=np.int64)
    row, place = 0, 0
    for p in range(keep.size):
        if keep[p]:
            for j in range(indptr[p], indptr[p + 1]):
                indices[place] = indices[j]
                data[place] = data[j]
                place += 1
            row += 1
            pointers[row] = place
    return pointers


@njit(cache=True, nogil=True)
def link(owner: Ints, head: Ints, following: Ints) -> None:
    """Rebuild the linked lists."""
    head[:] = -1
    for p in range(owner.size):
        following[p] = head[owner[p]]
        head[owner[p]] = p
