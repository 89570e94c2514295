"""Dual ascent for choices among labels where only some pairs of a feature and a label have a weight.

As in numerics.simplex_blocks, but that the curvature q_l of a block is that of the features which have a weight with
the label l: with W' x = scores the problem of one block is

    maximise  mu @ (scores + costs) - sum_l q_l/2 (mu_l - mu_old_l)^2  on the simplex,

with q_l = share_i |x_l|^2 / regularization: a projection onto the simplex in another metric. Pairs are listed as in
numerics.rows; `holes` says of each feature whether some listed pair has no weight, and `there` which have one.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.support import Array, Bools, Ints

FLAT = 0.01  # a smaller share of the largest curvature counts as much: steps are shorter then, and never wrong


class Pairs(NamedTuple):
    """Which pairs have a weight: feature f has those listed at starts[f]:starts[f+1] that are `there`."""

    starts: Ints
    labels: Ints
    there: Ints
    holes: Bools


def pairs_of(starts: Ints, labels: Ints, places: Ints) -> Pairs:
    """Return the pairs listed, of which those at `places` have a weight."""
    there = np.zeros(labels.size, dtype=np.uint8)
    there[places] = 1
    count = np.concatenate([[0], np.cumsum(there)])
    return Pairs(starts, labels, there, np.diff(count[starts]) < np.diff(starts))


@njit(cache=True, nogil=True)
def lengths_of_pairs(indptr: Ints, indices: Ints, data: Array, pairs: Pairs, n_labels: int, bias: float) -> Array:
    """Return 1 / |x_l|^2, (row, label), of the features that have a weight with the label; zeros in empty rows."""
    squared = np.full((indptr.size - 1, n_labels), bias)
    starts, labels, there, holes = pairs
    width = squared.shape[1]
    for r in range(indptr.size - 1):
        row, common = squared[r], 0.0
        for j in range(indptr[r], indptr[r + 1]):
            square, start, stop = data[j] * data[j], starts[indices[j]], starts[indices[j] + 1]
            if stop - start == width and not holes[indices[j]]:
                common += square
            elif stop - start == width:
                present = there[start:stop]
                for l in range(width):
                    row[l] += square * present[l]
            else:
                for p in range(start, stop):
                    row[labels[p]] += square * there[p]
        row += common
        least = FLAT * row.max()
        for l in range(width):
            row[l] = 1.0 / max(row[l], least) if least > 0.0 else 0.0
    return squared


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nnan", "nsz"})
def project_stretched(point, stretch, threshold, out):  # type: ignore[no-untyped-def]
    """Write the mu on the simplex that minimises sum_l (mu_l - point_l)^2 / stretch_l: max(0, point - t * stretch).

    The threshold t rises, from one that is not too high, until the entries above it sum to one.
    """
    k = point.size
    count = k + 1.0
    while True:
        total, width, remaining = 0.0, 0.0, 0.0
        for l in range(k):
            above = point[l] > threshold * stretch[l]
            total += point[l] if above else 0.0
            width += stretch[l] if above else 0.0
            remaining += 1.0 if above else 0.0
        if remaining == 0.0 or remaining >= count:  # settled, but for rounding
            break
        threshold = (total - 1.0) / width
        count = remaining
    for l in range(k):
        out[l] = max(0.0, point[l] - threshold * stretch[l])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nnan", "nsz"})
def _step(scores, costs, mean, share, length, regularization, stretch, point, change):  # type: ignore[no-untyped-def]
    """Solve one block given its scores; return its violation.

    Leaves in `change` that of the mean times -share / regularization; zeros where there is none.
    """
    k = scores.size
    top, average = -np.inf, 0.0
    for l in range(k):
        scores[l] += costs[l]
        top = max(top, scores[l])
        average += mean[l] * scores[l]
    if top - average <= 1e-14 * max(1.0, abs(top)) or share == 0.0:
        change[:] = 0.0
        return share * (top - average)
    factor = share / regularization
    best = np.argmax(scores)
    if length[best] > 0.0:
        unit = 1.0 / factor
        for l in range(k):
            stretch[l] = unit * length[l]
            point[l] = mean[l] + (scores[l] - top) * stretch[l]
        project_stretched(point, stretch, (mean[best] - 1.0) / stretch[best], change)
    else:
        change[:] = 0.0
        change[best] = 1.0
    for l in range(k):
        new = change[l]
        change[l] = (mean[l] - new) * factor
        mean[l] = new
    return share * (top - average)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _add_whole(begin, end, at, by, weights, scores):  # type: ignore[no-untyped-def]
    """Add multiples of whole lists to the scores, four at a time."""
    width = scores.size
    split = end - (end - begin) % 4
    for b in range(begin, split, 4):
        first, second = weights[at[b] : at[b] + width], weights[at[b + 1] : at[b + 1] + width]
        third, fourth = weights[at[b + 2] : at[b + 2] + width], weights[at[b + 3] : at[b + 3] + width]
        p, q, r, s = by[b], by[b + 1], by[b + 2], by[b + 3]
        for l in range(width):
            scores[l] += (p * first[l] + q * second[l]) + (r * third[l] + s * fourth[l])
    for b in range(split, end):
        source, p = weights[at[b] : at[b] + width], by[b]
        for l in range(width):
            scores[l] += p * source[l]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def ascend_pairs(
    rows: Ints,
    indptr: Ints,
    indices: Ints,
    data: Array,
    pairs: Pairs,
    costs: Array,
    cost_row: Ints,
    mean: Array,
    share: Array,
    length: Array,
    regularization: float,
    weights: Array,
    bias: Array,
    violation: Array,
) -> None:
    """Visit the rows in order; weights (listed pair) and bias (column, or empty) follow the means."""
    starts, labels, there, holes = pairs
    width, k = length.shape[1], mean.shape[1]
    per_row, most = width // k, 0
    for i in range(indptr.size - 1):
        most = max(most, indptr[i + 1] - indptr[i])
    at, by = np.empty(most, np.int64), np.empty(most)  # lists of all labels: those with a weight each, then with holes
    short = np.empty(most, np.int64)  # where the others are
    scores, change, stretch, point = np.empty(width), np.empty(width), np.empty(k), np.empty(k)
    for visit in range(rows.size):
        i = rows[visit]
        for l in range(width):
            scores[l] = bias[l] if bias.size else 0.0
        complete, holed, n_short = 0, most, 0
        for j in range(indptr[i], indptr[i + 1]):
            value, start, stop = data[j], starts[indices[j]], starts[indices[j] + 1]
            if stop - start < width:
                for p in range(start, stop):
                    scores[labels[p]] += value * weights[p]
                short[n_short] = j
                n_short += 1
            elif holes[indices[j]]:
                holed -= 1
                at[holed], by[holed] = start, value
            else:
                at[complete], by[complete] = start, value
                complete += 1
        _add_whole(0, complete, at, by, weights, scores)
        _add_whole(holed, most, at, by, weights, scores)
        violation[visit] = 0.0
        for c in range(per_row):
            slot, begin, end = i * per_row + c, c * k, (c + 1) * k
            violation[visit] += _step(
                scores[begin:end], costs[cost_row[slot]], mean[slot], share[i], length[i, begin:end], regularization,
                stretch, point, change[begin:end],
            )  # fmt: skip
        if not change.any():
            continue
        for b in range(complete):
            value, target = by[b], weights[at[b] : at[b] + width]
            for l in range(width):
                target[l] += value * change[l]
        for b in range(holed, most):
            value, target, present = by[b], weights[at[b] : at[b] + width], there[at[b] : at[b] + width]
            for l in range(width):
                target[l] += value * change[l] * present[l]
        for j in short[:n_short]:
            for p in range(starts[indices[j]], starts[indices[j] + 1]):
                weights[p] += data[j] * change[labels[p]] * there[p]
        for l in range(bias.size):
            bias[l] += change[l]
