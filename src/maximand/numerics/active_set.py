"""Projections by active sets: hold few outputs, and solve for the best chances of all of them in every round."""

import numpy as np
from numba import njit

from maximand.numerics.copying import overwrite
from maximand.numerics.factors import DEPENDENT, append, backward, drop, forward, remake
from maximand.numerics.mixtures import SMALL, average, curvature_at, dot, search, settle, slope_at

NEWTON_STEPS = 60
CLOSER = 0.02  # the spread of slopes that ends Newton's steps, as a share of the gap
BACK_OFF = 0.99  # how far towards zero one Newton step may take a part


@njit(cache=True, nogil=True)
def _enter(held, i, new, theta, u, weights, step, weighted, mix, entropic):  # type: ignore[no-untyped-def]
    """Move from u towards a new output as far as f grows, and hold it; the outputs held stay affinely independent."""
    counts, rows, chances = held.counts, held.rows, held.chances
    chance = 1.0
    if counts[i] > 0:
        for p in range(u.size):
            step[p] = -u[p]
    else:
        step[:] = 0.0
    for k in range(held.pointers[new], held.pointers[new + 1]):
        step[held.parts[k]] += held.values[k]
    if counts[i] > 0:
        chance = search(theta, u, step, 1.0, 1e-3, 0.5, entropic)
    for j in range(counts[i]):
        chances[i, j] *= 1.0 - chance
    for k in range(held.pointers[new], held.pointers[new + 1]):
        p = held.parts[k]
        if u[p] == 0.0:  # no output held uses this part, so its weight is free
            weights[p] = curvature_at(chance * held.values[k], entropic)
    rows[i, counts[i]], chances[i, counts[i]] = new, chance
    if append(held, i, counts[i], weights, weighted) > DEPENDENT:
        counts[i] += 1
        return
    if entropic:  # what weights hide, equal weights show
        remake(held, i, u, weights, weighted, False)
    while append(held, i, counts[i], weights, weighted) <= DEPENDENT:
        # The new output is sum_j mix_j A_j: trade the others for it, which leaves u alone, until one is used up.
        k = counts[i]
        start = k * (k + 1) // 2
        overwrite(mix[:k], held.factors[i, start:])
        backward(held.factors[i], k, mix)
        most, gone = np.inf, 0
        for j in range(k):
            if mix[j] > 0.0 and chances[i, j] < most * mix[j]:
                most, gone = chances[i, j] / mix[j], j
        if most == np.inf:  # by rounding only
            most = 0.0
        for j in range(k):
            chances[i, j] = max(chances[i, j] - most * mix[j], 0.0)
        chance += most
        drop(held, i, gone)
        rows[i, counts[i]], chances[i, counts[i]] = new, chance
    counts[i] += 1
    if entropic:
        average(held, i, chances[i], step)
        remake(held, i, step, weights, weighted, entropic)


@njit(cache=True, nogil=True)
def _minimise(held, i, theta, u, weights, goal, step, g, weighted, room, entropic):  # type: ignore[no-untyped-def]
    """Solve for the best chances of the outputs held: Newton's steps, dropping outputs whose chance falls to zero.

    At the best chances all outputs have the same slope g @ A_j; ends when their slopes spread by at most `goal`. The
    curvature is that of the last factor, which is made anew where the spread does not fall fast enough.
    """
    gains, direction, ones = room
    chances = held.chances[i]
    previous = np.inf
    for _ in range(NEWTON_STEPS):
        k = held.counts[i]
        average(held, i, chances, u)
        for p in range(u.size):
            g[p] = theta[p] - slope_at(u[p], entropic)
        best, worst, middle = -np.inf, np.inf, 0.0
        for j in range(k):
            gains[j] = dot(held, held.rows[i, j], g)
            middle += chances[j] * gains[j]
            best = max(best, gains[j])
            if chances[j] > 0.0:
                worst = min(worst, gains[j])
        spread = best - worst
        if spread <= goal:
            break
        if entropic and spread > 0.25 * previous:
            remake(held, i, u, weights, weighted, entropic)
        previous = spread
        # Newton's direction within sum chances = 1: H d = gains - multiplier.
        for j in range(k):
            direction[j], ones[j] = gains[j] - middle, 1.0
        for vector in (direction, ones):
            forward(held.factors[i], k, vector)
            backward(held.factors[i], k, vector)
        multiplier = direction[:k].sum() / ones[:k].sum()
        slope = 0.0
        for j in range(k):
            direction[j] -= multiplier * ones[j]
            slope += direction[j] * (gains[j] - middle)
        if slope <= 0.0:  # by rounding only
            break
        average(held, i, direction, step)
        longest, gone = 1.0, -1
        for j in range(k):
            if direction[j] < 0.0 and chances[j] < -direction[j] * longest:
                longest, gone = chances[j] / -direction[j], j
        if entropic:
            for p in range(u.size):
                if u[p] > SMALL and BACK_OFF * u[p] < -step[p] * longest:
                    longest, gone = BACK_OFF * u[p] / -step[p], -1
        t = 0.0 if longest == 0.0 else search(theta, u, step, longest, 1e-3, 0.5, entropic)
        for j in range(k):
            chances[j] = max(chances[j] + t * direction[j], 0.0)
        if gone >= 0 and t == longest:
            drop(held, i, gone)
            previous = np.inf


@njit(cache=True, nogil=True)
def fully_correct(theta, mean, starts, chosen, new, gaps, goals, held, entropic):  # type: ignore[no-untyped-def]
    """Add an output, row new[c], to those of each chosen example, and solve for the best chances of all.

    Wolfe's algorithm for the point of least norm where Psi is a square: minor cycles are Newton's steps, each exact.
    """
    widest = 0
    for i in chosen:
        widest = max(widest, starts[i + 1] - starts[i])
    capacity = held.rows.shape[1]
    step, g, weighted = np.empty(widest), np.empty(widest), np.zeros(widest)
    room = (np.empty(capacity), np.empty(capacity), np.empty(capacity))
    for c in range(chosen.size):
        i = chosen[c]
        start, stop = starts[i], starts[i + 1]
        n = stop - start
        own, u, weights = theta[start:stop], mean[start:stop], held.weights[start:stop]
        _enter(held, i, new[c], own, u, weights, step[:n], weighted[:n], room[0], entropic)
        goal = max(goals[c], CLOSER * gaps[c]) if gaps[c] < np.inf else np.inf
        _minimise(held, i, own, u, weights, goal, step[:n], g[:n], weighted[:n], room, entropic)
        for j in range(held.counts[i] - 1, -1, -1):
            if held.chances[i, j] <= 0.0:
                drop(held, i, j)
        settle(held, i, u)
