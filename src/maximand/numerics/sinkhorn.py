"""Sinkhorn's sweeps, with momentum, over many matrices at a time.

Every number has the examples of a block side by side as its last axis, for vector instructions. An example whose column
sums are within the tolerance of 1, or that would take too long, keeps its factors while its neighbours go on, so that
it never depends on them.
"""

import numpy as np
from numba import njit

from maximand.numerics.copying import overwrite
from maximand.numerics.exponential import exponentials, logarithms
from maximand.numerics.momentum import CONTRACTED, PATIENCE, change, guess_rate, hopeless, most_sweeps, powers
from maximand.support import Array, Bools

ABREAST = 64  # examples of a block
LOWEST = -1e308
SCARCE = 0.01  # a column sum that is smaller is not to be divided by


@njit(cache=True, nogil=True, error_model="numpy", fastmath=CONTRACTED)
def _load(scores, starts, plan, tops):  # type: ignore[no-untyped-def]
    """Write exp(scores - starts), each row divided by its maximum, and the logarithms of these."""
    count, k = starts.shape
    for i in range(k):
        for e in range(count):
            for j in range(k):
                plan[i, j, e] = scores[e, i, j] - starts[e, j]
            tops[i, e] = LOWEST
        for j in range(k):
            for e in range(count):
                tops[i, e] = plan[i, j, e] if plan[i, j, e] > tops[i, e] else tops[i, e]
        for j in range(k):
            for e in range(count):
                plan[i, j, e] -= tops[i, e]
        exponentials(plan[i].reshape(-1))


@njit(cache=True, nogil=True, error_model="numpy", fastmath=CONTRACTED)
def _add_rows(plan, shares, sums, first, last, count):  # type: ignore[no-untyped-def]
    """Add the rows from first to last, times their shares, to the column sums."""
    k = sums.shape[0]
    if last == first + 4:
        for j in range(k):
            for e in range(count):
                sums[j, e] += (
                    plan[first, j, e] * shares[first, e] + plan[first + 1, j, e] * shares[first + 1, e]
                    + plan[first + 2, j, e] * shares[first + 2, e] + plan[first + 3, j, e] * shares[first + 3, e]
                )  # fmt: skip
    else:
        for i in range(first, last):
            for j in range(k):
                for e in range(count):
                    sums[j, e] += plan[i, j, e] * shares[i, e]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=CONTRACTED)
def _sweep(plan, factors, totals, shares, sums, count):  # type: ignore[no-untyped-def]
    """Write the row sums of plan * factors, their inverses, and the column sums once rows are divided; by four rows."""
    k = sums.shape[0]
    sums[:] = 0.0
    for first in range(0, k, 4):
        last = min(first + 4, k)
        for i in range(first, last):
            for e in range(count):
                totals[i, e] = 0.0
            for j in range(0, k - 3, 4):
                for e in range(count):
                    totals[i, e] += (
                        plan[i, j, e] * factors[j, e] + plan[i, j + 1, e] * factors[j + 1, e]
                        + plan[i, j + 2, e] * factors[j + 2, e] + plan[i, j + 3, e] * factors[j + 3, e]
                    )  # fmt: skip
            for j in range(k - k % 4, k):
                for e in range(count):
                    totals[i, e] += plan[i, j, e] * factors[j, e]
            for e in range(count):
                shares[i, e] = 1.0 / totals[i, e]
        _add_rows(plan, shares, sums, first, last, count)
    for j in range(k):
        for e in range(count):
            sums[j, e] *= factors[j, e]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=CONTRACTED)
def _measure(sums, worst, square, count):  # type: ignore[no-untyped-def]
    """Write the largest error of a column sum and the sum of their squares."""
    worst[:], square[:] = 0.0, 0.0
    for j in range(sums.shape[0]):
        for e in range(count):
            error = abs(sums[j, e] - 1.0)
            worst[e] = error if error > worst[e] else worst[e]
            square[e] += error * error


@njit(cache=True, nogil=True, error_model="numpy", fastmath=CONTRACTED)
def _advance(sums, factors, changes, rates, active):  # type: ignore[no-untyped-def]
    """Change the factors of the active examples."""
    k, count = sums.shape
    c, d = np.empty(count), np.empty(count)
    for e in range(count):
        c[e], d[e] = powers(rates[e])
    for j in range(k):
        for e in range(count):
            changes[j, e] = change(sums[j, e], changes[j, e], c[e], d[e]) if active[e] > 0.0 else 1.0
            factors[j, e] *= changes[j, e]


@njit(cache=True, nogil=True)
def _begin(sums, active, count):  # type: ignore[no-untyped-def]
    """Write which examples have column sums that can be divided by."""
    active[:] = 0.0
    for e in range(count):
        active[e] = 1.0 if sums[:, e].min() > SCARCE else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _watch(t, most, tolerance, worst, square, last, rates, active):  # type: ignore[no-untyped-def]
    """Write which examples go on after t sweeps, and their rates; return how many do."""
    left = 0
    if t > 0:
        for e in range(worst.size):
            rates[e] = guess_rate(rates[e], square[e], last[e])
    for e in range(worst.size):
        go_on = active[e] > 0.0 and worst[e] > tolerance and t < most and square[e] < np.inf
        if go_on and t > 0 and t % PATIENCE == 0:
            go_on = not hopeless(worst[e], rates[e], most - t, tolerance)
        active[e] = 1.0 if go_on else 0.0
        left += go_on
    return left


@njit(cache=True, nogil=True, error_model="numpy", fastmath=CONTRACTED)
def _store(plan, factors, shares, means):  # type: ignore[no-untyped-def]
    """Write plan * factors * shares."""
    count, k = means.shape[:2]
    for i in range(k):
        for j in range(k):
            for e in range(count):
                plan[i, j, e] *= factors[j, e] * shares[i, e]
        for e in range(count):
            for j in range(k):
                means[e, i, j] = plan[i, j, e]


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_blocks(scores: Array, starts: Array, tolerance: float, values: Array, means: Array, converged: Bools) -> None:
    """Write what transport_entropic.project_entropic writes where converged[i], and else at most better starts."""
    n, k = scores.shape[:2]
    width, most = max(min(n, ABREAST), 1), most_sweeps(k)
    plan = np.zeros((k, k, width))
    tops, totals, shares = np.zeros((k, width)), np.ones((k, width)), np.ones((k, width))
    factors, changes, sums = np.ones((k, width)), np.ones((k, width)), np.ones((k, width))
    worst, square, last = np.zeros(width), np.zeros(width), np.zeros(width)
    rates, active = np.zeros(width), np.zeros(width)
    for first in range(0, n, width):
        count = min(width, n - first)
        block = slice(first, first + count)
        _load(scores[block], starts[block], plan, tops)
        factors[:], changes[:], rates[:] = 1.0, 1.0, 0.0
        for t in range(most + 1):
            overwrite(last, square)
            _sweep(plan, factors, totals, shares, sums, count)
            _measure(sums, worst, square, count)
            if t == 0:
                _begin(sums, active, count)
            if _watch(t, most, tolerance, worst, square, last, rates, active) == 0:
                break
            _advance(sums, factors, changes, rates, active)
        _store(plan, factors, shares, means[block])
        logarithms(factors.reshape(-1))
        logarithms(totals.reshape(-1))
        for e in range(count):
            example = first + e
            converged[example] = worst[e] <= tolerance and square[e] < np.inf
            values[example] = 0.0
            if worst[e] < 1.0 and square[e] < np.inf:
                for j in range(k):
                    starts[example, j] -= factors[j, e]
                    values[example] += tops[j, e] + totals[j, e] + starts[example, j]
