"""Dual ascent for choices among labels where only some pairs of a feature and a label have a weight.

As in numerics.simplex_blocks, but that the curvature q_l of a block is that of the features which have a weight with
the label l: with W' x = scores the problem of one block is

    maximise  mu @ (scores + costs) - sum_l q_l/2 (mu_l - mu_old_l)^2  on the simplex,

with q_l = share_i |x_l|^2 / regularization: a projection onto the simplex in another metric. Rows are laid out as in
numerics.laid_rows; `there` says which of the pairs listed have a weight.
"""

import numpy as np
from numba import njit

from maximand.numerics.laid_rows import LaidRows
from maximand.support import Array, Ints

FLAT = 0.01  # a smaller share of the largest curvature counts as much: steps are shorter then, and never wrong


def flags(places: Ints, n_listed: int) -> Ints:
    """Return which of the pairs listed are at the places."""
    there = np.zeros(n_listed, dtype=np.uint8)
    there[places] = 1
    return there


@njit(cache=True, nogil=True)
def inverse_lengths(laid: LaidRows, there: Ints, n_labels: int, bias: float) -> Array:
    """Return 1 / |x_l|^2, (row, label), of the features that have a weight with the label; zeros in empty rows."""
    wholes, holed, first, factor, singles, _, labels, value = laid
    squared = np.full((wholes.size - 1, n_labels), bias)
    for r in range(len(squared)):
        row, common = squared[r], 0.0
        for q in range(wholes[r], holed[r]):
            common += factor[q] * factor[q]
        for q in range(holed[r], wholes[r + 1]):
            square, present = factor[q] * factor[q], there[first[q] : first[q] + n_labels]
            for l in range(n_labels):
                row[l] += square * present[l]
        for q in range(singles[r], singles[r + 1]):
            row[labels[q]] += value[q] * value[q]
        row += common
        least = FLAT * row.max()
        for l in range(n_labels):
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
    laid: LaidRows,
    there: Ints,
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
    wholes, holed, first, factor, singles, pairs, labels, value = laid
    width, k = length.shape[1], mean.shape[1]
    per_row = width // k
    scores, change, stretch, point = np.empty(width), np.empty(width), np.empty(k), np.empty(k)
    for visit in range(rows.size):
        i = rows[visit]
        for l in range(width):
            scores[l] = bias[l] if bias.size else 0.0
        _add_whole(wholes[i], wholes[i + 1], first, factor, weights, scores)
        for q in range(singles[i], singles[i + 1]):
            scores[labels[q]] += value[q] * weights[pairs[q]]
        violation[visit] = 0.0
        for c in range(per_row):
            slot, begin, end = i * per_row + c, c * k, (c + 1) * k
            violation[visit] += _step(
                scores[begin:end], costs[cost_row[slot]], mean[slot], share[i], length[i, begin:end], regularization,
                stretch, point, change[begin:end],
            )  # fmt: skip
        if not change.any():
            continue
        for q in range(wholes[i], holed[i]):
            target = weights[first[q] : first[q] + width]
            for l in range(width):
                target[l] += factor[q] * change[l]
        for q in range(holed[i], wholes[i + 1]):
            target, present = weights[first[q] : first[q] + width], there[first[q] : first[q] + width]
            for l in range(width):
                target[l] += factor[q] * change[l] * present[l]
        for q in range(singles[i], singles[i + 1]):
            weights[pairs[q]] += value[q] * change[labels[q]]
        for l in range(bias.size):
            bias[l] += change[l]
