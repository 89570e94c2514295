"""Features of tokens in windows: tuples of interned values, looked up in a hash table of integers.

An item is a value of a column by its number, or a longer run of neighbouring values: the table has the number of the
run (a, ..., b, c) at the key of the two numbers of (a, ..., b) and c. Item i, where it begins `shifts[slot]` tokens
after a token, is the feature columns[e] of that token, in its place slots[e], for e in starts[i]:starts[i+1].
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.support import Ints

LONGEST = 3  # values of a run
EMPTY = -1


class Windows(NamedTuple):
    """The items that have features, and the table of those that are runs; its size is a power of two."""

    starts: Ints
    slots: Ints
    columns: Ints
    shifts: Ints
    keys: Ints
    items: Ints


@njit(cache=True, nogil=True)
def _place(keys, key):  # type: ignore[no-untyped-def]
    """Return where a key is, or would be."""
    last = keys.size - 1
    mixed = key * np.int64(-7046029254386353131)
    at = (mixed ^ (mixed >> 32)) & last
    while keys[at] != EMPTY and keys[at] != key:
        at = (at + 1) & last
    return at


@njit(cache=True, nogil=True)
def _table(count):  # type: ignore[no-untyped-def]
    """Return empty keys and items, with room for so many."""
    size = 1
    while size < 2 * (count + 1):
        size *= 2
    return np.full(size, EMPTY, np.int64), np.empty(size, np.int32)


@njit(cache=True, nogil=True)
def intern(names: Ints, n_values: int, shifts: Ints) -> Windows:
    """Return the items of features; each row of `names` has slot and column of one, and its values, -1 for no more."""
    n, n_items = len(names), n_values
    keys, items = _table((LONGEST - 1) * n)
    item_of = np.empty(n, np.int32)
    for i in range(n):
        item = np.int64(names[i, 2])
        for j in range(3, 2 + LONGEST):
            if names[i, j] < 0:
                break
            key = (item << 32) | np.int64(names[i, j])
            at = _place(keys, key)
            if keys[at] == EMPTY:
                keys[at], items[at] = key, n_items
                n_items += 1
            item = np.int64(items[at])
        item_of[i] = item
    few_keys, few_items = _table(n_items - n_values)
    for i in range(keys.size):
        if keys[i] != EMPTY:
            at = _place(few_keys, keys[i])
            few_keys[at], few_items[at] = keys[i], items[i]
    starts = np.zeros(n_items + 1, np.int32)
    for i in range(n):
        starts[item_of[i] + 1] += 1
    for i in range(n_items):
        starts[i + 1] += starts[i]
    free, slots, columns = starts[:-1].copy(), np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n):
        e = free[item_of[i]]
        slots[e], columns[e] = names[i, 0], names[i, 1]
        free[item_of[i]] += 1
    return Windows(starts, slots, columns, shifts, few_keys, few_items)


@njit(cache=True, nogil=True)
def window_columns(
    numbers: Ints, before: Ints, after: Ints, window: int, offsets: Ints, windows: Windows, own: Ints, own_starts: Ints
) -> tuple[Ints, Ints]:
    """Return the features of all tokens, place by place, and where those of each token end.

    numbers[c, t] is the value of column c at token t, -1 where it is in no feature; sentence s has the tokens
    offsets[s]:offsets[s+1], and before[c] and after[c] are what is to either side of it. Token t has features of its
    own, listed last, where own_starts is not empty.
    """
    starts, slots, columns, shifts, keys, items = windows
    n_tokens, longest = numbers.shape[1], 0
    for s in range(offsets.size - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    width = shifts.size
    room = np.empty((longest, width), np.int32)
    found = np.empty(n_tokens * width + own.size, np.int32)
    ends = np.empty(n_tokens, np.int64)
    count = 0
    for s in range(offsets.size - 1):
        start = offsets[s]
        n = offsets[s + 1] - start
        room[:n] = EMPTY
        for c in range(len(numbers)):
            for p in range(-window, n + window):
                item = np.int64(EMPTY)
                for q in range(p, min(p + LONGEST, n + window)):
                    value = np.int64(before[c] if q < 0 else after[c] if q >= n else numbers[c, start + q])
                    if value < 0:
                        break
                    if q == p:
                        item = value
                    else:
                        at = _place(keys, (item << 32) | value)
                        if keys[at] == EMPTY:
                            break
                        item = np.int64(items[at])
                    for e in range(starts[item], starts[item + 1]):
                        t = p - shifts[slots[e]]
                        if 0 <= t < n:
                            room[t, slots[e]] = columns[e]
        for t in range(n):
            for slot in range(width):
                if room[t, slot] >= 0:
                    found[count] = room[t, slot]
                    count += 1
            if own_starts.size:
                for e in range(own_starts[start + t], own_starts[start + t + 1]):
                    found[count] = own[e]
                    count += 1
            ends[start + t] = count
    return found[:count], ends
