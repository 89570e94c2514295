"""Soft maxima over the paths of batches of chains, whose scores are those of chain.py.

Rows of work arrays are padded with zeros, see products.py. What forward and backward leave of an example says what its
means of pairs are: products of `alpha` and `ahead` with the factors of its table, or, where it was done on logarithms,
shares of the means of nodes (chain_logarithms.py). They are made of that where they are wanted.
"""

import numpy as np
from numba import njit

from maximand.numerics.chain import SIDE_BY_SIDE, group_end, longest, same, step
from maximand.numerics.chain_logarithms import add_log_pairs, log_sums
from maximand.numerics.exponential import exponentials
from maximand.numerics.products import LANES, TOGETHER, add_pairs, add_products, fill_up
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
def factors_of(table: Array, between: Array, temperature: float, factor: Array, turned: Array) -> tuple[float, bool]:
    """Write exp((table + between - top) / temperature) and its transpose; return the top, and whether that is safe."""
    k = len(table)
    top, bottom = -np.inf, np.inf
    for l in range(k):
        for m in range(k):
            score = table[l, m] + between[l, m]
            if score > -np.inf:
                top, bottom = max(top, score), min(bottom, score)
    safe = top - bottom <= SAFE_RANGE * temperature
    if top == -np.inf:
        top = 0.0
    bits = np.empty(factor.shape[1], np.int64)
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
    return top, safe


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
) -> None:
    """Forward-backward: temperature * log sum over paths of exp(score / temperature), and the means of nodes.

    `alpha` and `ahead` have TOGETHER spare rows at the end. Examples that are not `scaled` were done on logarithms.
    Consecutive examples often have equal transitions; their exponentials are then taken once.
    """
    n_rows, k = nodes.shape
    width, inverse = alpha.shape[1], 1.0 / temperature
    alpha[n_rows:] = ahead[n_rows:] = 0.0
    beta, scales = np.zeros((SIDE_BY_SIDE + TOGETHER, width)), np.empty(n_rows)
    factor, turned, units = np.empty((width, width)), np.empty((width, width)), np.empty((0, 0))
    starts, ends = np.zeros(width), np.zeros(width)
    starts[:k], ends[:k] = np.exp(first), np.exp(last)
    rows, places = np.empty(SIDE_BY_SIDE + TOGETHER, np.int64), np.empty(SIDE_BY_SIDE + TOGETHER, np.int64)
    bits = np.empty(longest(offsets, order) * width, np.int64)
    top, safe, free = 0.0, False, (between == 0.0).all()
    begin = 0
    while begin < order.size:
        end = group_end(transitions, begin, order.size)
        members = order[begin:end]
        if begin < len(transitions):
            top, safe = factors_of(transitions[begin], between, temperature, factor, turned)
            units = np.empty((0, 0))
        for i in members:
            own = slice(offsets[i], offsets[i + 1])
            peaks = _exponentials_of_nodes(nodes[own], inverse, ahead[own], bits[: (own.stop - own.start) * width])
            values[i] = (peaks + (own.stop - own.start - 1) * top) * inverse if safe else np.nan
            scaled[i] = True
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
                if units.size == 0:
                    units = units_of(transitions[min(begin, len(transitions) - 1)], between, inverse, width)
                scaled[i] = False
                values[i] = log_sums(nodes[own], units, inverse, first, last, alpha[own], means[own])
            if values[i] == -np.inf:
                means[own] = alpha[own] = ahead[own] = 0.0
            values[i] *= temperature
        begin = end


@njit(cache=True, nogil=True)
def units_of(table: Array, between: Array, inverse: float, width: int) -> Array:
    """Return the transpose of a table, in units of the temperature and padded."""
    k = len(table)
    units = np.full((k, width), -np.inf)
    for l in range(k):
        for m in range(k):
            units[m, l] = (table[l, m] + between[l, m]) * inverse
    return units


@njit(cache=True, nogil=True)
def _units(table, between, temperature, scaled, width):  # type: ignore[no-untyped-def]
    """Return them where an example needs them."""
    return np.empty((0, width)) if scaled.all() else units_of(table, between, 1.0 / temperature, width)


@njit(cache=True, nogil=True)
def _add_pairs(examples, factor, units, offsets, weights, means, alpha, ahead, scaled, products, out):  # type: ignore[no-untyped-def]
    """Add the weighted means of the pairs of some examples; `products` is room."""
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
        products[:] = 0.0
        add_pairs(alpha, rows, ahead, rows + 1, factors, products)
        for l in range(k):
            for m in range(k):
                out[l, m] += products[l, m] * factor[l, m]
    for i in examples:
        if not scaled[i]:
            own = slice(offsets[i], offsets[i + 1])
            add_log_pairs(alpha[own], units, means[own], weights[i], out)


@njit(cache=True, nogil=True)
def add_soft_pairs(
    transitions: Array,
    between: Array,
    temperature: float,
    offsets: Ints,
    weights: Array,
    means: Array,
    alpha: Array,
    ahead: Array,
    scaled: Bools,
    out: Array,
) -> None:
    """Add the weighted means of pairs, given what forward-backward left, to a table for each example.

    Where they have one table of scores, there may be one for all.
    """
    n, width = scaled.size, alpha.shape[1]
    factor, products, units = np.empty((width, width)), np.empty((width, width)), np.empty((0, width))
    for o in range(len(out)):
        if o == 0 or (o < len(transitions) and not same(transitions[o], transitions[o - 1])):
            factors_of(transitions[o], between, temperature, factor, products)
            units = _units(transitions[o], between, temperature, scaled, width)
        examples = np.arange(n) if len(out) == 1 else np.arange(o, o + 1)
        _add_pairs(examples, factor, units, offsets, weights, means, alpha, ahead, scaled, products, out[o])


@njit(cache=True, nogil=True)
def soft_pair_scores(
    transitions: Array,
    between: Array,
    temperature: float,
    offsets: Ints,
    means: Array,
    alpha: Array,
    ahead: Array,
    scaled: Bools,
    others: Array,
    scores: Array,
) -> None:
    """Add to the scores of examples, which share one table, what other tables score at their means of pairs."""
    k, width = means.shape[1], alpha.shape[1]
    factor, products, pairs = np.empty((width, width)), np.empty((width, width)), np.empty((k, k))
    factors_of(transitions[0], between, temperature, factor, products)
    units, ones = _units(transitions[0], between, temperature, scaled, width), np.ones(scaled.size)
    for i in range(scaled.size):
        pairs[:] = 0.0
        examples, other = np.arange(i, i + 1), others[min(i, len(others) - 1)]
        _add_pairs(examples, factor, units, offsets, ones, means, alpha, ahead, scaled, products, pairs)
        for l in range(k):
            for m in range(k):
                if pairs[l, m] > 0.0:
                    scores[i] += pairs[l, m] * other[l, m]
