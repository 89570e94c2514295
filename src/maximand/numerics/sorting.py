"""Sorting a few up to thousands of scores, the largest first.

Few are ranked by comparing all pairs. More are rounded to whole numbers of two digits and sorted by these, which leaves
few out of order where they are spread evenly enough, and those are inserted where they belong.
"""

import numpy as np
from numba import njit

from maximand.numerics.copying import overwrite

FEW = 14  # up to here entries are ranked by comparing all pairs
ONE, DIGITS, PLACE = np.uint64(1), np.uint64(32), np.uint64(2**32 - 1)  # a code has its digits above, its place below


@njit(cache=True, nogil=True)
def _rank_pairs(scores, keys, order, ranks):  # type: ignore[no-untyped-def]
    k = scores.size
    ranks[:] = 0
    for l in range(k):
        after = np.uint64(0)
        for m in range(l + 1, k):
            before = np.uint64(scores[l] >= scores[m])
            ranks[m] += before
            after += ONE - before
        ranks[l] += after
    for l in range(k):
        keys[ranks[l]] = scores[l]
        order[ranks[l]] = l


@njit(cache=True, nogil=True)
def _merge(keys, order, spare_keys, spare_order):  # type: ignore[no-untyped-def]
    """Sort by merging runs of 1, 2, 4, ... entries; of equals the first remains first."""
    k = keys.size
    width = 1
    while width < k:
        for start in range(0, k, 2 * width):
            middle, end = min(start + width, k), min(start + 2 * width, k)
            left, right = start, middle
            for m in range(start, end):
                if right == end or (left < middle and keys[left] >= keys[right]):
                    spare_keys[m], spare_order[m] = keys[left], order[left]
                    left += 1
                else:
                    spare_keys[m], spare_order[m] = keys[right], order[right]
                    right += 1
        overwrite(keys, spare_keys)
        overwrite(order, spare_order)
        width *= 2


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _range(scores):  # type: ignore[no-untyped-def]
    """Return the largest and the smallest finite score."""
    highest, lowest = -np.inf, np.inf
    for l in range(scores.size):
        highest = max(highest, scores[l])
        lowest = min(lowest, scores[l] if scores[l] > -np.inf else np.inf)
    return highest, lowest


@njit(cache=True, nogil=True)
def _digit_bits(k):  # type: ignore[no-untyped-def]
    bits = 5
    while bits < 12 and (4 << bits) <= k:
        bits += 1
    return bits


@njit(cache=True, nogil=True)
def digit_counts(k):  # type: ignore[no-untyped-def]
    """Return room for the numbers of the digits that k scores are sorted by."""
    return np.empty((2, 1 << _digit_bits(k)), dtype=np.uint64)


@njit(cache=True, nogil=True)
def _accumulate(counts):  # type: ignore[no-untyped-def]
    """Replace each count by the sum of those before it."""
    total = np.uint64(0)
    for digit in range(counts.size):
        count = counts[digit]
        counts[digit] = total
        total += count


@njit(cache=True, nogil=True)
def _sort_digits(scores, keys, order, spare, counts):  # type: ignore[no-untyped-def]
    """Sort the scores rounded to numbers of two digits, first by the lower digit and then by the higher one."""
    k, digits = scores.size, counts.shape[1]
    bits, mask = np.uint64(_digit_bits(k)), np.uint64(digits - 1)
    low, high = counts[0], counts[1]
    counts[:] = 0
    highest, lowest = _range(scores)
    span = max(highest - lowest, 0.0)
    scale = (digits * digits - 1.0) / span if 1e-290 < span < np.inf else 0.0
    for l in range(k):
        order[l] = np.uint64(np.int64(min(highest - scores[l], span) * scale)) << DIGITS | np.uint64(l)
    for l in range(k):
        low[(order[l] >> DIGITS) & mask] += ONE
        high[order[l] >> (DIGITS + bits)] += ONE
    _accumulate(low)
    _accumulate(high)
    for l in range(k):
        code = order[l]
        digit = (code >> DIGITS) & mask
        spare[low[digit]] = code
        low[digit] += ONE
    for l in range(k):
        place = spare[l] & PLACE
        digit = spare[l] >> (DIGITS + bits)
        rank = high[digit]
        high[digit] = rank + ONE
        keys[rank] = scores[place]
        order[rank] = place


@njit(cache=True, nogil=True)
def sort_descending(scores, keys, order, spare_keys, spare_order, counts):  # type: ignore[no-untyped-def]
    """Write the scores in descending order to keys and their places to order; the lowest place first among equals.

    If the insertions take many steps all are sorted by merging instead: O(k log k) at worst. The orders are uint64,
    which spares a look at the sign of each index, and `counts` is what `digit_counts` returns.
    """
    k = scores.size
    if k <= FEW:
        _rank_pairs(scores, keys, order, spare_order)
        return
    _sort_digits(scores, keys, order, spare_order, counts)
    steps = 0
    for m in range(1, k):
        if keys[m - 1] < keys[m]:
            key, place, p = keys[m], order[m], m
            while p > 0 and keys[p - 1] < key:
                keys[p], order[p] = keys[p - 1], order[p - 1]
                p -= 1
            keys[p], order[p] = key, place
            steps += m - p
            if steps > 8 * k:
                _merge(keys, order, spare_keys, spare_order)
                return
