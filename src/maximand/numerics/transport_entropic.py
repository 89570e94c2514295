"""Entropic projections onto the doubly stochastic matrices: the semi-dual of transport.py with the negative entropy."""

import numpy as np
from numba import njit

from maximand.numerics.assignment import match, matching_room
from maximand.numerics.copying import overwrite
from maximand.numerics.exponential import exponentials, logarithms
from maximand.numerics.momentum import PATIENCE, change, guess_rate, hopeless, most_sweeps, powers
from maximand.numerics.sinkhorn import SCARCE, sweep_blocks
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

FARTHEST = 20.0  # change of a potential in one step, where exponentials of it are taken
NARROW = 24  # matrices up to this size are swept side by side


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
def _begin(scores, potentials, plan, factors, totals, sums):  # type: ignore[no-untyped-def]
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
    exponentials(plan.reshape(-1))
    factors[:] = 1.0
    _reweigh(plan, factors, totals, sums)
    return value


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _squared_error(sums):  # type: ignore[no-untyped-def]
    """Return the sum of the squared errors of the column sums."""
    total = 0.0
    for j in range(sums.size):
        total += (sums[j] - 1.0) * (sums[j] - 1.0)
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _advance(sums, rate, changes, factors):  # type: ignore[no-untyped-def]
    """Change the factors of the columns with momentum."""
    c, d = powers(rate)
    for j in range(sums.size):
        changes[j] = change(sums[j], changes[j], c, d)
        factors[j] *= changes[j]


@njit(cache=True, nogil=True, error_model="numpy")
def _sweep(plan, potentials, factors, totals, sums, changes, logs, most, tolerance):  # type: ignore[no-untyped-def]
    """Sweep with momentum until that is done or would take more than `most` sweeps."""
    k = logs.size
    columns = sums[:k]
    changes[:], rate, square = 1.0, 0.0, 1.0
    for t in range(most + 1):
        worst, last, square = column_error(columns), square, _squared_error(columns)
        rate = guess_rate(rate, square, last) if t > 0 else 0.0
        if worst <= tolerance or t == most:
            break
        if t > 0 and t % PATIENCE == 0 and hopeless(worst, rate, most - t, tolerance):
            break
        _advance(columns, rate, changes, factors)
        _reweigh(plan, factors, totals, sums)
    if not (worst < 1.0 and square < np.inf):
        factors[:] = 1.0
        _reweigh(plan, factors, totals, sums)
    overwrite(logs, factors)
    logarithms(logs)
    potentials -= logs
    return _accept(plan, factors, totals, logs)


@njit(cache=True, nogil=True, error_model="numpy")
def project_entropic(
    scores: Array, starts: Array, tolerance: float, max_iterations: int, values: Array, means: Array, converged: Bools
) -> None:
    """Write the doubly stochastic P of largest <scores[i], P> - sum P log P to means[i] and D to values[i].

    The arguments are those of project_euclidean. P is exp(scores - a - b); a step in b multiplies its columns, then its
    rows, which needs few exponentials. Rows are filled with zeros up to a length that processors like. Newton steps,
    of which there are max_iterations at most, come after sweeps, and small matrices are swept in blocks of examples.
    """
    n, k = scores.shape[:2]
    width = k + -k % 8
    converged[:] = False
    if k <= NARROW:
        sweep_blocks(scores, starts, tolerance, values, means, converged)
    plan, factors, sums = np.empty((k, width)), np.empty(width), np.empty(width)
    totals, logs, step, ground, trial = np.empty(k), np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    weights, room = np.empty((k, k)), matching_room(k)
    columns = sums[:k]
    for i in range(n):
        if converged[i]:
            continue
        own, potentials = scores[i], starts[i]
        level = _begin(own, potentials, plan, factors, totals, sums)
        iterations, damping, moved, sweeps = 0, LEAST_DAMPING, 0.0, 0 if k <= NARROW else most_sweeps(k)
        fresh, priced, far = True, False, level > -np.inf and columns.min() < SCARCE
        while level > -np.inf:
            if far and not priced:
                fresh, priced, level, sweeps = True, True, -np.inf, most_sweeps(k)
                if match(own, potentials, room):
                    level = _begin(own, potentials, plan, factors, totals, sums)
                continue
            if fresh:
                level += _sweep(plan, potentials, factors, totals, sums, step, logs, sweeps, tolerance)
                fresh = False
            if column_error(columns) <= tolerance or iterations >= max_iterations:
                break
            products(plan, weights)
            slope = solve_step(weights, columns, damping, ground, step)
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
                there = slope_of(columns, step)
                if there <= 0.0:
                    break
                if there <= -SHALLOW * slope and np.log(totals).sum() + trial.sum() <= ROUNDING * k:
                    break
                length = shorter(length, slope, there)
            damping = next_damping(damping, length)
            potentials += trial
            moved += length * farthest
            if moved > 5.0 * FARTHEST:
                level, moved = _begin(own, potentials, plan, factors, totals, sums), 0.0
            level += _accept(plan, factors, totals, logs)
        for row in range(k):
            overwrite(means[i, row], plan[row])
        values[i], converged[i] = level + potentials.sum(), column_error(columns) <= tolerance
        if level == -np.inf:
            give_up(i, values, means, starts, converged)
