"""What the means of soft maxima of soft_rows.py say of the labels that they are taken over.

The mean of a label is shared out among the labels before it, in proportion to what they bring. Nothing is subtracted.
"""

import numpy as np

from maximand.numerics.inner import inner
from maximand.numerics.soft_rows import FACTORS, SCORES, TINY, TOTALS, WEIGHTS


@inner()
def _share_one(room, j, a, k, table, m, temperature, mean, before, pairs):  # type: ignore[no-untyped-def]
    """Share the mean of a label out among those before it; at temperature 0 the best one has it all."""
    top, best = -np.inf, 0
    for l in range(k):
        one = room[SCORES, j, a, l] + table[SCORES, l, m]
        if one > top:
            top, best = one, l
    if temperature == 0.0:
        before[a, best] += mean
        pairs[best, m] += mean
        return
    total = 0.0
    for l in range(k):
        total += np.exp((room[SCORES, j, a, l] + table[SCORES, l, m] - top) / temperature)
    for l in range(k):
        part = mean * (np.exp((room[SCORES, j, a, l] + table[SCORES, l, m] - top) / temperature) / total)
        before[a, l] += part
        pairs[l, m] += part


@inner(fastmath={"contract", "reassoc"})
def _share_row(room, j, a, k, table, ratios, before, pairs):  # type: ignore[no-untyped-def]
    width = room.shape[3]
    for l in range(k):
        weight = room[WEIGHTS, j, a, l]
        for m in range(width):
            pairs[l, m] += weight * table[FACTORS, l, m] * ratios[m]
        total = 0.0
        for m in range(width):
            total += table[FACTORS, l, m] * ratios[m]
        before[a, l] = weight * total


@inner()
def share(room, j, n, k, table, temperature, after, before, pairs, ratios):  # type: ignore[no-untyped-def]
    """Write the means of labels, given those of labels after them, for the first n rows of step j; add up the pairs."""
    width = room.shape[3]
    for a in range(n):
        left = temperature == 0.0
        for m in range(width):
            total = room[TOTALS, j, a, m]
            ratios[m] = after[a, m] / total if total > TINY else 0.0
            before[a, m] = 0.0
            left |= (after[a, m] > 0.0) & (not total > TINY)
        if temperature > 0.0:
            _share_row(room, j, a, k, table, ratios, before, pairs)
        if left:
            for m in range(k):
                if after[a, m] > 0.0 and (temperature == 0.0 or not room[TOTALS, j, a, m] > TINY):
                    _share_one(room, j, a, k, table, m, temperature, after[a, m], before, pairs)
