"""Dual ascent over the planes of many examples.

The dual of  regularization / 2 |w|^2 - b @ w + sum_i share_i max_p (z_p @ w + c_p)  puts weights alpha on the planes
of each example, which sum to one, and w = (b - sum_i share_i sum_p alpha_p z_p) / regularization. The slope z_p is a
combination of the stencils of few parts of its example (numerics.stencils).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.numerics.inner import inner
from maximand.numerics.lowering import Stencils
from maximand.numerics.stencils import (
    add_stencils,
    clear_stencils,
    room_for,
    score_stencils,
    write_stencils,
)
from maximand.support import Array, Bools, Ints

SETTLED = 0.1  # a visit leaves at most this share of the example's part in the gap
MOST_STEPS = 5  # of a visit, for each plane


class PlaneLists(NamedTuple):
    """The planes of each example form a list, the newest first: head[i], then following[p], until -1.

    z_p has coefficients data[j] on parts[j] for j from indptr[p] to indptr[p+1]. The products of z_p with itself and
    with the slopes after it in the list are products[first_product[p]:]; NaN where they are not known yet.
    """

    head: Ints
    following: Ints
    indptr: Ints
    parts: Ints
    data: Array
    offsets: Array
    alpha: Array
    first_product: Ints
    products: Array


@inner()
def _list_parts(p, lists, above, place, used):  # type: ignore[no-untyped-def]
    """List every part that the planes from p on have, once, and its place in that list; return how many there are.

    Planes whose alpha is not above a number are passed over. A place is right only where used[place[part]] is the part,
    so nothing need be wiped out before the next list.
    """
    count = np.int64(0)
    while p >= 0:
        wanted = lists.alpha[p] > above
        for j in range(lists.indptr[p] if wanted else lists.indptr[p + 1], lists.indptr[p + 1]):
            part = lists.parts[j]
            if not (place[part] < count and used[place[part]] == part):
                place[part], used[count] = count, part
                count += 1
        p = lists.following[p]
    return count


@inner()
def _score(p, lists, place, scores):  # type: ignore[no-untyped-def]
    """Return z_p @ w, given the scores of the parts at w, by their places."""
    total = 0.0
    for j in range(lists.indptr[p], lists.indptr[p + 1]):
        total += lists.data[j] * scores[place[lists.parts[j]]]
    return total


@inner()
def _add_plane(p, factor, lists, place, out):  # type: ignore[no-untyped-def]
    """Add the coefficients of z_p, by the places of their parts."""
    for j in range(lists.indptr[p], lists.indptr[p + 1]):
        out[place[lists.parts[j]]] += factor * lists.data[j]


@inner()
def _multiply(p, count, lists, place, room, dense, scratch, amounts, scores):  # type: ignore[no-untyped-def]
    """Write the products of z_p with itself and with the slopes after it; `scratch` holds zeros."""
    amounts[:count] = 0.0
    _add_plane(p, 1.0, lists, place, amounts)
    add_stencils(count, amounts, 1.0, room, dense, scratch)
    score_stencils(count, room, dense, scratch, scores)
    clear_stencils(count, amounts, room, scratch)
    at, q = lists.first_product[p], p
    while q >= 0:
        lists.products[at] = _score(q, lists, place, scores)
        at, q = at + 1, lists.following[q]


@inner()
def _product(a, b, planes, lists):  # type: ignore[no-untyped-def]
    """Return z_p @ z_q of the planes at places a and b of their list."""
    return lists.products[lists.first_product[planes[min(a, b)]] + abs(a - b)]


@inner()
def _raise_dual(planes, heights, factor, lists):  # type: ignore[no-untyped-def]
    """Move alpha between the planes of one example, given their heights.

    Each step takes from the lowest used plane for the highest, by exact line search. The weights move by -factor times
    the change of the mean slope, so the heights follow from the products of the slopes. Ends when little is left of the
    distance between the highest plane and the alpha-average; returns what it was at first.
    """
    alpha, n, first = lists.alpha, planes.size, -1.0
    for _ in range(MOST_STEPS * n):
        high, low, average = np.int64(0), np.int64(-1), 0.0  # of one type from the first, or more is compiled
        for a in range(n):
            if heights[a] > heights[high]:
                high = a
            if alpha[planes[a]] > 0.0:
                average += alpha[planes[a]] * heights[a]
                if low < 0 or heights[a] < heights[low]:
                    low = a
        top, rise = heights[high], heights[high] - heights[low]
        if first < 0.0:
            first = max(top - average, 0.0)
        if top - average <= SETTLED * first or rise <= 1e-14 * max(1.0, abs(top)):
            break
        distance = _product(high, high, planes, lists) + _product(low, low, planes, lists)
        distance -= 2.0 * _product(high, low, planes, lists)
        step = alpha[planes[low]]
        if distance > 0.0:
            step = min(step, rise / (factor * distance))
        alpha[planes[high]] += step
        alpha[planes[low]] = 0.0 if step == alpha[planes[low]] else alpha[planes[low]] - step
        for a in range(n):
            fall = _product(a, high, planes, lists) - _product(a, low, planes, lists)
            heights[a] -= factor * step * fall
    return first


@njit(cache=True, nogil=True)
def sweep(
    examples: Ints,
    lists: PlaneLists,
    stencils: Stencils,
    share: Array,
    regularization: float,
    weights: Array,
    violation: Array,
    scratch: Array,
) -> int:
    """Visit the examples in order and raise the dual over the alpha of each; return how many numbers were worked on.

    Updates alpha and weights in place; violation[j] becomes the share of examples[j] times the distance between its
    highest plane and the alpha-average, before the visit: its part in the duality gap over the working sets. `scratch`
    holds zeros, as many as weights.
    """
    most = stencils.most_parts
    place, used, scores = np.zeros(most, np.int64), np.empty(most, np.int64), np.empty(most)
    amounts, products = np.empty(most), np.empty(most)
    planes, height, before = np.empty(8, np.int64), np.empty(8), np.empty(8)
    room = room_for(stencils, np.int64(64))
    work = 0
    for visit in range(examples.size):
        i = examples[visit]
        violation[visit] = 0.0
        n, p = 0, lists.head[i]
        while p >= 0:
            n, p = n + 1, lists.following[p]
        if n < 2 or share[i] == 0.0:
            continue
        if n > planes.size:
            planes, height, before = np.empty(2 * n, np.int64), np.empty(2 * n), np.empty(2 * n)
        count = _list_parts(lists.head[i], lists, -1.0, place, used)
        room = write_stencils(stencils, i, used, count, room)
        score_stencils(count, room, stencils.dense, weights, scores)
        p = lists.head[i]
        work += count
        for a in range(n):
            work += lists.indptr[p + 1] - lists.indptr[p]
            planes[a], height[a], before[a] = p, lists.offsets[p] + _score(p, lists, place, scores), lists.alpha[p]
            if np.isnan(lists.products[lists.first_product[p]]):
                _multiply(p, count, lists, place, room, stencils.dense, scratch, amounts, products)
            p = lists.following[p]
        factor = share[i] / regularization
        violation[visit] = share[i] * _raise_dual(planes[:n], height[:n], factor, lists)
        amounts[:count] = 0.0
        for a in range(n):
            change = lists.alpha[planes[a]] - before[a]
            if change != 0.0:
                _add_plane(planes[a], change, lists, place, amounts)
        add_stencils(count, amounts, -factor, room, stencils.dense, weights)
    return work


@njit(cache=True, nogil=True)
def heights(
    examples: Ints, lists: PlaneLists, stencils: Stencils, weights: Array, highest: Array, average: Array
) -> None:
    """Write the height of the highest plane of each example, -inf where there is none, and the alpha-average."""
    most = stencils.most_parts
    place, used, scores = np.zeros(most, np.int64), np.empty(most, np.int64), np.empty(most)
    room = room_for(stencils, np.int64(64))
    for j in range(examples.size):
        highest[j], average[j] = -np.inf, 0.0
        p = lists.head[examples[j]]
        count = _list_parts(p, lists, -1.0, place, used)
        room = write_stencils(stencils, examples[j], used, count, room)
        score_stencils(count, room, stencils.dense, weights, scores)
        while p >= 0:
            height = lists.offsets[p] + _score(p, lists, place, scores)
            highest[j] = max(highest[j], height)
            average[j] += lists.alpha[p] * height
            p = lists.following[p]


@njit(cache=True, nogil=True)
def combine(lists: PlaneLists, stencils: Stencils, share: Array, out: Array) -> None:
    """Add share_i alpha_p z_p over all planes to out."""
    most = stencils.most_parts
    place, used, amounts = np.zeros(most, np.int64), np.empty(most, np.int64), np.empty(most)
    room = room_for(stencils, np.int64(64))
    for i in range(share.size):
        p = lists.head[i]
        count = _list_parts(p, lists, 0.0, place, used)
        amounts[:count] = 0.0
        while p >= 0:
            if lists.alpha[p] > 0.0:
                _add_plane(p, lists.alpha[p], lists, place, amounts)
            p = lists.following[p]
        room = write_stencils(stencils, i, used, count, room)
        add_stencils(count, amounts, share[i], room, stencils.dense, out)


@njit(cache=True, nogil=True)
def count_following(planes: Ints, following: Ints) -> Ints:
    """Return for each plane the length of its list, from it on."""
    lengths = np.zeros(planes.size, dtype=np.int64)
    for j in range(planes.size):
        p = planes[j]
        while p >= 0:
            lengths[j] += 1
            p = following[p]
    return lengths


@njit(cache=True, nogil=True)
def keep_planes(keep: Bools, lists: PlaneLists) -> None:
    """Move the coefficients and the products of the planes to keep to the front, in place."""
    _, following, indptr, parts, data, _, _, first_product, products = lists
    row, place, product = 0, 0, 0
    for p in range(keep.size):
        if keep[p]:
            begin, end, q, known = indptr[p], indptr[p + 1], p, first_product[p]
            indptr[row], first_product[row] = place, product
            for j in range(begin, end):
                parts[place] = parts[j]
                data[place] = data[j]
                place += 1
            while q >= 0:
                if keep[q]:
                    products[product] = products[known]
                    product += 1
                known, q = known + 1, following[q]
            row += 1
    indptr[row], first_product[row] = place, product


@njit(cache=True, nogil=True)
def link(owner: Ints, head: Ints, following: Ints) -> None:
    """Rebuild the linked lists."""
    head[:] = -1
    for p in range(owner.size):
        following[p] = head[owner[p]]
        head[owner[p]] = p
