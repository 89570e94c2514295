"""Best permutations, and the entries of a matrix that permutations can use.

A matching gives each row a column of its own. Prices p of the columns prove that it is best when every row i has a
column with the largest scores[i, j] - p[j]. Shortest augmenting paths (Jonker and Volgenant 1987) match one row after
another and keep this true: the loss of an entry is what the row gives up against its best column, a path from a free
row to a free column through matched ones has the sum of the losses as its length, and the prices of the columns that
are nearer than the end of the shortest path rise by the difference.
"""

import numpy as np
from numba import njit

from maximand.numerics.inner import inner
from maximand.support import Array, Bools

FREE = -1


@inner()
def _begin(scores, prices, row_of, column_of):  # type: ignore[no-untyped-def]
    """Price each column at its largest score, give rows one of their best columns while these are free."""
    k = scores.shape[0]
    for j in range(k):
        prices[j] = scores[0, j]
        row_of[j] = FREE
    for i in range(1, k):
        for j in range(k):
            if scores[i, j] > prices[j]:
                prices[j] = scores[i, j]
    for j in range(k):
        if prices[j] == -np.inf:
            return False
    for i in range(k):
        best, column = -np.inf, 0
        for j in range(k):
            profit = scores[i, j] - prices[j]
            if profit > best or (profit == best and row_of[column] != FREE and row_of[j] == FREE):
                best, column = profit, j
        if best == -np.inf:
            return False
        if row_of[column] == FREE:
            row_of[column], column_of[i] = i, column
        else:
            column_of[i] = FREE
    return True


@inner()
def _outbid(scores, prices, row_of, column_of):  # type: ignore[no-untyped-def]
    """Let each free row take its best column and raise its price until the second best is as good; once around."""
    k = scores.shape[0]
    for i in range(k):
        if column_of[i] != FREE:
            continue
        best, second, column = -np.inf, -np.inf, 0
        for j in range(k):
            profit = scores[i, j] - prices[j]
            if profit > best:
                best, second, column = profit, best, j
            elif profit > second:
                second = profit
        rival = row_of[column]
        if second > -np.inf and (best > second or rival == FREE):
            prices[column] += best - second
            row_of[column], column_of[i] = i, column
            if rival != FREE:
                column_of[rival] = FREE


@inner(fastmath={"nnan", "nsz"})
def _nearest(distance, bars, row_of):  # type: ignore[no-untyped-def]
    """Return the smallest distance without a bar and where it is: at a free column if one has it."""
    k = distance.size
    near = np.inf
    for j in range(k):
        length = distance[j] + bars[j]
        near = length if length < near else near
    place = 2 * k
    for j in range(k):
        own = j if row_of[j] == FREE else j + k
        own = own if distance[j] + bars[j] == near else 2 * k
        place = own if own < place else place
    return near, place if place < k else place - k


@inner(fastmath={"nnan", "nsz"})
def _augment(scores, start, prices, row_of, column_of, distance, before, bars):  # type: ignore[no-untyped-def]
    """Match the free row `start` along a shortest path to a free column; say whether there is one."""
    k = scores.shape[0]
    for j in range(k):
        distance[j] = prices[j] - scores[start, j]
        before[j] = start
        bars[j] = 0.0
    while True:
        near, end = _nearest(distance, bars, row_of)
        if near == np.inf:
            return False
        i = row_of[end]
        if i == FREE:
            break
        bars[end] = np.inf
        base = near - (prices[end] - scores[i, end])
        for j in range(k):
            length = base + (prices[j] - scores[i, j]) + bars[j]
            nearer = length < distance[j]
            distance[j] = length if nearer else distance[j]
            before[j] = i if nearer else before[j]
    for j in range(k):
        prices[j] += near - distance[j] if bars[j] > 0.0 else 0.0
    while end != FREE:
        i = before[end]
        row_of[end] = i
        column_of[i], end = end, column_of[i]
    return True


@njit(cache=True, nogil=True)
def matching_room(k):  # type: ignore[no-untyped-def]
    """Return room for `match`: the row of each column, the column of each row, and what it works with."""
    return (
        np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64), np.empty(k), np.empty(k, dtype=np.int64), np.empty(k)
    )  # fmt: skip


@njit(cache=True, nogil=True)
def match(scores, prices, room):  # type: ignore[no-untyped-def]
    """Write a best matching and prices that prove it; say whether there is one."""
    row_of, column_of, distance, before, bars = room
    if not _begin(scores, prices, row_of, column_of):
        return False
    _outbid(scores, prices, row_of, column_of)
    for i in range(scores.shape[0]):
        if column_of[i] != FREE:
            continue
        if not _augment(scores, i, prices, row_of, column_of, distance, before, bars):
            return False
    return True


@njit(cache=True, nogil=True)
def best_assignments(scores: Array, values: Array, means: Array) -> None:
    """Write the permutation matrix of largest sum of scores to means[i] and that sum to values[i].

    Rows are items and columns positions. Entries of -inf are forbidden; where no permutation is left the value is -inf
    and the mean 0.
    """
    n, k = scores.shape[:2]
    prices, room = np.empty(k), matching_room(k)
    column_of = room[1]
    means[:] = 0.0
    for i in range(n):
        if not match(scores[i], prices, room):
            values[i] = -np.inf
            continue
        values[i] = 0.0
        for row in range(k):
            values[i] += scores[i, row, column_of[row]]
            means[i, row, column_of[row]] = 1.0


@njit(cache=True, nogil=True)
def total_support(allowed: Bools, feasible: Bools) -> None:
    """Forbid the entries that no permutation of allowed entries uses; say in feasible[i] whether there is one.

    Given one permutation, row i may take the column of row r instead if r finds another column, and so on, until some
    row takes that of i: a cycle of the graph with an arc from i to r where allowed[i, column of r]. The arc is on a
    cycle when i can be reached from r (Warshall 1962).
    """
    n, k = allowed.shape[:2]
    scores, prices, room = np.empty((k, k)), np.empty(k), matching_room(k)
    row_of, column_of = room[:2]
    reached = np.empty((k, k), dtype=np.bool_)
    for e in range(n):
        for i in range(k):
            for j in range(k):
                scores[i, j] = 0.0 if allowed[e, i, j] else -np.inf
        feasible[e] = match(scores, prices, room)
        if not feasible[e]:
            allowed[e] = False
            continue
        for i in range(k):
            for r in range(k):
                reached[i, r] = allowed[e, i, column_of[r]]
        for via in range(k):
            for i in range(k):
                if reached[i, via]:
                    for r in range(k):
                        reached[i, r] |= reached[via, r]
        for i in range(k):
            for j in range(k):
                allowed[e, i, j] &= reached[row_of[j], i]
