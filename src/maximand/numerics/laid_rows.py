"""Products of CSR rows with a list of weights, as in numerics.rows, where the rows are laid out for many passes.

For each row follow each other: the features that are listed with all labels, by their first weights, those last of
whose pairs some have no weight, and one by one the pairs of the others. No branch depends on what a feature is, which
is where single passes spend their time.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.support import Array, Bools, Ints


class LaidRows(NamedTuple):
    """Row r has whole lists from first[wholes[r]:wholes[r+1]] on, times factor, and pairs[singles[r]:singles[r+1]].

    From holed[r] on, whole lists have pairs without a weight.
    """

    wholes: Ints
    holed: Ints
    first: Ints
    factor: Array
    singles: Ints
    pairs: Ints
    labels: Ints
    value: Array


@njit(cache=True, nogil=True)
def lay_out(
    indptr: Ints, indices: Ints, data: Array, starts: Ints, labels: Ints, holes: Bools, n_labels: int
) -> LaidRows:
    """Lay rows out; `holes` says of which features some pair that is listed has no weight."""
    wholes, holed, singles = np.zeros((3, indptr.size), dtype=np.int64)
    for r in range(indptr.size - 1):
        complete, with_holes, single = 0, 0, 0
        for j in range(indptr[r], indptr[r + 1]):
            length, hole = starts[indices[j] + 1] - starts[indices[j]], holes[indices[j]]
            whole = length == n_labels
            complete += whole and not hole
            with_holes += whole and hole
            single += 0 if whole else length
        holed[r] = wholes[r] + complete
        wholes[r + 1], singles[r + 1] = holed[r] + with_holes, singles[r] + single
    first, factor = np.empty(wholes[-1], dtype=starts.dtype), np.empty(wholes[-1])
    pairs, own = np.empty(singles[-1], dtype=starts.dtype), np.empty(singles[-1], dtype=labels.dtype)
    value = np.empty(singles[-1])
    for r in range(indptr.size - 1):
        w, h, s = wholes[r], holed[r], singles[r]
        for j in range(indptr[r], indptr[r + 1]):
            start, stop = starts[indices[j]], starts[indices[j] + 1]
            if stop - start < n_labels:
                for p in range(start, stop):
                    pairs[s], own[s], value[s] = p, labels[p], data[j]
                    s += 1
            elif holes[indices[j]]:
                first[h], factor[h] = start, data[j]
                h += 1
            else:
                first[w], factor[w] = start, data[j]
                w += 1
    return LaidRows(wholes, holed, first, factor, singles, pairs, own, value)


def some_rows(laid: LaidRows, rows: slice) -> LaidRows:
    """Return consecutive rows, which share the memory."""
    ends = slice(rows.start, rows.stop + 1)
    return laid._replace(wholes=laid.wholes[ends], holed=laid.holed[ends], singles=laid.singles[ends])


@njit(cache=True, nogil=True)
def laid_scores(laid: LaidRows, weights: Array, out: Array) -> None:
    """Add to out[r, labels[p]] the sum of x[r, f] * weights[p] over the pairs p of the features of row r."""
    wholes, _, first, factor, singles, pairs, labels, value = laid
    for r in range(len(out)):
        row = out[r]
        for q in range(wholes[r], wholes[r + 1]):
            source = weights[first[q] : first[q] + row.size]
            for l in range(row.size):
                row[l] += factor[q] * source[l]
        for q in range(singles[r], singles[r + 1]):
            row[labels[q]] += value[q] * weights[pairs[q]]


@njit(cache=True, nogil=True)
def laid_sums(laid: LaidRows, mean: Array, out: Array) -> None:
    """Add to out[p] the sum over rows of x[r, f] * mean[r, labels[p]]."""
    wholes, _, first, factor, singles, pairs, labels, value = laid
    for r in range(len(mean)):
        row = mean[r]
        for q in range(wholes[r], wholes[r + 1]):
            target = out[first[q] : first[q] + row.size]
            for l in range(row.size):
                target[l] += factor[q] * row[l]
        for q in range(singles[r], singles[r + 1]):
            out[pairs[q]] += value[q] * row[labels[q]]
