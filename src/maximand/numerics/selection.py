"""Counting and selecting among scores, of which -inf forbids a label and +inf forces it."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_infinities(scores):  # type: ignore[no-untyped-def]
    """Return how many labels are forced, and how many are allowed."""
    forced, forbidden = 0, 0
    for l in range(scores.size):
        forced += scores[l] == np.inf
        forbidden += scores[l] == -np.inf
    return forced, scores.size - forbidden


@njit(cache=True, nogil=True)
def finite_scores(scores, rest):  # type: ignore[no-untyped-def]
    """Write the finite scores to rest; return their number and how many labels are forced."""
    size, forced = 0, 0
    for l in range(scores.size):
        rest[size] = scores[l]
        size += -np.inf < scores[l] < np.inf
        forced += scores[l] == np.inf
    return size, forced


@njit(cache=True, nogil=True)
def largest(rest, rank):  # type: ignore[no-untyped-def]
    """Return the number that `rank` numbers are not below, by partitions around pivots. Reorders rest."""
    first, last = 0, rest.size - 1
    while first < last:
        pivot = rest[(first + last) // 2]
        left, right = first, last
        while left <= right:
            while rest[left] > pivot:
                left += 1
            while rest[right] < pivot:
                right -= 1
            if left <= right:
                rest[left], rest[right] = rest[right], rest[left]
                left += 1
                right -= 1
        if rank - 1 <= right:
            last = right
        elif rank - 1 >= left:
            first = left
        else:
            break
    return rest[rank - 1]
