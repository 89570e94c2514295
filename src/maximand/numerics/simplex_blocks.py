"""Dual ascent for choices among labels, one row of features at a time, each solved exactly.

With scores W' x and a mean mu_i on the simplex for each choice, the dual problem of one block is

    maximise  mu @ (scores + costs) - q/2 |mu - mu_old|^2  on the simplex,   q = share_i |x_i|^2 / regularization,

whose solution is the projection of mu_old + (scores + costs) / q. A row scores one choice, or several one after the
other, whose weights have nothing in common: row r has the choices r * per_row + c with c below per_row.
"""

import numpy as np
from numba import njit

from maximand.numerics.rows import add_scores
from maximand.support import Array, Ints


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nnan", "nsz"})
def _project(point, out):  # type: ignore[no-untyped-def]
    """Project onto the simplex: drop entries below the threshold of those that remain, until none is.

    The threshold is at least the largest entry less one, where it starts.
    """
    k = point.size
    threshold = -np.inf
    for l in range(k):
        threshold = max(threshold, point[l])
    threshold -= 1.0
    count = k + 1.0
    while True:
        total, remaining = 0.0, 0.0
        for l in range(k):
            above = point[l] > threshold
            total += point[l] if above else 0.0
            remaining += 1.0 if above else 0.0
        if remaining == 0.0 or remaining >= count:  # settled, but for rounding
            break
        threshold = (total - 1.0) / remaining
        count = remaining
    for l in range(k):
        out[l] = max(0.0, point[l] - threshold)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nnan", "nsz"})
def _step(scores, costs, mean, share, squared, regularization, point, change):  # type: ignore[no-untyped-def]
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
    if squared > 0.0:
        length = 1.0 / (factor * squared)
        for l in range(k):
            point[l] = mean[l] + (scores[l] - top) * length
        _project(point, change)
    else:
        change[:] = 0.0
        change[np.argmax(scores)] = 1.0
    for l in range(k):
        new = change[l]
        change[l] = (mean[l] - new) * factor
        mean[l] = new
    return share * (top - average)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _dot(first, second):  # type: ignore[no-untyped-def]
    total = 0.0
    for f in range(first.size):
        total += first[f] * second[f]
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _four_dots(first, second, third, fourth, row):  # type: ignore[no-untyped-def]
    """Return the products of four vectors with one, which is read only once."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for f in range(row.size):
        a += first[f] * row[f]
        b += second[f] * row[f]
        c += third[f] * row[f]
        d += fourth[f] * row[f]
    return a, b, c, d


@njit(cache=True, nogil=True)
def _scores(by_label, row, out):  # type: ignore[no-untyped-def]
    k = len(by_label)
    whole = k - k % 4
    for l in range(0, whole, 4):
        out[l], out[l + 1], out[l + 2], out[l + 3] = _four_dots(
            by_label[l], by_label[l + 1], by_label[l + 2], by_label[l + 3], row
        )
    for l in range(whole, k):
        out[l] = _dot(by_label[l], row)


@njit(cache=True, nogil=True)
def step_row(row, scores, costs, cost_row, mean, share, squared, regularization, point, change):  # type: ignore[no-untyped-def]
    """Solve the blocks of a row given its scores; return their violation and leave what changes in `change`."""
    k = mean.shape[1]
    per_row = scores.size // k
    total = 0.0
    for c in range(per_row):
        slot, begin, end = row * per_row + c, c * k, (c + 1) * k
        total += _step(
            scores[begin:end], costs[cost_row[slot]], mean[slot], share, squared, regularization, point,
            change[begin:end],
        )  # fmt: skip
    return total


@njit(cache=True, nogil=True)
def ascend_dense(
    rows: Ints,
    matrix: Array,
    costs: Array,
    cost_row: Ints,
    mean: Array,
    share: Array,
    squared: Array,
    regularization: float,
    weights: Array,
    bias: Array,
    violation: Array,
) -> None:
    """Visit the rows in order; weights (feature, column) and bias (column, or empty) follow the means.

    The costs of the labels of choice s are costs[cost_row[s]]; violation[j] is that of rows[j].
    """
    n_features, width = weights.shape
    by_label = weights.T.copy()
    scores, point, change = np.empty(width), np.empty(mean.shape[1]), np.empty(width)
    for visit in range(rows.size):
        i = rows[visit]
        row = matrix[i]
        _scores(by_label, row, scores)
        for l in range(bias.size):
            scores[l] += bias[l]
        violation[visit] = step_row(
            i, scores, costs, cost_row, mean, share[i], squared[i], regularization, point, change
        )
        for l in range(width):
            if change[l] != 0.0:
                target = by_label[l]
                for f in range(n_features):
                    target[f] += change[l] * row[f]
        for l in range(bias.size):
            bias[l] += change[l]
    for f in range(n_features):
        for l in range(width):
            weights[f, l] = by_label[l, f]


@njit(cache=True, nogil=True, fastmath={"contract"})
def ascend_sparse(
    rows: Ints,
    indptr: Ints,
    indices: Ints,
    data: Array,
    costs: Array,
    cost_row: Ints,
    mean: Array,
    share: Array,
    squared: Array,
    regularization: float,
    weights: Array,
    bias: Array,
    violation: Array,
) -> None:
    """Do the same for CSR rows, label by label: better too for dense rows with fewer features than labels."""
    k = weights.shape[1]
    scores, point, change = np.empty(k), np.empty(mean.shape[1]), np.empty(k)
    for visit in range(rows.size):
        i = rows[visit]
        for l in range(k):
            scores[l] = bias[l] if bias.size else 0.0
        begin, end = indptr[i], indptr[i + 1]
        add_scores(begin, end, indices, data, weights, scores)
        violation[visit] = step_row(
            i, scores, costs, cost_row, mean, share[i], squared[i], regularization, point, change
        )
        if not change.any():
            continue
        for j in range(begin, end):
            value, target = data[j], weights[indices[j]]
            for l in range(k):
                target[l] += value * change[l]
        for l in range(bias.size):
            bias[l] += change[l]
