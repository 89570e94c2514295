"""Projections onto the doubly stochastic matrices.

The maximum over doubly stochastic P of <theta, P> - Psi(P) is, by duality in the constraints on columns alone, the
minimum over column potentials b of

    D(b) = sum over rows i of max over p in the simplex of [<theta_i - b, p> - Psi(p)] + sum over columns j of b_j.

The best p of a row is a softmax where Psi is the negative entropy, and the projection of theta_i - b onto the simplex
where it is half the square. D is convex; its gradient is 1 - the column sums of the matrix P of these rows. Its second
derivative is the Laplacian of a graph on the columns, whose weights are sum_i P_ij P_il for the entropy, and the sum of
1 / |S| over the rows whose support S holds j and l for half the square. Newton steps, damped in proportion to the
gradient because that graph may fall into pieces, with a line search, minimise D.

Far from the minimum the prices of the best assignment are the start: at these D is within k log k (entropy) or k / 2
(half the square) of its minimum, however large theta is.
"""

import numpy as np
from numba import njit

from maximand.numerics.inner import inner

LEAST_DAMPING, MOST_DAMPING = 1e-2, 1e3  # in units of the largest error of a column sum
SHALLOW = 0.8  # how steep D may rise at the end of a step, in units of how steep it fell at the start
SHORTEST = 1e-10  # fraction of a step
NEGLIGIBLE = 1e-20  # share of a row
ROUNDING = 1e-14
FAST = {"contract", "reassoc", "nsz", "nnan"}


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def products(shares, weights):  # type: ignore[no-untyped-def]
    """Write sum_i shares[i, j] * shares[i, l] to weights[j, l] for j < l, by four rows i at a time."""
    k = shares.shape[0]
    for j in range(k):
        for l in range(j + 1, k):
            weights[j, l] = 0.0
    for i in range(0, k - 3, 4):
        for j in range(k):
            p, q, r, s = shares[i, j], shares[i + 1, j], shares[i + 2, j], shares[i + 3, j]
            if p + q + r + s > NEGLIGIBLE:
                for l in range(j + 1, k):
                    weights[j, l] += (
                        p * shares[i, l] + q * shares[i + 1, l] + r * shares[i + 2, l] + s * shares[i + 3, l]
                    )
    for i in range(k - k % 4, k):
        for j in range(k):
            p = shares[i, j]
            if p > NEGLIGIBLE:
                for l in range(j + 1, k):
                    weights[j, l] += p * shares[i, l]


@inner(error_model="numpy", fastmath=FAST)
def solve_step(weights, sums, damping, ground, step):  # type: ignore[no-untyped-def]
    """Write the solution of (L + damping * error) step = sums - 1, L the Laplacian of a graph with these weights.

    Taking a column out of the graph joins its neighbours by weights that are again at least 0. Nothing is subtracted,
    so that small weights keep all their digits. Four columns are taken out at a time. Uses up the weights, j < l of
    weights[j, l]; returns the slope of D.
    """
    k = step.size
    worst, degrees = 0.0, np.empty(k)
    for j in range(k):
        step[j] = sums[j] - 1.0
        worst = max(worst, abs(step[j]))
    for j in range(k):
        ground[j] = damping * worst
    for first in range(0, k, 4):
        last = min(first + 3, k - 1)
        for p in range(first, last + 1):
            degrees[p] = ground[p]
            for j in range(p + 1, k):
                degrees[p] += weights[p, j]
            for j in range(p + 1, last + 1):
                if weights[p, j] > 0.0:
                    share = weights[p, j] / degrees[p]
                    ground[j] += share * ground[p]
                    step[j] += share * step[p]
                    for l in range(j + 1, k):
                        weights[j, l] += share * weights[p, l]
        if last < first + 3:
            break
        for j in range(last + 1, k):
            a, b = weights[first, j] / degrees[first], weights[first + 1, j] / degrees[first + 1]
            c, d = weights[first + 2, j] / degrees[first + 2], weights[last, j] / degrees[last]
            if a + b + c + d > 0.0:
                ground[j] += a * ground[first] + b * ground[first + 1] + c * ground[first + 2] + d * ground[last]
                step[j] += a * step[first] + b * step[first + 1] + c * step[first + 2] + d * step[last]
                for l in range(j + 1, k):
                    weights[j, l] += (
                        a * weights[first, l]
                        + b * weights[first + 1, l]
                        + c * weights[first + 2, l]
                        + d * weights[last, l]
                    )
    for p in range(k - 1, -1, -1):
        total = step[p]
        for j in range(p + 1, k):
            total += weights[p, j] * step[j]
        step[p] = total / degrees[p]
    return slope_of(sums, step)


@inner(error_model="numpy", fastmath=FAST)
def slope_of(sums, step):  # type: ignore[no-untyped-def]
    """Return the derivative of D along a step."""
    slope = 0.0
    for j in range(step.size):
        slope += (1.0 - sums[j]) * step[j]
    return slope


@inner()
def next_damping(damping, length):  # type: ignore[no-untyped-def]
    """Return the damping of the next step: ten times more after one that had to be shortened, or else less."""
    return min(10.0 * damping, MOST_DAMPING) if length < 0.5 else max(0.1 * damping, LEAST_DAMPING)


@inner(error_model="numpy", fastmath=FAST)
def column_error(sums):  # type: ignore[no-untyped-def]
    """Return the largest error of a column sum."""
    worst = 0.0
    for j in range(sums.size):
        worst = max(worst, abs(sums[j] - 1.0))
    return worst


@inner()
def give_up(i, values, means, starts, converged):  # type: ignore[no-untyped-def]
    """Write that example i has no permutation."""
    values[i], converged[i] = -np.inf, True
    means[i] = 0.0
    starts[i] = 0.0


@inner(error_model="numpy")
def shorter(length, slope, there):  # type: ignore[no-untyped-def]
    """Return a length nearer to where D is least, from its slopes at the start of a step and at its end."""
    return length * min(max(slope / (slope - there), 0.1), 0.7)
