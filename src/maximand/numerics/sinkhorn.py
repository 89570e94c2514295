"""Sweeps over rows and columns with momentum, over many matrices at a time.

A sweep divides the rows of a matrix by their sums and then the columns by theirs, s (Sinkhorn 1964). In the logarithms
x of the column factors that is x <- x - log s, a gradient step on a convex function whose curvature near the minimum
lies between 1 - r and 1 and which shrinks errors by r. With momentum (Polyak 1964),

    x <- x - a log s + m (last change of x),    a = 4 / (1 + q)^2,    m = ((1 - q) / (1 + q))^2,    q = sqrt(1 - r),

they shrink by sqrt(m). The slowest error for a present guess of r shrinks by the larger root of mu^2 - (1 + m - a (1 -
r)) mu + m = 0, so that a rate mu > sqrt(m) that is seen tells a larger r. Powers of numbers near 1 are taken as

    s^-p  =  (1 + c s) / (c + s) + O(s - 1)^3,    c = (1 - p) / (1 + p),

which is between c and 1 / c however wrong s is.

Every number has the examples of a block side by side as its last axis, for vector instructions. An example whose column
sums are within the tolerance of 1, or that would take too long, keeps its factors while its neighbours go on, so that
it never depends on them.
"""

import numpy as np
from numba import njit

from maximand.numerics.exponential import exponentials, logarithms
from maximand.support import Array, Bools

LANES = 64  # examples of a block
LOWEST = -1e308
SCARCE = 0.01  # a column sum that is smaller is not to be divided by
LARGEST_RATE = 0.97  # r beyond which c would be negative
PLAIN = 2  # sweeps before the first guess
PATIENCE = 8  # sweeps between looks at how many more it takes
LANEWISE = {"contract"}


@njit(cache=True, nogil=True)
def most_sweeps(k):  # type: ignore[no-untyped-def]
    """Return the number of sweeps that cost about as much as Newton's method."""
    return 24 + k


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LANEWISE)
def momentum(rate):  # type: ignore[no-untyped-def]
    """Return a, and the root of m."""
    q = np.sqrt(1.0 - rate)
    return 4.0 / ((1.0 + q) * (1.0 + q)), (1.0 - q) / (1.0 + q)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LANEWISE)
def guess_rate(rate, square, last):  # type: ignore[no-untyped-def]
    """Return a new guess of r from the squared errors after this sweep and the last."""
    a, root = momentum(rate)
    seen = min(max(np.sqrt(square / last), 1e-3), 0.999)
    found = 1.0 - (1.0 + root * root - seen - root * root / seen) / a
    return min(max(rate, found), LARGEST_RATE) if seen > root else rate


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LANEWISE)
def powers(rate):  # type: ignore[no-untyped-def]
    """Return the c of the power (a - 1) / 2 and that of m."""
    a, root = momentum(rate)
    return (3.0 - a) / (1.0 + a), (1.0 - root * root) / (1.0 + root * root)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LANEWISE)
def change(s, last, c, d):  # type: ignore[no-untyped-def]
    """Return s^-a last^m, what a column of sum s is multiplied by after it was multiplied by `last`."""
    top, bottom = 1.0 + c * s, c + s
    return (top * top) * (d + last) / ((bottom * bottom) * (1.0 + d * last) * s)


@njit(cache=True, nogil=True)
def hopeless(worst, rate, sweeps, tolerance):  # type: ignore[no-untyped-def]
    """Say whether so many more sweeps are too few."""
    return not worst * momentum(rate)[1] ** sweeps <= tolerance


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LANEWISE)
def _load(scores, starts, plan, tops, bits):  # type: ignore[no-untyped-def]
    """Write exp(scores - starts), each row divided by its maximum, and the logarithms of these."""
    lanes, k = starts.shape
    for i in range(k):
        for e in range(lanes):
            top = LOWEST
            for j in range(k):
                z = scores[e, i, j] - starts[e, j]
                plan[i, j, e] = z
                top = z if z > top else top
            tops[i, e] = top
        for j in range(k):
            for e in range(lanes):
                plan[i, j, e] -= tops[i, e]
        exponentials(plan[i].reshape(-1), bits)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LANEWISE)
def _add_rows(plan, shares, sums, first, last, lanes):  # type: ignore[no-untyped-def]
    """Add the rows from first to last, times their shares, to the column sums."""
    k = sums.shape[0]
    if last == first + 4:
        for j in range(k):
            for e in range(lanes):
                sums[j, e] += (
                    plan[first, j, e] * shares[first, e] + plan[first + 1, j, e] * shares[first + 1, e]
                    + plan[first + 2, j, e] * shares[first + 2, e] + plan[first + 3, j, e] * shares[first + 3, e]
                )  # fmt: skip
    else:
        for i in range(first, last):
            for j in range(k):
                for e in range(lanes):
                    sums[j, e] += plan[i, j, e] * shares[i, e]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LANEWISE)
def _sweep(plan, factors, totals, shares, sums, lanes):  # type: ignore[no-untyped-def]
    """Write the row sums of plan * factors, their inverses, and the column sums once rows are divided; by four rows."""
    k = sums.shape[0]
    sums[:] = 0.0
    for first in range(0, k, 4):
        last = min(first + 4, k)
        for i in range(first, last):
            for e in range(lanes):
                totals[i, e] = 0.0
            for j in range(0, k - 3, 4):
                for e in range(lanes):
                    totals[i, e] += (
                        plan[i, j, e] * factors[j, e] + plan[i, j + 1, e] * factors[j + 1, e]
                        + plan[i, j + 2, e] * factors[j + 2, e] + plan[i, j + 3, e] * factors[j + 3, e]
                    )  # fmt: skip
            for j in range(k - k % 4, k):
                for e in range(lanes):
                    totals[i, e] += plan[i, j, e] * factors[j, e]
            for e in range(lanes):
                shares[i, e] = 1.0 / totals[i, e]
        _add_rows(plan, shares, sums, first, last, lanes)
    for j in range(k):
        for e in range(lanes):
            sums[j, e] *= factors[j, e]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LANEWISE)
def _measure(sums, worst, square, least, lanes):  # type: ignore[no-untyped-def]
    """Write the largest error of a column sum, the sum of their squares, and the least column sum."""
    worst[:], square[:], least[:] = 0.0, 0.0, 1.0
    for j in range(sums.shape[0]):
        for e in range(lanes):
            error = abs(sums[j, e] - 1.0)
            worst[e] = error if error > worst[e] else worst[e]
            square[e] += error * error
            least[e] = sums[j, e] if sums[j, e] < least[e] else least[e]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LANEWISE)
def _advance(sums, factors, changes, rates, active):  # type: ignore[no-untyped-def]
    """Change the factors of the active examples."""
    k, lanes = sums.shape
    c, d = np.empty(lanes), np.empty(lanes)
    for e in range(lanes):
        c[e], d[e] = powers(rates[e])
    for j in range(k):
        for e in range(lanes):
            changes[j, e] = change(sums[j, e], changes[j, e], c[e], d[e]) if active[e] > 0.0 else 1.0
            factors[j, e] *= changes[j, e]
