"""Euclidean projections onto the doubly stochastic matrices: the semi-dual of transport.py with half the square."""

import numpy as np
from numba import njit

from maximand.numerics.assignment import match, matching_room
from maximand.numerics.copying import overwrite
from maximand.numerics.inner import inner
from maximand.numerics.transport import (
    FAST,
    LEAST_DAMPING,
    ROUNDING,
    SHALLOW,
    SHORTEST,
    column_error,
    give_up,
    next_damping,
    products,
    shorter,
    slope_of,
    solve_step,
)
from maximand.support import Array, Bools

FAR = 0.9  # a column sum that is wrong by more asks for the prices of the best assignment
SPARSE = 0.25  # share of entries in the supports below which their pairs are few
LATE = 15  # iterations after which these prices are tried all the same


@inner(error_model="numpy", fastmath=FAST)
def _reduce(scores, potentials, reduced):  # type: ignore[no-untyped-def]
    """Write scores - potentials, each row less its maximum; return what that takes from D: -inf if a row is all -inf.

    What is left is small where it matters, so that sums of it come out right to 16 digits however large the scores are.
    """
    k = scores.shape[0]
    value = 0.0
    for i in range(k):
        top = -np.inf
        value += potentials[i]
        for j in range(k):
            z = scores[i, j] - potentials[j]
            reduced[i, j] = z
            if z > top:
                top = z
        if top == -np.inf:
            return -np.inf
        value += top
        for j in range(k):
            reduced[i, j] -= top
    return value


@inner(error_model="numpy", fastmath=FAST)
def _thresholds(scores, potentials, thresholds, mean, shares, sums):  # type: ignore[no-untyped-def]
    """Write the projections max(z - a, 0) of all rows z = scores - potentials onto the simplex; return D.

    The excess over a threshold, sum_j max(z_j - a, 0), is convex and decreasing in a. Newton steps from the threshold
    that is given, or from max z - 1, lead to the one where it is 1: after the first they come from below, and no entry
    returns to the support S. Writes 1 / sqrt(|S|) to the shares in the support.
    """
    k = scores.shape[0]
    value = 0.0
    for j in range(k):
        sums[j] = 0.0
        value += potentials[j]
    for i in range(k):
        for j in range(k):
            mean[i, j] = scores[i, j] - potentials[j]
        a, size = thresholds[i], -1.0
        for _ in range(k + 2):
            excess, count = 0.0, 0.0
            for j in range(k):
                over = mean[i, j] - a
                excess += over if over > 0.0 else 0.0
                count += 1.0 if over > 0.0 else 0.0
            if count == 0.0:
                top = mean[i, 0]
                for j in range(1, k):
                    top = max(top, mean[i, j])
                a = top - 1.0
                continue
            a += (excess - 1.0) / count
            if count == size:
                break
            size = count
        thresholds[i] = a
        square, share = 0.0, 1.0 / np.sqrt(size)
        for j in range(k):
            p = max(mean[i, j] - a, 0.0)
            mean[i, j] = p
            shares[i, j] = share if p > 0.0 else 0.0
            sums[j] += p
            square += p * p
        value += a + 0.5 * square
    return value


@inner()
def _pair_products(shares, support, weights):  # type: ignore[no-untyped-def]
    """Write what `products` does, pair by pair of each support: all shares of a row that are not zero are equal."""
    k = shares.shape[0]
    for j in range(k):
        weights[j, j + 1 :] = 0.0
    for i in range(k):
        size = 0
        for j in range(k):
            support[size] = j
            size += shares[i, j] > 0.0
        for a in range(size):
            for b in range(a + 1, size):
                weights[support[a], support[b]] += 1.0 / size


@inner(error_model="numpy")
def _begin(own, potentials, reduced, moves, thresholds, mean, shares, sums):  # type: ignore[no-untyped-def]
    """Write the matrix of some potentials, from which they are to move; return the two parts of D."""
    known = _reduce(own, potentials, reduced)
    thresholds[:], moves[:] = -1.0, 0.0
    value = _thresholds(reduced, moves, thresholds, mean, shares, sums) if known > -np.inf else 0.0
    return known, value


@njit(cache=True, nogil=True, error_model="numpy")
def project_euclidean(
    scores: Array, starts: Array, tolerance: float, max_iterations: int, values: Array, means: Array, converged: Bools
) -> None:
    """Write the doubly stochastic matrix nearest to scores[i] to means[i] and D to values[i].

    Rows sum to 1; converged[i] says whether all columns do to the tolerance. starts[i] holds the column potentials,
    zeros if nothing is known; those found replace them. The mean of a score of -inf is 0. All others must be part of a
    permutation of scores above -inf; where there is none, the value is -inf and the mean 0.
    """
    n, k = scores.shape[:2]
    thresholds, sums, step, ground = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    moves, trial, room = np.empty(k), np.empty(k), matching_room(k)
    reduced, shares, weights = np.empty((k, k)), np.empty((k, k)), np.empty((k, k))
    support = np.empty(k + 1, dtype=np.int64)
    for i in range(n):
        own, mean, potentials = scores[i], means[i], starts[i]
        known, value = _begin(own, potentials, reduced, moves, thresholds, mean, shares, sums)
        iterations, damping, priced = 0, LEAST_DAMPING, False
        while known > -np.inf and column_error(sums) > tolerance and iterations < max_iterations:
            if not priced and ((iterations == 0 and column_error(sums) > FAR) or iterations == LATE):
                priced, known = True, -np.inf
                if match(own, potentials, room):
                    known, value = _begin(
                        own, potentials, reduced, moves, thresholds, mean, shares, sums
                    )  # fmt: skip
                continue
            iterations += 1
            if np.count_nonzero(shares) < SPARSE * shares.size:
                _pair_products(shares, support, weights)
            else:
                products(shares, weights)
            slope = solve_step(weights, sums, damping, ground, step)
            length = 1.0
            while length > SHORTEST:
                for j in range(k):
                    trial[j] = moves[j] + length * step[j]
                found = _thresholds(reduced, trial, thresholds, mean, shares, sums)
                there = slope_of(sums, step)
                if there <= 0.0 or (there <= -SHALLOW * slope and found <= value + ROUNDING * k):
                    break
                length = shorter(length, slope, there)
            overwrite(moves, trial)
            value, damping = found, next_damping(damping, length)
        potentials += moves
        values[i], converged[i] = known + value, column_error(sums) <= tolerance
        if known == -np.inf:
            give_up(i, values, means, starts, converged)
