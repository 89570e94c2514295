"""Projections onto the convex hull of outputs that an argmax finds one by one.

For each example, maximise over u in the hull of the outputs

    f(u) = theta @ u - Psi(u),   Psi(u) = |u|^2 / 2   or   sum of u log u,

where u = sum_j chances[j] A_j is held as a mixture of the outputs A_j found so far. The slope g = theta - Psi'(u) is
what the argmax is asked for; its answer v has the gap g @ (v - u), which bounds how far f(u) is from the maximum.

u log u has an infinite slope at 0. Below SMALL it is continued by its parabola there, whose slope is finite; no f(u)
changes by more than SMALL / 2 for each part, so parts that no output has used yet need no case of their own.

Vectors over parts lie example by example here: example i owns starts[i]:starts[i+1] of theta, mean and weights.
"""

from math import log
from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.support import Array, Ints

SMALL = 1e-30
LOG_SMALL = log(SMALL)
DEPENDENT = 1e-13  # an output is a mixture of others when less than this share of its square is new
NEWTON_STEPS = 60
SEARCH_STEPS = 100
CLOSER = 0.02  # the spread of slopes that ends Newton's steps, as a share of the gap
BACK_OFF = 0.99  # how far towards zero one Newton step may take a part


class Held(NamedTuple):
    """The outputs that each example holds.

    Example i holds counts[i] outputs: output j has chances[i, j] and row rows[i, j] of the CSR matrix (pointers,
    parts, values) over the example's own parts. factors[i] is the Cholesky factor, packed row by row, of
    A W A' + 11', with W = diag(weights) the curvature of Psi where the factor was last made.
    """

    counts: Ints
    rows: Ints
    chances: Array
    factors: Array
    weights: Array
    pointers: Ints
    parts: Ints
    values: Array


@njit(cache=True, nogil=True)
def places_of(first: Ints, second: Ints) -> Ints:
    """Return the place of each part in a batch vector of two fields, example by example."""
    n = first.size - 1
    places = np.empty(first[n] - first[0] + second[n] - second[0], dtype=np.int64)
    q = 0
    for i in range(n):
        for p in range(first[i], first[i + 1]):
            places[q] = p
            q += 1
        for p in range(second[i], second[i + 1]):
            places[q] = p
            q += 1
    return places


@njit(cache=True, nogil=True)
def _slope(u, entropic):  # type: ignore[no-untyped-def]
    """Psi'(u) of one part."""
    if not entropic:
        return u
    return log(u) + 1.0 if u > SMALL else LOG_SMALL + u / SMALL


@njit(cache=True, nogil=True)
def _curvature(u, entropic):  # type: ignore[no-untyped-def]
    """Psi''(u) of one part."""
    return 1.0 / max(u, SMALL) if entropic else 1.0


@njit(cache=True, nogil=True)
def slopes(theta: Array, mean: Array, starts: Ints, chosen: Ints, places: Ints, entropic: bool, out: Array) -> None:
    """Write theta - Psi'(mean) of chosen examples to their places in a vector of their own batch."""
    q = 0
    for i in chosen:
        for p in range(starts[i], starts[i + 1]):
            out[places[q]] = theta[p] - _slope(mean[p], entropic)
            q += 1


@njit(cache=True, nogil=True)
def measure(theta, mean, starts, chosen, places, scores, found, entropic, reached, along, value, size):  # type: ignore[no-untyped-def]
    """For chosen examples with slopes g = scores: reached = g @ v, along = g @ u, f(u), and what rounding scales with.

    found holds the outputs v as CSR rows.
    """
    pointers, parts, values = found
    q = 0
    for c in range(chosen.size):
        i = chosen[c]
        reached[c] = along[c] = value[c] = size[c] = 0.0
        for k in range(pointers[c], pointers[c + 1]):
            p = parts[k]
            g = scores[places[q + p]]
            reached[c] += g * values[k]
            size[c] += (1.0 + abs(theta[starts[i] + p]) + abs(g)) * values[k]
        for p in range(starts[i], starts[i + 1]):
            u = mean[p]
            if u > 0.0:
                g = scores[places[q]]
                along[c] += g * u
                size[c] += (1.0 + abs(theta[p]) + abs(g)) * u
                value[c] += theta[p] * u - (u * log(u) if entropic else 0.5 * u * u)
            q += 1


@njit(cache=True, nogil=True)
def compact(held: Held, pointers: Ints, parts: Ints, values: Array) -> None:
    """Copy the rows that are in use to a new CSR matrix, and point to them there."""
    n, place = 0, 0
    for i in range(held.counts.size):
        for j in range(held.counts[i]):
            row = held.rows[i, j]
            for k in range(held.pointers[row], held.pointers[row + 1]):
                parts[place], values[place] = held.parts[k], held.values[k]
                place += 1
            held.rows[i, j] = n
            n += 1
            pointers[n] = place


@njit(cache=True, nogil=True)
def _average(held, i, amounts, out):  # type: ignore[no-untyped-def]
    """out = sum_j amounts[j] A_j."""
    out[:] = 0.0
    for j in range(held.counts[i]):
        row, amount = held.rows[i, j], amounts[j]
        if amount != 0.0:
            for k in range(held.pointers[row], held.pointers[row + 1]):
                out[held.parts[k]] += amount * held.values[k]


@njit(cache=True, nogil=True)
def _dot(held, row, vector):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(held.pointers[row], held.pointers[row + 1]):
        total += held.values[k] * vector[held.parts[k]]
    return total


@njit(cache=True, nogil=True)
def _search(theta, u, step, longest, low, high, entropic):  # type: ignore[no-untyped-def]
    """Largest f(u + t step) over 0 < t <= longest: where the slope in t is within -low..high of that at the start.

    Newton's steps on the slope, which falls, between the bounds known.
    """
    at_start = 0.0
    for p in range(u.size):
        if step[p] != 0.0:
            at_start += step[p] * (theta[p] - _slope(u[p], entropic))
    left, right, t = 0.0, longest, longest
    for attempt in range(SEARCH_STEPS):
        slope, bend = 0.0, 0.0
        for p in range(u.size):
            if step[p] != 0.0:
                there = max(u[p] + t * step[p], 0.0)
                slope += step[p] * (theta[p] - _slope(there, entropic))
                bend += step[p] * step[p] * _curvature(there, entropic)
        if slope >= 0.0 and (attempt == 0 or slope <= high * at_start):
            break
        if slope < 0.0 and slope >= -low * at_start:
            break
        if slope > 0.0:
            left = t
        else:
            right = t
        t += slope / bend
        if not left < t < right:
            t = 0.125 * right if left == 0.0 else 0.5 * (left + right)
        if not left < t < right:
            break
    return t


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _forward(factor, k, x):  # type: ignore[no-untyped-def]
    """Solve L y = x in place."""
    for i in range(k):
        row = factor[i * (i + 1) // 2 : i * (i + 1) // 2 + i + 1]
        total = 0.0
        for j in range(i):
            total += row[j] * x[j]
        x[i] = (x[i] - total) / row[i]


@njit(cache=True, nogil=True)
def _backward(factor, k, x):  # type: ignore[no-untyped-def]
    """Solve L' y = x in place."""
    for i in range(k - 1, -1, -1):
        row = factor[i * (i + 1) // 2 : i * (i + 1) // 2 + i + 1]
        x[i] /= row[i]
        for j in range(i):
            x[j] -= row[j] * x[i]


@njit(cache=True, nogil=True)
def _append(held, i, k, weights, weighted):  # type: ignore[no-untyped-def]
    """Write row k of the factor of example i, that of its output k; return the share of its square that is new.

    weighted is room for a vector over parts, zeros before and after.
    """
    factor, row = held.factors[i], held.rows[i, k]
    square = 1.0
    for place in range(held.pointers[row], held.pointers[row + 1]):
        p = held.parts[place]
        weighted[p] = weights[p] * held.values[place]
        square += weighted[p] * held.values[place]
    own = factor[k * (k + 1) // 2 : k * (k + 1) // 2 + k + 1]
    for j in range(k):
        own[j] = 1.0 + _dot(held, held.rows[i, j], weighted)
    for place in range(held.pointers[row], held.pointers[row + 1]):
        weighted[held.parts[place]] = 0.0
    _forward(factor, k, own)
    left = square
    for j in range(k):
        left -= own[j] * own[j]
    own[k] = np.sqrt(max(left, DEPENDENT * square))
    return left / square


@njit(cache=True, nogil=True)
def _remake(held, i, u, weights, weighted, entropic):  # type: ignore[no-untyped-def]
    """Make the factor of example i anew with the curvature at u."""
    for p in range(u.size):
        weights[p] = _curvature(u[p], entropic)
    for j in range(held.counts[i]):
        _append(held, i, j, weights, weighted)


@njit(cache=True, nogil=True)
def _forget(held, i, j):  # type: ignore[no-untyped-def]
    """Take output j from those of example i, without regard to the factor."""
    for m in range(j + 1, held.counts[i]):
        held.rows[i, m - 1] = held.rows[i, m]
        held.chances[i, m - 1] = held.chances[i, m]
    held.counts[i] -= 1


@njit(cache=True, nogil=True)
def _drop(held, i, j):  # type: ignore[no-untyped-def]
    """Take output j from those of example i and from the factor.

    Without row j the product of the trailing block grows by the square of its column j; rotations take that column in.
    """
    factor, k = held.factors[i], held.counts[i]
    cosines, sines = np.empty(k), np.empty(k)
    for m in range(j + 1, k):
        old, new = m * (m + 1) // 2, (m - 1) * m // 2
        rest = factor[old + j]
        diagonal = factor[old + m]
        for l in range(j):
            factor[new + l] = factor[old + l]
        for l in range(j, m - 1):
            entry = factor[old + l + 1]
            factor[new + l] = cosines[l] * entry + sines[l] * rest
            rest = cosines[l] * rest - sines[l] * entry
        length = np.hypot(diagonal, rest)
        cosines[m - 1], sines[m - 1] = diagonal / length, rest / length
        factor[new + m - 1] = length
    _forget(held, i, j)


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
        chance = _search(theta, u, step, 1.0, 1e-3, 0.5, entropic)
    for j in range(counts[i]):
        chances[i, j] *= 1.0 - chance
    for k in range(held.pointers[new], held.pointers[new + 1]):
        p = held.parts[k]
        if u[p] == 0.0:  # no output held uses this part, so its weight is free
            weights[p] = _curvature(chance * held.values[k], entropic)
    rows[i, counts[i]], chances[i, counts[i]] = new, chance
    if _append(held, i, counts[i], weights, weighted) > DEPENDENT:
        counts[i] += 1
        return
    if entropic:  # what weights hide, equal weights show
        _remake(held, i, u, weights, weighted, False)
    while _append(held, i, counts[i], weights, weighted) <= DEPENDENT:
        # The new output is sum_j mix_j A_j: trade the others for it, which leaves u alone, until one is used up.
        k = counts[i]
        start = k * (k + 1) // 2
        mix[:k] = held.factors[i, start : start + k]
        _backward(held.factors[i], k, mix)
        most, gone = np.inf, 0
        for j in range(k):
            if mix[j] > 0.0 and chances[i, j] < most * mix[j]:
                most, gone = chances[i, j] / mix[j], j
        if most == np.inf:  # by rounding only
            most = 0.0
        for j in range(k):
            chances[i, j] = max(chances[i, j] - most * mix[j], 0.0)
        chance += most
        _drop(held, i, gone)
        rows[i, counts[i]], chances[i, counts[i]] = new, chance
    counts[i] += 1
    if entropic:
        _average(held, i, chances[i], step)
        _remake(held, i, step, weights, weighted, entropic)


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
        _average(held, i, chances, u)
        for p in range(u.size):
            g[p] = theta[p] - _slope(u[p], entropic)
        best, worst, middle = -np.inf, np.inf, 0.0
        for j in range(k):
            gains[j] = _dot(held, held.rows[i, j], g)
            middle += chances[j] * gains[j]
            best = max(best, gains[j])
            if chances[j] > 0.0:
                worst = min(worst, gains[j])
        spread = best - worst
        if spread <= goal:
            break
        if entropic and spread > 0.25 * previous:
            _remake(held, i, u, weights, weighted, entropic)
        previous = spread
        # Newton's direction within sum chances = 1: H d = gains - multiplier.
        for j in range(k):
            direction[j], ones[j] = gains[j] - middle, 1.0
        for vector in (direction, ones):
            _forward(held.factors[i], k, vector)
            _backward(held.factors[i], k, vector)
        multiplier = direction[:k].sum() / ones[:k].sum()
        slope = 0.0
        for j in range(k):
            direction[j] -= multiplier * ones[j]
            slope += direction[j] * (gains[j] - middle)
        if slope <= 0.0:  # by rounding only
            break
        _average(held, i, direction, step)
        longest, gone = 1.0, -1
        for j in range(k):
            if direction[j] < 0.0 and chances[j] < -direction[j] * longest:
                longest, gone = chances[j] / -direction[j], j
        if entropic:
            for p in range(u.size):
                if u[p] > SMALL and BACK_OFF * u[p] < -step[p] * longest:
                    longest, gone = BACK_OFF * u[p] / -step[p], -1
        t = 0.0 if longest == 0.0 else _search(theta, u, step, longest, 1e-3, 0.5, entropic)
        for j in range(k):
            chances[j] = max(chances[j] + t * direction[j], 0.0)
        if gone >= 0 and t == longest:
            _drop(held, i, gone)
            previous = np.inf


@njit(cache=True, nogil=True)
def _settle(held, i, u):  # type: ignore[no-untyped-def]
    """Make the chances sum to one, and u their mean."""
    total = 0.0
    for j in range(held.counts[i]):
        total += held.chances[i, j]
    for j in range(held.counts[i]):
        held.chances[i, j] /= total
    _average(held, i, held.chances[i], u)


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
                _drop(held, i, j)
        _settle(held, i, u)


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

    The direction is the one with the larger slope, the step the best one. Guelat and Marcotte's away steps.
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
            g[p] = own[p] - _slope(u[p], entropic)
            along += g[p] * u[p] if u[p] > 0.0 else 0.0
        worst, lowest = -1, np.inf
        for j in range(held.counts[i]):
            gain = _dot(held, held.rows[i, j], g)
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
            t = _search(own, u, step, longest, 1e-13, 1e-13, entropic)
        for j in range(held.counts[i]):
            held.chances[i, j] *= 1.0 - sign * t
        if away:
            held.chances[i, worst] -= t
            if t == longest:
                _forget(held, i, worst)
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
                _forget(held, i, j)
        _settle(held, i, u)
