"""Best permutations in which some items come before others, by branch and bound.

Items are in groups that follow each other, or in none (-1) and then anywhere. Without the order this is an assignment,
whose maximum is a bound. Where its answer has an item b before an item a of an earlier group, no permutation in order
has a after some position t and b not after it: either a is at t or before, or a is after t and b after that. Both ways
exclude the answer, are assignments again, and are searched one after the other.
"""

import numpy as np
from numba import njit

from maximand.numerics.assignment import match, matching_room
from maximand.numerics.copying import overwrite
from maximand.support import Array, Ints

ROUNDING = 1e-12  # what is better by less, in relation to the scores, is not searched for


@njit(cache=True, nogil=True)
def _counts(groups):  # type: ignore[no-untyped-def]
    """Return for every item how many items are in earlier groups than its own, and how many in no later one."""
    k = groups.size
    before, so_far = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64)
    for l in range(k):
        for m in range(k):
            before[l] += 0 <= groups[m] < groups[l]
            so_far[l] += 0 <= groups[m] <= groups[l]
    return before, so_far


@njit(cache=True, nogil=True)
def _raise(a, least, groups, before, so_far, low):  # type: ignore[no-untyped-def]
    """Keep item a from positions below `least`, and later items from those that this leaves to others."""
    low[a] = max(low[a], least)
    for l in range(groups.size):
        if groups[l] > groups[a]:
            low[l] = max(low[l], least + 1 + before[l] - so_far[a])


@njit(cache=True, nogil=True)
def _lower(a, most, groups, before, so_far, high):  # type: ignore[no-untyped-def]
    """Keep item a from positions above `most`, and earlier items from those that this leaves to others."""
    high[a] = min(high[a], most)
    for l in range(groups.size):
        if 0 <= groups[l] < groups[a]:
            high[l] = min(high[l], most - 1 - (before[a] - so_far[l]))


@njit(cache=True, nogil=True)
def _worst_pair(positions, groups):  # type: ignore[no-untyped-def]
    """Return items a and b that are most in each other's place, a of the earlier group; or -1, -1."""
    first, second, most = -1, -1, 0
    for a in range(groups.size):
        if groups[a] >= 0:
            for b in range(groups.size):
                if groups[b] > groups[a] and positions[a] - positions[b] > most:
                    first, second, most = a, b, positions[a] - positions[b]
    return first, second


@njit(cache=True, nogil=True)
def _in_order(positions, groups, repaired):  # type: ignore[no-untyped-def]
    """Write the same positions with those of the items in groups dealt out again in order."""
    k = groups.size
    item_at = np.full(k, -1)
    overwrite(repaired, positions)
    for l in range(k):
        if groups[l] >= 0:
            item_at[positions[l]] = l
    listed = item_at[item_at >= 0]
    ordered = listed[np.argsort(groups[listed], kind="mergesort")]
    place = 0
    for p in range(k):
        if item_at[p] >= 0:
            repaired[ordered[place]] = p
            place += 1


@njit(cache=True, nogil=True)
def _total(scores, positions):  # type: ignore[no-untyped-def]
    total = 0.0
    for l in range(positions.size):
        total += scores[l, positions[l]]
    return total


@njit(cache=True, nogil=True)
def _search(scores, groups, lows, highs, bounds, best):  # type: ignore[no-untyped-def]
    """Write the best permutation found; return its value and a bound on the best there is.

    The first and the last position of every item in the ways that are left, and their bounds, are kept as a stack.
    """
    k, max_nodes = groups.size, bounds.size - 2
    lows[0], highs[0], bounds[0] = 0, k - 1, np.inf
    before, so_far = _counts(groups)
    for l in range(k):
        if groups[l] >= 0:
            lows[0, l], highs[0, l] = before[l], k - 1 - (so_far.max() - so_far[l])
    masked, prices, room = np.empty((k, k)), np.empty(k), matching_room(k)
    repaired = np.empty(k, dtype=np.int64)
    value, size = -np.inf, 0.0
    for s in scores.flat:
        size = max(size, abs(s)) if s > -np.inf else size
    open_nodes, nodes = 1, 0
    while open_nodes > 0 and nodes < max_nodes:
        open_nodes -= 1
        low, high = lows[open_nodes].copy(), highs[open_nodes].copy()
        if bounds[open_nodes] <= value + ROUNDING * size:
            continue
        nodes += 1
        for l in range(k):
            for p in range(k):
                masked[l, p] = scores[l, p] if low[l] <= p <= high[l] else -np.inf
        if not match(masked, prices, room):
            continue
        positions = room[1]
        bound = _total(scores, positions)
        a, b = _worst_pair(positions, groups)
        _in_order(positions, groups, repaired)
        found = _total(scores, repaired)
        if found > value:
            value = found
            overwrite(best, repaired)
        if a < 0 or bound <= value + ROUNDING * size:
            continue
        t = (positions[a] + positions[b]) // 2
        for child in range(2):
            overwrite(lows[open_nodes], low)
            overwrite(highs[open_nodes], high)
            bounds[open_nodes] = bound
            if child == 0:
                _raise(a, t + 1, groups, before, so_far, lows[open_nodes])
            else:
                _lower(a, t, groups, before, so_far, highs[open_nodes])
            open_nodes += 1
    top = value
    for node in range(open_nodes):
        top = max(top, bounds[node])
    return value, top


@njit(cache=True, nogil=True)
def best_in_order(scores: Array, groups: Ints, max_nodes: int, values: Array, means: Array, bounds: Array) -> None:
    """Write the best permutation matrix whose items are in the order of their groups, its value, and a bound on it.

    The bound is the value itself unless the search took max_nodes assignments. Without any permutation the value is
    -inf and the mean 0.
    """
    n, k = groups.shape
    best, heights = np.empty(k, dtype=np.int64), np.empty(max_nodes + 2)
    lows, highs = np.empty((max_nodes + 2, k), dtype=np.int64), np.empty((max_nodes + 2, k), dtype=np.int64)
    means[:] = 0.0
    for i in range(n):
        values[i], bounds[i] = _search(scores[i], groups[i], lows, highs, heights, best)
        if values[i] > -np.inf:
            for l in range(k):
                means[i, l, best[l]] = 1.0
