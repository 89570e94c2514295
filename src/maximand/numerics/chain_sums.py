"""Soft maxima over the paths of batches of chains, whose scores are those of chain.py.

Rows of work arrays are padded with zeros, see products.py. What forward and backward leave of an example says what its
means of pairs are; they are made of it where they are wanted (chain_pairs.py).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.numerics.chain import SIDE_BY_SIDE, group_end, longest, step
from maximand.numerics.chain_logarithms import log_sums
from maximand.numerics.exponential import exponentials
from maximand.numerics.inner import inner
from maximand.numerics.products import LANES, TOGETHER, add_products, fill_up, padded
from maximand.support import Array, Bools, Ints

# Scaled sums lose what is below 1e-307 of the largest. Of the terms of forward, backward finds out: the sums of
# probabilities drift from one. Labels that are lost at their position, for their scores of nodes, cannot count while
# log transitions, on both sides of it, span at most SAFE_RANGE each; where transitions are forbidden none may be lost.
# Examples are done on logarithms where that does not hold, or a scale falls below SAFE_SCALE, or sums drift further
# than SAFE_DRIFT. Few batches have any: the kernels for these are compiled when they are needed.
SAFE_RANGE = 300.0
SAFE_SCALE = 1e-250
SAFE_DRIFT = 1e-9


class SoftSums(NamedTuple):
    """The values and means of nodes, and what is left to make the means of pairs of.

    `alpha` and `ahead` have TOGETHER spare rows at the end. Examples that are not `scaled` were done on logarithms;
    for these there are `units`, for the others `factors`, as many tables as there are of transitions.
    """

    values: Array
    means: Array
    alpha: Array
    ahead: Array
    scaled: Bools
    factors: Array
    units: Array


def soft_paths(
    nodes: Array,
    transitions: Array,
    offsets: Ints,
    order: Ints,
    first: Array,
    between: Array,
    last: Array,
    temperature: float,
) -> SoftSums:
    """Forward-backward: temperature * log sum over paths of exp(score / temperature), and the means of nodes."""
    n_rows, k = nodes.shape
    n_tables, width, inverse = len(transitions), padded(k), 1.0 / temperature
    values, means, tops = np.empty(order.size), np.empty((n_rows, k)), np.empty(n_tables)
    factors, turned = (np.empty((n_tables, width, width)) for _ in range(2))  # of which one is kept
    alpha, ahead = np.empty((2, n_rows + TOGETHER, width))
    alpha[n_rows:] = ahead[n_rows:] = 0.0
    _write_factors(transitions, between, temperature, factors, turned, tops)
    _write_terms(nodes, offsets, inverse, not between.any(), ahead.reshape(ahead.size), values)
    values += (np.diff(offsets) - 1) * (tops * inverse)
    possible = order[~np.isnan(values[order])]
    if possible.size:
        starts, ends = np.zeros((2, width))
        starts[:k], ends[:k] = np.exp(first), np.exp(last)
        _scaled_sums(offsets, possible, factors, turned, starts, ends, alpha, ahead, values, means)
    scaled, units = ~np.isnan(values), np.empty((0, k, width))
    if not scaled.all():
        units = np.full((n_tables, k, width), -np.inf)
        units[:, :, :k] = (transitions + between).swapaxes(1, 2) * inverse
        log_sums(nodes, units, offsets, np.flatnonzero(~scaled), inverse, first, last, alpha, means, values)
    values *= temperature
    return SoftSums(values, means, alpha, ahead, scaled, factors, units)


@njit(cache=True, nogil=True)
def _write_factors(transitions, between, temperature, factors, turned, tops):  # type: ignore[no-untyped-def]
    """Write exp((table - its largest score) / temperature), the transposes, and the largest scores.

    These are NaN for tables that are not safe.
    """
    k, width = len(between), factors.shape[1]
    for n in range(tops.size):
        table, factor, back = transitions[n], factors[n], turned[n]
        top, bottom = -np.inf, np.inf
        for l in range(k):
            for m in range(k):
                score = table[l, m] + between[l, m]
                if score > -np.inf:
                    top, bottom = max(top, score), min(bottom, score)
        if top == -np.inf:
            top = bottom = 0.0
        tops[n] = top if top - bottom <= SAFE_RANGE * temperature else np.nan
        for l in range(width):
            row = factor[l]
            for m in range(width):
                row[m] = (table[l, m] + between[l, m] - top) / temperature if l < k and m < k else -np.inf
            exponentials(row)
        for l in range(0, width, LANES):  # tile by tile, for the cache
            for m in range(0, width, LANES):
                for p in range(l, l + LANES):
                    for o in range(m, m + LANES):
                        back[o, p] = factor[p, o]


@inner(fastmath={"reassoc", "nnan", "nsz"})
def _largest(vector):  # type: ignore[no-untyped-def]
    top = -np.inf
    for m in range(vector.size):
        top = max(top, vector[m])
    return top


@njit(cache=True, nogil=True)
def _write_terms(nodes, offsets, inverse, free, ahead, sums):  # type: ignore[no-untyped-def]
    """Write exp((node - largest of its position) / temperature), and the sums of the largest.

    These are in units of the temperature; NaN where a position has no label or, unless all transitions are `free`, one
    is lost.
    """
    k = nodes.shape[1]
    width = ahead.size // (len(nodes) + TOGETHER)
    for i in range(sums.size):
        total = 0.0
        for t in range(offsets[i], offsets[i + 1]):
            scores, row = nodes[t], ahead[t * width : t * width + width]
            peak = _largest(scores)
            total += peak
            for m in range(k):
                row[m] = (scores[m] - peak) * inverse
            for m in range(k, width):
                row[m] = -np.inf
        sums[i] = total * inverse if total > -np.inf else np.nan
        exponentials(ahead[offsets[i] * width : offsets[i + 1] * width])
        if not free:
            for t in range(offsets[i], offsets[i + 1]):
                for m in range(k):
                    if ahead[t * width + m] == 0.0 and nodes[t, m] > -np.inf:
                        sums[i] = np.nan


@inner(fastmath={"reassoc", "contract"})
def _multiplied(first, second, out):  # type: ignore[no-untyped-def]
    """Write the products of two vectors and return their sum."""
    total = 0.0
    for m in range(out.size):
        out[m] = first[m] * second[m]
        total += out[m]
    return total


@inner(fastmath={"reassoc", "contract"})
def _weighted(vector, weight):  # type: ignore[no-untyped-def]
    """Multiply by weights, divide by the sum and return that; zeros where it is too small."""
    total = 0.0
    for m in range(vector.size):
        vector[m] *= weight[m]
        total += vector[m]
    factor = 1.0 / total if total >= SAFE_SCALE else 0.0
    for m in range(vector.size):
        vector[m] *= factor
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _scaled_sums(offsets, order, factors, turned, first, last, alpha, ahead, values, means):  # type: ignore[no-untyped-def]
    """Forward-backward on scaled probabilities, given exponentials of nodes in `ahead`.

    Adds the logarithms of the sums to `values`; NaN where a scale falls below SAFE_SCALE. Leaves the weights of pairs
    in `alpha` and `ahead`.
    """
    width, spare = alpha.shape[1], len(means)
    beta, scales = np.zeros((SIDE_BY_SIDE + TOGETHER, width)), np.empty(spare)
    rows, places = np.empty(SIDE_BY_SIDE + TOGETHER, np.int64), np.empty(SIDE_BY_SIDE + TOGETHER, np.int64)
    begin = np.int64(0)  # of one type from the first, or more is compiled
    while begin < order.size:
        end = group_end(factors, order, begin)
        members = order[begin:end]
        table, most = min(members[0], len(factors) - 1), longest(offsets, members)
        for t in range(most):
            count = step(offsets, members, t, rows, places)
            for j in range(count):
                row = alpha[rows[j]]
                for m in range(width):
                    row[m] = first[m] if t == 0 else 0.0
                places[j] = rows[j] - 1
            if t > 0:
                filled = fill_up(rows, places, count, spare, spare)
                add_products(alpha, places[:filled], factors[table], alpha, rows[:filled])
            for j in range(count):
                scales[rows[j]] = _weighted(alpha[rows[j]], ahead[rows[j]])
        for g in range(members.size):
            i = members[g]
            final, row, back = 0.0, alpha[offsets[i + 1] - 1], beta[g]
            for m in range(width):
                final += row[m] * last[m]
            for m in range(width):
                back[m] = last[m] / final
            values[i] += np.log(final) if final >= SAFE_SCALE else np.nan
            for t in range(offsets[i], offsets[i + 1]):
                values[i] += np.log(scales[t]) if scales[t] >= SAFE_SCALE else np.nan

        # Divided by the same scales on the way back, alpha and beta agree: their products sum to one everywhere.
        for t in range(most - 1, -1, -1):
            count = step(offsets, members, t, rows, places)
            for j in range(count):
                at, back = rows[j], beta[places[j]]
                if not abs(_multiplied(alpha[at], back, means[at]) - 1.0) < SAFE_DRIFT:
                    values[members[places[j]]] = np.nan
                inverse, weight = 1.0 / scales[at], ahead[at]
                for m in range(width):
                    weight[m] *= back[m] * inverse
                    if t > 0:
                        back[m] = 0.0
            if t > 0:
                filled = fill_up(rows, places, count, spare, SIDE_BY_SIDE)
                add_products(ahead, rows[:filled], turned[table], beta, places[:filled])
        begin = end
