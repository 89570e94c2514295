"""Momentum for Sinkhorn's sweeps.

A sweep divides the rows of a matrix by their sums and then the columns by theirs, s (Sinkhorn 1964). In the logarithms
x of the column factors that is x <- x - log s, a gradient step on a convex function whose curvature near the minimum
lies between 1 - r and 1, and which shrinks errors by r. With momentum (Polyak 1964),

    x <- x - a log s + m (last change of x),    a = 4 / (1 + q)^2,    m = ((1 - q) / (1 + q))^2,    q = sqrt(1 - r),

they shrink by sqrt(m). Under a guess that is too small the slowest error shrinks by the larger root of

    mu^2 - (1 + m - a (1 - r)) mu + m = 0,

so that a rate mu > sqrt(m) that is seen tells r. Powers of numbers near 1 are taken as

    s^-p = (1 + c s) / (c + s) + O(s - 1)^3,    c = (1 - p) / (1 + p),

which is between c and 1 / c however wrong s is.
"""

import numpy as np
from numba import njit

LARGEST_RATE = 0.97  # beyond it c would be negative
PATIENCE = 8  # sweeps between looks at how many more it takes
CONTRACTED = {"contract"}


@njit(cache=True, nogil=True)
def most_sweeps(k):  # type: ignore[no-untyped-def]
    """Return the number of sweeps that cost about as much as Newton's method."""
    return 24 + k


@njit(cache=True, nogil=True, error_model="numpy", fastmath=CONTRACTED)
def momentum(rate):  # type: ignore[no-untyped-def]
    """Return a, and the root of m."""
    q = np.sqrt(1.0 - rate)
    return 4.0 / ((1.0 + q) * (1.0 + q)), (1.0 - q) / (1.0 + q)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=CONTRACTED)
def guess_rate(rate, square, last):  # type: ignore[no-untyped-def]
    """Return a new guess of r from the squared errors after this sweep and the last."""
    a, root = momentum(rate)
    seen = min(max(np.sqrt(square / last), 1e-3), 0.999)
    found = 1.0 - (1.0 + root * root - seen - root * root / seen) / a
    return min(max(rate, found), LARGEST_RATE) if seen > root else rate


@njit(cache=True, nogil=True, error_model="numpy", fastmath=CONTRACTED)
def powers(rate):  # type: ignore[no-untyped-def]
    """Return the c of the power (a - 1) / 2 and that of m."""
    a, root = momentum(rate)
    return (3.0 - a) / (1.0 + a), (1.0 - root * root) / (1.0 + root * root)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=CONTRACTED)
def change(s, last, c, d):  # type: ignore[no-untyped-def]
    """Return s^-a last^m, what a column of sum s is multiplied by after it was multiplied by `last`."""
    top, bottom = 1.0 + c * s, c + s
    return (top * top) * (d + last) / ((bottom * bottom) * (1.0 + d * last) * s)


@njit(cache=True, nogil=True)
def hopeless(worst, rate, sweeps, tolerance):  # type: ignore[no-untyped-def]
    """Say whether so many more sweeps are too few."""
    return not worst * momentum(rate)[1] ** sweeps <= tolerance
