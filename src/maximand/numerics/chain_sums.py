"""Soft maxima over the paths of batches of chains, whose scores are those of chain.py.

Rows of work arrays are padded with zeros, see products.py. What forward and backward leave of an example says what its
means of pairs are; they are made of it where they are wanted (chain_pairs.py).
"""

import numpy as np
from numba import njit

from maximand.numerics.chain import SIDE_BY_SIDE, group_end, longest, step
from maximand.numerics.chain_logarithms import log_sums
from maximand.numerics.chain_pairs import add_soft_pairs
from maximand.numerics.exponential import exponentials
from maximand.numerics.products import LANES, TOGETHER, add_products, fill_up
from maximand.support import Array, Bools, Ints

# Scaled sums lose what is below 1e-307 of the largest. Of the terms of forward, backward finds out: the sums of
# probabilities drift from one. Labels that are lost at their position, for their scores of nodes, cannot count while
# log transitions, on both sides of it, span at most SAFE_RANGE each; where transitions are forbidden none may be lost.
# Examples are done again on logarithms where that does not hold, or a scale falls below SAFE_SCALE, or sums drift
# further than SAFE_DRIFT.
SAFE_RANGE = 300.0
SAFE_SCALE = 1e-250
SAFE_DRIFT = 1e-9


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _multiplied(first, second, out):  # type: ignore[no-untyped-def]
    """Write the products of two vectors and return their sum."""
    total = 0.0
    for m in range(out.size):
        out[m] = first[m] * second[m]
        total += out[m]
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
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


@njit(cache=True, nogil=True, fastmath={"reassoc", "nnan", "nsz"})
def _largest(vector):  # type: ignore[no-untyped-def]
    top = -np.inf
    for m in range(vector.size):
        top = max(top, vector[m])
    return top


@njit(cache=True, nogil=True)
def _span(table, between):  # type: ignore[no-untyped-def]
    """Return the largest score of a transition, 0 where none is allowed, and how far the smallest is below it."""
    top, bottom = -np.inf, np.inf
    for l in range(len(table)):
        for m in range(len(table)):
            score = table[l, m] + between[l, m]
            if score > -np.inf:
                top, bottom = max(top, score), min(bottom, score)
    return (top, top - bottom) if top > -np.inf else (0.0, 0.0)


@njit(cache=True, nogil=True)
def _write_factors(table, between, top, temperature, factor, turned, bits):  # type: ignore[no-untyped-def]
    """Write exp((table + between - top) / temperature) and its transpose."""
    k = len(table)
    for l in range(k):
        row = factor[l]
        row[k:] = -np.inf
        for m in range(k):
            row[m] = (table[l, m] + between[l, m] - top) / temperature
        exponentials(row, bits)
    factor[k:] = 0.0
    for l in range(0, len(factor), LANES):  # tile by tile, for the cache
        for m in range(0, len(factor), LANES):
            for n in range(LANES):
                for o in range(LANES):
                    turned[m + o, l + n] = factor[l + n, m + o]


@njit(cache=True, nogil=True)
def _write_units(table, between, inverse, units):  # type: ignore[no-untyped-def]
    """Write the transpose of a table, in units of the temperature."""
    units[:] = -np.inf
    for l in range(len(table)):
        for m in range(len(table)):
            units[m, l] = (table[l, m] + between[l, m]) * inverse


@njit(cache=True, nogil=True)
def _loses(nodes, ahead):  # type: ignore[no-untyped-def]
    """Whether the exponential of a score is zero."""
    for t in range(len(nodes)):
        for m in range(nodes.shape[1]):
            if ahead[t, m] == 0.0 and nodes[t, m] > -np.inf:
                return True
    return False


@njit(cache=True, nogil=True)
def _exponentials_of_nodes(nodes, inverse, ahead, bits):  # type: ignore[no-untyped-def]
    """Write exp((node - largest of its position) / temperature) and return the sum of the largest."""
    length, k = nodes.shape
    total = 0.0
    for t in range(length):
        row, scores = ahead[t], nodes[t]
        peak = _largest(scores)
        total += peak
        if peak == -np.inf:
            return total
        row[k:] = -np.inf
        for m in range(k):
            row[m] = (scores[m] - peak) * inverse
    exponentials(ahead.reshape(ahead.size), bits)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _scaled_sums(  # type: ignore[no-untyped-def]
    offsets, members, factor, turned, first, last, alpha, beta, ahead, scales, rows, places, values, means
):
    """Forward-backward on scaled probabilities for examples side by side, which have exponentials of nodes in `ahead`.

    Adds the logarithms of the sums to `values`; NaN where a scale falls below SAFE_SCALE. Leaves the weights of pairs
    in `alpha` and `ahead`.
    """
    most, k, spare = longest(offsets, members), means.shape[1], len(alpha) - TOGETHER
    for t in range(most):
        count = step(offsets, members, t, rows, places)
        for j in range(count):
            if t == 0:
                alpha[rows[j]] = first
            else:
                alpha[rows[j]] = 0.0
            places[j] = rows[j] - 1
        if t > 0:
            filled = fill_up(rows, places, count, spare, spare)
            add_products(alpha, places[:filled], factor, alpha, rows[:filled])
        for j in range(count):
            scales[rows[j]] = _weighted(alpha[rows[j]], ahead[rows[j]])
    for g in range(members.size):
        i = members[g]
        final = 0.0
        end = alpha[offsets[i + 1] - 1]
        for m in range(k):
            final += end[m] * last[m]
        if not final >= SAFE_SCALE:
            final = np.nan
        beta[g] = last / final
        values[i] += np.log(final)
        for row in range(offsets[i], offsets[i + 1]):
            values[i] += np.log(scales[row]) if scales[row] >= SAFE_SCALE else np.nan

    # Divided by the same scales on the way back, alpha and beta agree: their products sum to one everywhere.
    for t in range(most - 1, -1, -1):
        count = step(offsets, members, t, rows, places)
        for j in range(count):
            row, back = rows[j], beta[places[j]]
            if not abs(_multiplied(alpha[row, :k], back[:k], means[row]) - 1.0) < SAFE_DRIFT:
                values[members[places[j]]] = np.nan
            inverse, weight = 1.0 / scales[row], ahead[row]
            for m in range(weight.size):
                weight[m] *= back[m] * inverse
            if t > 0:
                back[:] = 0.0
        if t > 0:
            filled = fill_up(rows, places, count, spare, SIDE_BY_SIDE)
            add_products(ahead, rows[:filled], turned, beta, places[:filled])


@njit(cache=True, nogil=True, error_model="numpy")
def soft_paths(
    nodes: Array,
    transitions: Array,
    offsets: Ints,
    order: Ints,
    first: Array,
    between: Array,
    last: Array,
    temperature: float,
    values: Array,
    means: Array,
    alpha: Array,
    ahead: Array,
    scaled: Bools,
    pairs: Array,
) -> tuple[Array, Array]:
    """Forward-backward: temperature * log sum over paths of exp(score / temperature), and the means of nodes.

    `alpha` and `ahead` have TOGETHER spare rows at the end. Examples that are not `scaled` were done on logarithms.
    Return the factors and, if need was, the units of the last table; where examples have tables of their own, add
    their means to `pairs`.
    """
    n_rows, k = nodes.shape
    width, inverse = alpha.shape[1], 1.0 / temperature
    alpha[n_rows:] = ahead[n_rows:] = 0.0
    beta, scales = np.zeros((SIDE_BY_SIDE + TOGETHER, width)), np.empty(n_rows)
    factor, turned, units = np.empty((0, width)), np.empty((0, width)), np.empty((0, width))
    starts, ends = np.zeros(width), np.zeros(width)
    starts[:k], ends[:k] = np.exp(first), np.exp(last)
    rows, places = np.empty(SIDE_BY_SIDE + TOGETHER, np.int64), np.empty(SIDE_BY_SIDE + TOGETHER, np.int64)
    bits = np.empty(longest(offsets, order) * width, np.int64)
    top, safe, free, has_units, ones = 0.0, False, (between == 0.0).all(), False, np.ones(order.size)
    begin = 0
    while begin < order.size:
        end = group_end(transitions, begin, order.size)
        members = order[begin:end]
        table = transitions[min(begin, len(transitions) - 1)]
        if begin < len(transitions):
            top, span = _span(table, between)
            safe, has_units = span <= SAFE_RANGE * temperature, False
            if safe:
                if len(factor) == 0:
                    factor, turned = np.empty((width, width)), np.empty((width, width))
                _write_factors(table, between, top, temperature, factor, turned, bits)
        for i in members:
            own = slice(offsets[i], offsets[i + 1])
            values[i], scaled[i] = np.nan, safe
            if safe:
                peaks = _exponentials_of_nodes(nodes[own], inverse, ahead[own], bits[: (own.stop - own.start) * width])
                values[i] = (peaks + (own.stop - own.start - 1) * top) * inverse
                if peaks == -np.inf:
                    alpha[own] = ahead[own] = 0.0
                elif not free and _loses(nodes[own], ahead[own]):
                    values[i] = np.nan
        if safe:
            _scaled_sums(
                offsets, members, factor, turned, starts, ends, alpha, beta, ahead, scales, rows, places, values, means
            )
        for i in members:
            own = slice(offsets[i], offsets[i + 1])
            if np.isnan(values[i]):
                if not has_units:
                    if len(units) == 0:
                        units = np.empty((k, width))
                    _write_units(table, between, inverse, units)
                    has_units = True
                scaled[i] = False
                values[i] = log_sums(nodes[own], units, inverse, first, last, alpha[own], means[own])
            if values[i] == -np.inf:
                means[own] = alpha[own] = ahead[own] = 0.0
            values[i] *= temperature
        if len(pairs):
            add_soft_pairs(factor, units, offsets, members, ones, means, alpha, ahead, scaled, pairs)
        begin = end
    return factor, units
