"""Products of CSR rows with weights per (feature, label), and their transposes.

The weights are either all pairs, weights[f, l], or a list of pairs: feature f owns weights[starts[f]:starts[f+1]]
and labels[p] names the label of weight p.
"""

import numpy as np
from numba import njit

from maximand.support import Array, Bools, Ints

FEW = 8  # an eighth of the labels are added one by one as soon as all of them side by side


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def add_scores(begin: int, end: int, indices: Ints, data: Array, weights: Array, out: Array) -> None:
    """out[l] += sum_j data[j] * weights[indices[j], l], four features at a time."""
    n_labels = weights.shape[1]
    whole = end - (end - begin) % 4
    for j in range(begin, whole, 4):
        a, b, c, d = data[j], data[j + 1], data[j + 2], data[j + 3]
        first, second = weights[indices[j]], weights[indices[j + 1]]
        third, fourth = weights[indices[j + 2]], weights[indices[j + 3]]
        for l in range(n_labels):
            out[l] += (a * first[l] + b * second[l]) + (c * third[l] + d * fourth[l])
    for j in range(whole, end):
        a, first = data[j], weights[indices[j]]
        for l in range(n_labels):
            out[l] += a * first[l]


@njit(cache=True, nogil=True)
def scores(indptr: Ints, indices: Ints, data: Array, weights: Array, out: Array) -> None:
    """out[r, l] += sum_f x[r, f] * weights[f, l]."""
    for r in range(indptr.size - 1):
        add_scores(indptr[r], indptr[r + 1], indices, data, weights, out[r])


@njit(cache=True, nogil=True)
def sums(indptr: Ints, indices: Ints, data: Array, mean: Array, out: Array) -> None:
    """out[f, l] += sum_r x[r, f] * mean[r, l]."""
    n_labels = mean.shape[1]
    for r in range(indptr.size - 1):
        row, count = mean[r], 0
        for l in range(n_labels):
            count += row[l] != 0.0
        if FEW * count < n_labels:
            for l in range(n_labels):
                if row[l] != 0.0:
                    for j in range(indptr[r], indptr[r + 1]):
                        out[indices[j], l] += data[j] * row[l]
            continue
        for j in range(indptr[r], indptr[r + 1]):
            value = data[j]
            target = out[indices[j]]
            for l in range(n_labels):
                target[l] += value * row[l]


@njit(cache=True, nogil=True)
def pair_scores(
    indptr: Ints, indices: Ints, data: Array, starts: Ints, labels: Ints, weights: Array, out: Array
) -> None:
    """Add to out[r, labels[p]] the sum of x[r, f] * weights[p] over the pairs p of the features of row r."""
    for r in range(indptr.size - 1):
        row = out[r]
        for j in range(indptr[r], indptr[r + 1]):
            value, start, stop = data[j], starts[indices[j]], starts[indices[j] + 1]
            if stop - start == row.size:
                source = weights[start:stop]
                for l in range(row.size):
                    row[l] += value * source[l]
            else:
                for p in range(start, stop):
                    row[labels[p]] += value * weights[p]


@njit(cache=True, nogil=True)
def seen_scores(
    indptr: Ints, indices: Ints, data: Array, firsts: Ints, places: Ints, labels: Ints, weights: Array, out: Array
) -> None:
    """Do what `pair_scores` does, given only the weights of pairs that were seen.

    Feature f owns weights[firsts[f]:firsts[f+1]], and places[p] is the place of weight p among the pairs listed.
    """
    for r in range(indptr.size - 1):
        row = out[r]
        for j in range(indptr[r], indptr[r + 1]):
            value = data[j]
            for p in range(firsts[indices[j]], firsts[indices[j] + 1]):
                row[labels[places[p]]] += value * weights[p]


@njit(cache=True, nogil=True)
def pair_sums(indptr: Ints, indices: Ints, data: Array, starts: Ints, labels: Ints, mean: Array, out: Array) -> None:
    """Add to out[p] the sum over rows of x[r, f] * mean[r, labels[p]]."""
    for r in range(indptr.size - 1):
        row = mean[r]
        if not row.any():
            continue
        for j in range(indptr[r], indptr[r + 1]):
            value, start, stop = data[j], starts[indices[j]], starts[indices[j] + 1]
            if stop - start == row.size:
                target = out[start:stop]
                for l in range(row.size):
                    target[l] += value * row[l]
            else:
                for p in range(start, stop):
                    out[p] += value * row[labels[p]]


@njit(cache=True, nogil=True)
def clear(indptr: Ints, indices: Ints, change: Array, starts: Ints, places: Ints, out: Array) -> None:
    """Put zeros into the pairs of the features of rows with a change, but for those at the places, which are in order.

    The change has equally many numbers for each row, side by side.
    """
    flat, n = change.reshape(-1), indptr.size - 1
    width = flat.size // n
    for r in range(n):
        if not flat[r * width : (r + 1) * width].any():
            continue
        for j in range(indptr[r], indptr[r + 1]):
            start, stop = starts[indices[j]], starts[indices[j] + 1]
            q = np.searchsorted(places, start)
            for p in range(start, stop):
                if q < places.size and places[q] == p:
                    q += 1
                else:
                    out[p] = 0.0


@njit(cache=True, nogil=True)
def with_rows_added(vector: Array, table: Array, chosen: Ints, weights: Array, factor: float) -> Array:
    """Return the vector with factor * weights[r] * table[chosen[r]] added to its r-th row; empty weights are ones.

    The rows, as long as those of the table, are the beginning of the vector.
    """
    out = vector.copy()
    k = table.shape[1]
    for r in range(chosen.size):
        row, target = table[chosen[r]], out[r * k : (r + 1) * k]
        scale = factor * weights[r] if weights.size else factor
        for l in range(k):
            target[l] += scale * row[l]
    return out


@njit(cache=True, nogil=True)
def seen_pairs(indptr: Ints, indices: Ints, allowed: Bools, n_features: int, crowded: float) -> tuple[Ints, Ints, Ints]:
    """List the (feature, label) pairs that occur: feature in a row, label allowed in it, not all labels allowed.

    Returns starts and labels as described at the top of this file, and the places of the pairs that occur. A feature
    seen with more than a share `crowded` of the labels is listed with all of them: whole rows are faster.
    """
    n_labels = allowed.shape[1]
    seen, own = np.zeros((n_features, n_labels), dtype=np.bool_), np.empty(n_labels, dtype=np.int64)
    for r in range(indptr.size - 1):
        n_allowed = 0
        for l in range(n_labels):
            if allowed[r, l]:
                own[n_allowed] = l
                n_allowed += 1
        if n_allowed == n_labels:
            continue
        for j in range(indptr[r], indptr[r + 1]):
            for l in own[:n_allowed]:
                seen[indices[j], l] = True
    starts = np.zeros(n_features + 1, dtype=np.int64)
    for f in range(n_features):
        count = seen[f].sum()
        starts[f + 1] = starts[f] + (n_labels if count > crowded * n_labels else count)
    labels = np.empty(starts[-1], dtype=np.int32)
    places = np.empty(seen.sum(), dtype=np.int64)
    p, q = 0, 0
    for f in range(n_features):
        whole = starts[f + 1] - starts[f] == n_labels
        for l in range(n_labels):
            if seen[f, l]:
                places[q] = p
                q += 1
            if seen[f, l] or whole:
                labels[p] = l
                p += 1
    return starts, labels, places
