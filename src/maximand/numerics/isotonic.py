"""Isotonic optimisation by pooling adjacent violators.

Neighbours whose values increase share a value in the best non-increasing fit, so they are pooled into a block, and the
block with the one before it while that is not above it. Each element is pooled once: O(k).
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def pool(sums, masses, starts):  # type: ignore[no-untyped-def]
    """Pool neighbours until sums[b] / masses[b] decreases from block to block; return the number of blocks.

    From sums = masses * targets with masses > 0 this ends in the non-increasing v that minimises
    sum_i masses_i (v_i - targets_i)^2: v is sums[b] / masses[b] from starts[b] up to starts[b + 1].
    """
    k = sums.size
    if k == 0:
        starts[0] = 0
        return 0
    total, mass, start, before = sums[0], masses[0], 0, 0
    for i in range(1, k):
        if total * masses[i] > sums[i] * mass:
            sums[before], masses[before], starts[before] = total, mass, start
            before += 1
            total, mass, start = sums[i], masses[i], i
        else:
            total += sums[i]
            mass += masses[i]
            while before > 0 and sums[before - 1] * mass <= total * masses[before - 1]:
                before -= 1
                total += sums[before]
                mass += masses[before]
                start = starts[before]
    sums[before], masses[before], starts[before], starts[before + 1] = total, mass, start, k
    return before + 1


@njit(cache=True, nogil=True)
def pool_exponentials(tops, sums, masses, starts):  # type: ignore[no-untyped-def]
    """Pool neighbours until exp(tops[b]) * sums[b] / masses[b] decreases; return the number of blocks.

    The tops are non-increasing to begin with, so that of a block is its first, and no exponential overflows. A block
    without mass is above every other.
    """
    blocks = 0
    for i in range(sums.size):
        top, total, mass, start = tops[i], sums[i], masses[i], i
        while blocks > 0:
            scaled = total * np.exp(top - tops[blocks - 1])
            if sums[blocks - 1] * mass > scaled * masses[blocks - 1]:
                break
            blocks -= 1
            top, total = tops[blocks], sums[blocks] + scaled
            mass += masses[blocks]
            start = starts[blocks]
        tops[blocks], sums[blocks], masses[blocks], starts[blocks] = top, total, mass, start
        blocks += 1
    starts[blocks] = sums.size
    return blocks
