"""Dual ascent over the planes of many examples.

The dual of  regularization / 2 |w|^2 - b @ w + sum_i share_i max_p (z_p @ w + c_p)  puts weights alpha on the planes
of each example, which sum to one, and w = (b - sum_i share_i sum_p alpha_p z_p) / regularization. The slope z_p is a
combination of the rows of few parts of its example (numerics.block_rows): coefficients data[j] on parts[j] for j from
indptr[p] to indptr[p+1]. The planes of example i form a linked list: head[i], then following[p], until -1.
"""

import numpy as np
from numba import njit

from maximand.numerics.block_rows import add_parts, drain_parts, most_parts, part_scores, room_for
from maximand.numerics.lowering import PartRows
from maximand.support import Array, Bools, Ints


@njit(cache=True, nogil=True)
def _most_parts(examples, rows):  # type: ignore[no-untyped-def]
    most = 0
    for i in examples:
        most = max(most, most_parts(rows, i))
    return most


@njit(cache=True, nogil=True)
def _score_parts(i, head, following, rows, indptr, parts, weights, scores, known, visit, used, room):  # type: ignore[no-untyped-def]
    """Score every part that a plane of example i uses, once: its planes share most of them."""
    count = np.int64(0)
    p = head[i]
    while p >= 0:
        for j in range(indptr[p], indptr[p + 1]):
            part = parts[j]
            if known[part] != visit:
                known[part] = visit
                used[count] = part
                count += 1
        p = following[p]
    part_scores(rows, i, used, count, weights, scores, room)


@njit(cache=True, nogil=True)
def _height(p, indptr, parts, data, offsets, scores):  # type: ignore[no-untyped-def]
    """Return the height of a plane, given the scores of its parts."""
    total = offsets[p]
    for j in range(indptr[p], indptr[p + 1]):
        total += data[j] * scores[parts[j]]
    return total


@njit(cache=True, nogil=True)
def _difference(p, q, indptr, parts, data, out_parts, out_data):  # type: ignore[no-untyped-def]
    """Write z_p - z_q as coefficients on parts, by merging two sorted lists; return how many there are."""
    a, b, count = indptr[p], indptr[q], 0
    while a < indptr[p + 1] or b < indptr[q + 1]:
        if b == indptr[q + 1] or (a < indptr[p + 1] and parts[a] < parts[b]):
            part, value = parts[a], data[a]
            a += 1
        elif a == indptr[p + 1] or parts[b] < parts[a]:
            part, value = parts[b], -data[b]
            b += 1
        else:
            part, value = parts[a], data[a] - data[b]
            a += 1
            b += 1
        if value != 0.0:
            out_parts[count], out_data[count] = part, value
            count += 1
    return count


@njit(cache=True, nogil=True)
def sweep(
    examples: Ints,
    head: Ints,
    following: Ints,
    rows: PartRows,
    indptr: Ints,
    parts: Ints,
    data: Array,
    offsets: Array,
    alpha: Array,
    share: Array,
    regularization: float,
    weights: Array,
    violation: Array,
    scratch: Array,
    small: bool,
) -> float:
    """Visit the examples in order and move alpha from the lowest used plane to the highest, by exact line search.

    Updates alpha and weights in place; violation[i] becomes share_i times the distance between the highest plane and
    the alpha-average, before the step: the part of example i in the duality gap over the working sets. `scratch` holds
    zeros, as many as weights; in a `small` model it is faster to go through all of them than part by part. Returns the
    increase of the dual.
    """
    gain = 0.0
    most = _most_parts(examples, rows)
    scores, known, used = np.empty(most), np.full(most, -1), np.empty(most, dtype=parts.dtype)
    moved_parts, moved = np.empty(most, dtype=parts.dtype), np.empty(most)
    room = room_for(rows)
    for visit in range(examples.size):
        i = examples[visit]
        high, low, top, bottom, average = -1, -1, -np.inf, np.inf, 0.0
        _score_parts(i, head, following, rows, indptr, parts, weights, scores, known, visit, used, room)
        p = head[i]
        while p >= 0:
            height = _height(p, indptr, parts, data, offsets, scores)
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
        count = _difference(high, low, indptr, parts, data, moved_parts, moved)
        add_parts(rows, i, moved_parts, moved, count, 1.0, scratch, room, False)
        distance = 0.0
        if small:
            for w in range(weights.size):
                distance += scratch[w] * scratch[w]
        else:
            distance = drain_parts(rows, i, moved_parts, count, scratch, room, True)
        step = alpha[low]
        if distance > 0.0:
            step = min(step, regularization * (top - bottom) / (share[i] * distance))
        alpha[high] += step
        alpha[low] = 0.0 if step == alpha[low] else alpha[low] - step
        move = share[i] * step / regularization
        if small:
            for w in range(weights.size):
                weights[w] -= move * scratch[w]
                scratch[w] = 0.0
        else:
            add_parts(rows, i, moved_parts, moved, count, -move, weights, room, True)
        gain += share[i] * step * (top - bottom) - 0.5 * regularization * move * move * distance
    return gain


@njit(cache=True, nogil=True)
def heights(
    examples: Ints,
    head: Ints,
    following: Ints,
    rows: PartRows,
    indptr: Ints,
    parts: Ints,
    data: Array,
    offsets: Array,
    alpha: Array,
    weights: Array,
    highest: Array,
    average: Array,
) -> None:
    """Write the height of the highest plane of each example, -inf where there is none, and the alpha-average."""
    most = _most_parts(examples, rows)
    scores, known, used = np.empty(most), np.full(most, -1), np.empty(most, dtype=parts.dtype)
    room = room_for(rows)
    for j in range(examples.size):
        highest[j], average[j] = -np.inf, 0.0
        _score_parts(examples[j], head, following, rows, indptr, parts, weights, scores, known, j, used, room)
        p = head[examples[j]]
        while p >= 0:
            height = _height(p, indptr, parts, data, offsets, scores)
            highest[j] = max(highest[j], height)
            average[j] += alpha[p] * height
            p = following[p]


@njit(cache=True, nogil=True)
def combine(
    owner: Ints, rows: PartRows, indptr: Ints, parts: Ints, data: Array, alpha: Array, share: Array, out: Array
) -> None:
    """Add share_i alpha_p z_p over all planes to out."""
    room = room_for(rows)
    for p in range(owner.size):
        factor = share[owner[p]] * alpha[p]
        if factor != 0.0:
            own = slice(indptr[p], indptr[p + 1])
            add_parts(
                rows, np.int64(owner[p]), parts[own], data[own], indptr[p + 1] - indptr[p], factor, out, room, False
            )


@njit(cache=True, nogil=True)
def keep_planes(keep: Bools, indptr: Ints, parts: Ints, data: Array) -> Ints:
    """Move the rows to keep to the front, in place, and return their row pointers."""
    pointers = np.zeros(keep.sum() + 1, dtype=np.int64)
    row, place = 0, 0
    for p in range(keep.size):
        if keep[p]:
            for j in range(indptr[p], indptr[p + 1]):
                parts[place] = parts[j]
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
