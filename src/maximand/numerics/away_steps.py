"""Projections by Frank-Wolfe with away steps (Guelat and Marcotte 1986)."""

import numpy as np
from numba import njit

from maximand.numerics.mixtures import dot, forget, search, settle, slope_at


@njit(cache=True, nogil=True)
def _same(held, one, other):  # type: ignore[no-untyped-def]
    """Whether two rows are equal."""
    shift = held.pointers[other] - held.pointers[one]
    if held.pointers[other + 1] - held.pointers[one + 1] != shift:
        return False
    for k in range(held.pointers[one], held.pointers[one + 1]):
        if held.parts[k] != held.parts[k + shift] or held.values[k] != held.values[k + shift]:
            return False
    return True


@njit(cache=True, nogil=True)
def step_away(theta, mean, starts, chosen, new, gaps, goals, held, entropic):  # type: ignore[no-untyped-def]
    """Take one step for each chosen example: towards its new output, row new[c], or away from the worst one held.

    The direction is the one with the larger slope, the step the best one.
    """
    widest = 0
    for i in chosen:
        widest = max(widest, starts[i + 1] - starts[i])
    room, slope = np.empty(widest), np.empty(widest)
    for c in range(chosen.size):
        i = chosen[c]
        start, stop = starts[i], starts[i + 1]
        own, u, step, g = theta[start:stop], mean[start:stop], room[: stop - start], slope[: stop - start]
        along = 0.0
        for p in range(u.size):
            g[p] = own[p] - slope_at(u[p], entropic)
            along += g[p] * u[p] if u[p] > 0.0 else 0.0
        worst, lowest = -1, np.inf
        for j in range(held.counts[i]):
            gain = dot(held, held.rows[i, j], g)
            if gain < lowest:
                worst, lowest = j, gain
        away = held.counts[i] > 1 and along - lowest > gaps[c]
        row = held.rows[i, worst] if away else new[c]
        sign = -1.0 if away else 1.0
        for p in range(u.size):
            step[p] = -sign * u[p]
        for k in range(held.pointers[row], held.pointers[row + 1]):
            step[held.parts[k]] += sign * held.values[k]
        if away:
            chance = held.chances[i, worst]
            longest = chance / (1.0 - chance)
        else:
            longest = 1.0
        t = 1.0
        if held.counts[i] > 0:
            t = search(own, u, step, longest, 1e-13, 1e-13, entropic)
        for j in range(held.counts[i]):
            held.chances[i, j] *= 1.0 - sign * t
        if away:
            held.chances[i, worst] -= t
            if t == longest:
                forget(held, i, worst)
        else:
            place = 0
            while place < held.counts[i] and not _same(held, held.rows[i, place], row):
                place += 1
            if place == held.counts[i]:
                held.rows[i, place], held.chances[i, place] = row, 0.0
                held.counts[i] += 1
            held.chances[i, place] += t
        for j in range(held.counts[i] - 1, -1, -1):
            if held.chances[i, j] <= 0.0:
                forget(held, i, j)
        settle(held, i, u)
