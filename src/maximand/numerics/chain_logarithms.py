"""Forward-backward on logarithms for a single chain: for any range of scores and any temperature.

Scores are in units of the temperature. On the way back nothing is summed up on logarithms again: the mean of a label is
shared out among the labels before it, in proportion to what they bring. Where few labels have a mean worth mentioning,
as at low temperatures, there is little to share out.
"""

import numpy as np
from numba import njit

from maximand.numerics.exponential import exponentials
from maximand.numerics.inner import inner
from maximand.support import Array, Ints

AT_ONCE = 2048  # terms
FAR_BELOW = -50.0  # the logarithm of a term, in relation to the largest, that does not count in a sum of many
NEGLIGIBLE = 1e-40  # a mean of which the shares do not count


@inner(fastmath={"reassoc", "nnan", "nsz"})
def _add(vector, other, out):  # type: ignore[no-untyped-def]
    """Write the sum of two vectors and return its largest entry."""
    top = -np.inf
    for m in range(out.size):
        out[m] = vector[m] + other[m]
        top = max(top, out[m])
    return top


@inner()
def _list_terms(before, units, labels, row, terms, sources, ends, tops):  # type: ignore[no-untyped-def]
    """List what labels before bring to some labels, relative to the most: the terms of label j end at ends[j]."""
    count = 0
    for j in range(labels.size):
        top = _add(before, units[labels[j]], row)
        tops[j] = top
        if top > -np.inf:
            least = top + FAR_BELOW
            for l in range(row.size):
                terms[count], sources[count] = row[l] - top, l
                count += row[l] >= least
        ends[j] = count
    exponentials(terms[:count])


@inner()
def _room(width: int) -> tuple[Array, Array, Ints, Ints, Array]:
    """Return room for rows, terms, their sources, their ends and tops."""
    height = max(1, AT_ONCE // width)
    size = height * width
    return (
        np.empty(width),
        np.empty(size + 1),
        np.empty(size + 1, np.int64),
        np.empty(height, np.int64),
        np.empty(height),
    )


@inner()
def _sum(terms):  # type: ignore[no-untyped-def]
    total = 0.0
    for term in terms:
        total += term
    return total


@inner()
def _worth_sharing(mean, begin, labels):  # type: ignore[no-untyped-def]
    """List labels from `begin` on whose mean is not negligible; return their number, and where to go on."""
    count, m = 0, begin
    while m < mean.size and count < labels.size:
        if mean[m] > NEGLIGIBLE:
            labels[count] = m
            count += 1
        m += 1
    return count, m


@njit(cache=True, nogil=True)
def log_sums(
    nodes: Array,
    units: Array,
    offsets: Ints,
    examples: Ints,
    inverse: float,
    first: Array,
    last: Array,
    alpha: Array,
    means: Array,
    values: Array,
) -> None:
    """Write the logarithms of the sums over all paths, the means of nodes, and what forward finds into `alpha`.

    `units` has transposed tables, padded with -inf, for each example or one for all.
    """
    k, width = means.shape[1], alpha.shape[1]
    row, terms, sources, ends, tops = _room(width)
    labels = np.empty(tops.size, np.int64)
    for i in examples:
        start, stop, table = offsets[i], offsets[i + 1], units[min(i, len(units) - 1)]
        for t in range(start, stop):
            for m in range(width):
                alpha[t, m] = -np.inf if m >= k else nodes[t, m] * inverse + (first[m] if t == start else 0.0)
            if t == start:
                continue
            for begin in range(0, k, labels.size):
                count = min(labels.size, k - begin)
                for j in range(count):
                    labels[j] = begin + j
                _list_terms(alpha[t - 1], table, labels[:count], row, terms, sources, ends, tops)
                place = 0
                for j in range(count):
                    total = _sum(terms[place : ends[j]])
                    place = ends[j]
                    alpha[t, begin + j] += tops[j]
                    if total > 1.0:
                        alpha[t, begin + j] += np.log(total)
        final, top, total = means[stop - 1], -np.inf, 0.0
        for m in range(k):
            final[m] = alpha[stop - 1, m] + last[m]
            top = max(top, final[m])
        values[i] = top
        if top == -np.inf:
            means[start:stop] = 0.0
            continue
        for m in range(k):
            final[m] = np.exp(final[m] - top)
            total += final[m]
        for m in range(k):
            final[m] /= total
        values[i] += np.log(total)
        for t in range(stop - 1, start, -1):
            means[t - 1] = 0.0
            begin = 0
            while begin < k:
                count, begin = _worth_sharing(means[t], begin, labels)
                _list_terms(alpha[t - 1], table, labels[:count], row, terms, sources, ends, tops)
                place = 0
                for j in range(count):
                    share = means[t, labels[j]] / _sum(terms[place : ends[j]])
                    for p in range(place, ends[j]):
                        means[t - 1, sources[p]] += share * terms[p]
                    place = ends[j]


@njit(cache=True, nogil=True)
def add_log_pairs(
    alpha: Array, units: Array, offsets: Ints, examples: Ints, weights: Array, means: Array, out: Array
) -> None:
    """Add the weighted means of pairs, given what `log_sums` left."""
    k = means.shape[1]
    row, terms, sources, ends, tops = _room(units.shape[2])
    labels = np.empty(tops.size, np.int64)
    for i in examples:
        table, pairs, weight = units[min(i, len(units) - 1)], out[min(i, len(out) - 1)], weights[i]
        for t in range(offsets[i] + 1, offsets[i + 1]):
            begin = 0
            while begin < k:
                count, begin = _worth_sharing(means[t], begin, labels)
                _list_terms(alpha[t - 1], table, labels[:count], row, terms, sources, ends, tops)
                place = 0
                for j in range(count):
                    share = weight * means[t, labels[j]] / _sum(terms[place : ends[j]])
                    for p in range(place, ends[j]):
                        pairs[sources[p], labels[j]] += share * terms[p]
                    place = ends[j]
