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

from maximand.numerics.assignment import match, matching_room
from maximand.numerics.exponential import exponentials, logarithms
from maximand.support import Array, Bools

FAR = 0.9  # a column sum that is wrong by more asks for the prices of the best assignment
SCARCE = 0.01  # and so does one that is smaller, where sums are to be divided by
LATE = 15  # iterations after which these prices are tried all the same
LEAST_DAMPING, MOST_DAMPING = 1e-2, 1e3  # in units of the largest error of a column sum
SHALLOW = 0.8  # how steep D may rise at the end of a step, in units of how steep it fell at the start
SHORTEST = 1e-10  # fraction of a step
FARTHEST = 20.0  # change of a potential in one step, where exponentials of it are taken
NEGLIGIBLE = 1e-20  # share of a row
ROUNDING = 1e-14
FAST = {"contract", "reassoc", "nsz", "nnan"}


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _products(shares, weights):  # type: ignore[no-untyped-def]
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _step(weights, sums, damping, ground, step):  # type: ignore[no-untyped-def]
    """Write the solution of (L + damping * error) step = sums - 1, L the Laplacian of a graph with these weights.

    Taking a column out of the graph joins its neighbours by weights that are again at least 0. Nothing is subtracted,
    so that small weights keep all their digits. Uses up the weights, j < l of weights[j, l]; returns the slope of D.
    """
    k = step.size
    worst = 0.0
    for j in range(k):
        step[j] = sums[j] - 1.0
        worst = max(worst, abs(step[j]))
    for j in range(k):
        ground[j] = damping * worst
    for p in range(k):
        degree = ground[p]
        for j in range(p + 1, k):
            degree += weights[p, j]
        for j in range(p + 1, k):
            if weights[p, j] > 0.0:
                share = weights[p, j] / degree
                ground[j] += share * ground[p]
                step[j] += share * step[p]
                for l in range(j + 1, k):
                    weights[j, l] += share * weights[p, l]
        ground[p] = degree
    for p in range(k - 1, -1, -1):
        total = step[p]
        for j in range(p + 1, k):
            total += weights[p, j] * step[j]
        step[p] = total / ground[p]
    return _slope(sums, step)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _slope(sums, step):  # type: ignore[no-untyped-def]
    """Return the derivative of D along a step."""
    slope = 0.0
    for j in range(step.size):
        slope += (1.0 - sums[j]) * step[j]
    return slope


@njit(cache=True, nogil=True)
def _damping(damping, length):  # type: ignore[no-untyped-def]
    """Return the damping of the next step: ten times more after one that had to be shortened, or else less."""
    return min(10.0 * damping, MOST_DAMPING) if length < 0.5 else max(0.1 * damping, LEAST_DAMPING)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _error(sums):  # type: ignore[no-untyped-def]
    """Return the largest error of a column sum."""
    worst = 0.0
    for j in range(sums.size):
        worst = max(worst, abs(sums[j] - 1.0))
    return worst


@njit(cache=True, nogil=True)
def _give_up(i, values, means, starts, converged):  # type: ignore[no-untyped-def]
    """Write that example i has no permutation."""
    values[i], converged[i] = -np.inf, True
    means[i] = 0.0
    starts[i] = 0.0


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
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
                a = mean[i].max() - 1.0
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


@njit(cache=True, nogil=True, error_model="numpy")
def _begin_euclidean(own, potentials, reduced, moves, thresholds, mean, shares, sums):  # type: ignore[no-untyped-def]
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
    for i in range(n):
        own, mean, potentials = scores[i], means[i], starts[i]
        known, value = _begin_euclidean(own, potentials, reduced, moves, thresholds, mean, shares, sums)
        iterations, damping, priced = 0, LEAST_DAMPING, False
        while known > -np.inf and _error(sums) > tolerance and iterations < max_iterations:
            if not priced and ((iterations == 0 and _error(sums) > FAR) or iterations == LATE):
                priced, known = True, -np.inf
                if match(own, potentials, room):
                    known, value = _begin_euclidean(
                        own, potentials, reduced, moves, thresholds, mean, shares, sums
                    )  # fmt: skip
                continue
            iterations += 1
            _products(shares, weights)
            slope = _step(weights, sums, damping, ground, step)
            length = 1.0
            while length > SHORTEST:
                for j in range(k):
                    trial[j] = moves[j] + length * step[j]
                found = _thresholds(reduced, trial, thresholds, mean, shares, sums)
                there = _slope(sums, step)
                if there <= 0.0 or (there <= -SHALLOW * slope and found <= value + ROUNDING * k):
                    break
                length *= min(max(slope / (slope - there), 0.1), 0.7)
            moves[:] = trial
            value, damping = found, _damping(damping, length)
        potentials += moves
        values[i], converged[i] = known + value, _error(sums) <= tolerance
        if known == -np.inf:
            _give_up(i, values, means, starts, converged)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _reweigh(plan, factors, totals, sums):  # type: ignore[no-untyped-def]
    """Write the row sums of plan * factors, and the column sums once each row is divided by its own."""
    k, width = plan.shape
    for j in range(width):
        sums[j] = 0.0
    for i in range(k):
        total = 0.0
        for j in range(width):
            total += plan[i, j] * factors[j]
        totals[i] = total
        share = 1.0 / total
        for j in range(width):
            sums[j] += plan[i, j] * share
    for j in range(width):
        sums[j] *= factors[j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _accept(plan, factors, totals, logs):  # type: ignore[no-untyped-def]
    """Multiply the columns by their factors, divide the rows by their totals; return the logarithms of all totals."""
    k, width = plan.shape
    for i in range(k):
        share = 1.0 / totals[i]
        logs[i] = totals[i]
        for j in range(width):
            plan[i, j] *= factors[j] * share
    logarithms(logs)
    return logs.sum()


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _begin_entropic(scores, potentials, plan, factors, totals, sums, bits):  # type: ignore[no-untyped-def]
    """Write exp(scores - potentials), each row divided by its maximum; return the sum of their logarithms, or -inf."""
    k, width = plan.shape
    value = 0.0
    for i in range(k):
        top = -np.inf
        for j in range(k):
            z = scores[i, j] - potentials[j]
            plan[i, j] = z
            if z > top:
                top = z
        if top == -np.inf:
            return -np.inf
        value += top
        for j in range(k):
            plan[i, j] -= top
        for j in range(k, width):
            plan[i, j] = -np.inf
    exponentials(plan.reshape(-1), bits)
    factors[:] = 1.0
    _reweigh(plan, factors, totals, sums)
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _sweep(plan, potentials, factors, totals, sums, logs, tolerance):  # type: ignore[no-untyped-def]
    """Divide columns by their sums (Sinkhorn 1964) until that is done or would take longer than Newton steps."""
    k = logs.size
    worst, sweeps = _error(sums[:k]), 0
    while worst > tolerance and sweeps < 2 * k:
        for j in range(k):
            factors[j] /= sums[j]
        _reweigh(plan, factors, totals, sums)
        last, worst = worst, _error(sums[:k])
        sweeps += 1
        if sweeps > 1 and worst * (worst / last) ** k > tolerance:
            break
    logs[:] = factors[:k]
    logarithms(logs)
    potentials -= logs
    return _accept(plan, factors, totals, logs)


@njit(cache=True, nogil=True, error_model="numpy")
def project_entropic(
    scores: Array, starts: Array, tolerance: float, max_iterations: int, values: Array, means: Array, converged: Bools
) -> None:
    """Write the doubly stochastic P of largest <scores[i], P> - sum P log P to means[i] and D to values[i].

    The arguments are those of project_euclidean. P is exp(scores - a - b); a step in b multiplies its columns, then its
    rows, which needs few exponentials. Rows are filled with zeros up to a length that processors like.
    """
    n, k = scores.shape[:2]
    width = k + -k % 8
    plan, factors, sums = np.empty((k, width)), np.empty(width), np.empty(width)
    totals, logs, step, ground, trial = np.empty(k), np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    weights, bits, room = np.empty((k, k)), np.empty(k * width, dtype=np.int64), matching_room(k)
    columns = sums[:k]
    for i in range(n):
        own, potentials = scores[i], starts[i]
        level = _begin_entropic(own, potentials, plan, factors, totals, sums, bits)
        iterations, damping, moved = 0, LEAST_DAMPING, 0.0
        fresh, priced, far = True, False, level > -np.inf and columns.min() < SCARCE
        while level > -np.inf:
            if far and not priced:
                fresh, priced, level = True, True, -np.inf
                if match(own, potentials, room):
                    level = _begin_entropic(own, potentials, plan, factors, totals, sums, bits)
                continue
            if fresh:
                level += _sweep(plan, potentials, factors, totals, sums, logs, tolerance)
                fresh = False
            if _error(columns) <= tolerance or iterations >= max_iterations:
                break
            _products(plan, weights)
            slope = _step(weights, columns, damping, ground, step)
            farthest = np.abs(step).max()
            far = farthest > FARTHEST
            if far and not priced:
                continue
            iterations += 1
            length = FARTHEST / farthest if far else 1.0
            while length > SHORTEST:
                for j in range(k):
                    trial[j] = length * step[j]
                    factors[j] = np.exp(-trial[j])
                _reweigh(plan, factors, totals, sums)
                there = _slope(columns, step)
                if there <= 0.0:
                    break
                if there <= -SHALLOW * slope and np.log(totals).sum() + trial.sum() <= ROUNDING * k:
                    break
                length *= min(max(slope / (slope - there), 0.1), 0.7)
            damping = _damping(damping, length)
            potentials += trial
            moved += length * farthest
            if moved > 5.0 * FARTHEST:
                level, moved = _begin_entropic(own, potentials, plan, factors, totals, sums, bits), 0.0
            level += _accept(plan, factors, totals, logs)
        means[i] = plan[:, :k]
        values[i], converged[i] = level + potentials.sum(), _error(columns) <= tolerance
        if level == -np.inf:
            _give_up(i, values, means, starts, converged)
