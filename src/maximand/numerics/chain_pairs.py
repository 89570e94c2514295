"""Means of pairs, made of what forward-backward left of an example: see chain_sums.py.

They are products of `alpha` and `ahead` with the factors of its table, or, where it was done on logarithms, shares of
the means of nodes (chain_logarithms.py).
"""

import numpy as np
from numba import njit

from maximand.numerics.chain_logarithms import add_log_pairs
from maximand.numerics.products import PANEL, add_pairs
from maximand.support import Array, Bools, Ints


@njit(cache=True, nogil=True)
def add_soft_pairs(
    factor: Array,
    units: Array,
    offsets: Ints,
    examples: Ints,
    weights: Array,
    means: Array,
    alpha: Array,
    ahead: Array,
    scaled: Bools,
    out: Array,
) -> None:
    """Add the weighted means of the pairs of some examples, given what forward-backward left of them and their table.

    `out` has a table for each example of the batch, or one for all.
    """
    if len(out) == 1:
        _add_pairs(factor, units, offsets, examples, weights, means, alpha, ahead, scaled, out[0])
        return
    for j in range(examples.size):
        one = examples[j : j + 1]
        _add_pairs(factor, units, offsets, one, weights, means, alpha, ahead, scaled, out[one[0]])


@njit(cache=True, nogil=True)
def _add_pairs(factor, units, offsets, examples, weights, means, alpha, ahead, scaled, out):  # type: ignore[no-untyped-def]
    k, count = means.shape[1], 0
    for i in examples:
        count += offsets[i + 1] - offsets[i] - 1 if scaled[i] else 0
    if count:
        rows, factors = np.empty(count, np.int64), np.empty(count)
        count = 0
        for i in examples:
            if scaled[i]:
                for row in range(offsets[i], offsets[i + 1] - 1):
                    rows[count], factors[count] = row, weights[i]
                    count += 1
        products = np.empty((min(PANEL, len(factor)), len(factor)))
        for start in range(0, k, PANEL):
            some = products[: min(PANEL, len(factor) - start)]
            some[:] = 0.0
            add_pairs(alpha, rows, ahead, factors, start, some)
            for l in range(start, min(start + PANEL, k)):
                for m in range(k):
                    out[l, m] += some[l - start, m] * factor[l, m]
    for i in examples:
        if not scaled[i]:
            own = slice(offsets[i], offsets[i + 1])
            add_log_pairs(alpha[own], units, means[own], weights[i], out)


@njit(cache=True, nogil=True)
def soft_pair_scores(
    factor: Array,
    units: Array,
    offsets: Ints,
    means: Array,
    alpha: Array,
    ahead: Array,
    scaled: Bools,
    transitions: Array,
    scores: Array,
) -> None:
    """Add to the scores of examples what transitions score at the means of pairs, of examples that share a table."""
    k, ones = means.shape[1], np.ones(scaled.size)
    pairs = np.empty((k, k))
    for i in range(scaled.size):
        pairs[:] = 0.0
        _add_pairs(factor, units, offsets, np.arange(i, i + 1), ones, means, alpha, ahead, scaled, pairs)
        table, total = transitions[min(i, len(transitions) - 1)], 0.0
        for l in range(k):
            for m in range(k):
                if pairs[l, m] > 0.0:
                    total += pairs[l, m] * table[l, m]
        scores[i] += total
