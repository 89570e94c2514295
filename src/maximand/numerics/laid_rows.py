"""Products of CSR rows with a list of weights, as in numerics.rows, where the rows are laid out for many passes.

For each row follow each other: the features that are listed with all labels, by their first weights, and one by one
the pairs of the others. No branch depends on what a feature is, which is where single passes spend their time.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.support import Array, Ints


class LaidRows(NamedTuple):
    """Row r has whole lists from first[wholes[r]:wholes[r+1]] on, times factor, and pairs[singles[r]:singles[r+1]]."""

    wholes: Ints
    first: Ints
    factor: Array
    singles: Ints
    pairs: Ints
    labels: Ints
    value: Array


@njit(cache=True, nogil=True)
def lay_out(indptr: Ints, indices: Ints, data: Array, starts: Ints, labels: Ints, n_labels: int) -> LaidRows:
    """Lay rows out."""
    wholes, singles = np.zeros(indptr.size, dtype=np.int64), np.zeros(indptr.size, dtype=np.int64)
    for r in range(indptr.size - 1):
        wholes[r + 1], singles[r + 1] = wholes[r], singles[r]
        for j in range(indptr[r], indptr[r + 1]):
            length = starts[indices[j] + 1] - starts[indices[j]]
            whole = length == n_labels
            wholes[r + 1] += whole
            singles[r + 1] += 0 if whole else length
    first, factor = np.empty(wholes[-1], dtype=starts.dtype), np.empty(wholes[-1])
    pairs, own = np.empty(singles[-1], dtype=starts.dtype), np.empty(singles[-1], dtype=labels.dtype)
    value = np.empty(singles[-1])
    w, s = 0, 0
    for r in range(indptr.size - 1):
        for j in range(indptr[r], indptr[r + 1]):
            start, stop = starts[indices[j]], starts[indices[j] + 1]
            if stop - start == n_labels:
                first[w], factor[w] = start, data[j]
                w += 1
            else:
                for p in range(start, stop):
                    pairs[s], own[s], value[s] = p, labels[p], data[j]
                    s += 1
    return LaidRows(wholes, first, factor, singles, pairs, own, value)


@njit(cache=True, nogil=True)
def laid_scores(laid: LaidRows, weights: Array, out: Array) -> None:
    """Add to out[r, labels[p]] the sum of x[r, f] * weights[p] over the pairs p of the features of row r."""
    wholes, first, factor, singles, pairs, labels, value = laid
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
    wholes, first, factor, singles, pairs, labels, value = laid
    for r in range(len(mean)):
        row = mean[r]
        for q in range(wholes[r], wholes[r + 1]):
            target = out[first[q] : first[q] + row.size]
            for l in range(row.size):
                target[l] += factor[q] * row[l]
        for q in range(singles[r], singles[r + 1]):
            out[pairs[q]] += value[q] * row[labels[q]]
