"""Projections onto the convex hull of outputs that an argmax finds one by one.

For each example, maximise over u in the hull of the outputs

    f(u) = theta @ u - Psi(u),   Psi(u) = |u|^2 / 2   or   sum of u log u,

where u = sum_j chances[j] A_j is held as a mixture of the outputs A_j found so far. The slope g = theta - Psi'(u) is
what the argmax is asked for; its answer v has the gap g @ (v - u), which bounds how far f(u) is from the maximum.

u log u has an infinite slope at 0. Below SMALL it is continued by its parabola there, whose slope is finite; no f(u)
changes by more than SMALL / 2 for each part, so parts that no output has used yet need no case of their own.

Vectors over parts lie example by example here: example i owns starts[i]:starts[i+1] of theta, mean and weights. What to
do with a new output is said in active_set.py and away_steps.py.
"""

from math import log
from typing import NamedTuple

from numba import njit

from maximand.support import Array, Ints

SMALL = 1e-30
LOG_SMALL = log(SMALL)
SEARCH_STEPS = 100


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
def slope_at(u, entropic):  # type: ignore[no-untyped-def]
    """Psi'(u) of one part."""
    if not entropic:
        return u
    return log(u) + 1.0 if u > SMALL else LOG_SMALL + u / SMALL


@njit(cache=True, nogil=True)
def curvature_at(u, entropic):  # type: ignore[no-untyped-def]
    """Psi''(u) of one part."""
    return 1.0 / max(u, SMALL) if entropic else 1.0


@njit(cache=True, nogil=True)
def slopes(theta: Array, mean: Array, starts: Ints, chosen: Ints, places: Ints, entropic: bool, out: Array) -> None:
    """Write theta - Psi'(mean) of chosen examples to their places in a vector of their own batch."""
    q = 0
    for i in chosen:
        for p in range(starts[i], starts[i + 1]):
            out[places[q]] = theta[p] - slope_at(mean[p], entropic)
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
def average(held, i, amounts, out):  # type: ignore[no-untyped-def]
    """out = sum_j amounts[j] A_j."""
    out[:] = 0.0
    for j in range(held.counts[i]):
        row, amount = held.rows[i, j], amounts[j]
        if amount != 0.0:
            for k in range(held.pointers[row], held.pointers[row + 1]):
                out[held.parts[k]] += amount * held.values[k]


@njit(cache=True, nogil=True)
def dot(held, row, vector):  # type: ignore[no-untyped-def]
    """Return the product of a row of outputs and a vector over parts."""
    total = 0.0
    for k in range(held.pointers[row], held.pointers[row + 1]):
        total += held.values[k] * vector[held.parts[k]]
    return total


@njit(cache=True, nogil=True)
def search(theta, u, step, longest, low, high, entropic):  # type: ignore[no-untyped-def]
    """Largest f(u + t step) over 0 < t <= longest: where the slope in t is within -low..high of that at the start.

    Newton's steps on the slope, which falls, between the bounds known.
    """
    at_start = 0.0
    for p in range(u.size):
        if step[p] != 0.0:
            at_start += step[p] * (theta[p] - slope_at(u[p], entropic))
    left, right, t = 0.0, longest, longest
    for attempt in range(SEARCH_STEPS):
        slope, bend = 0.0, 0.0
        for p in range(u.size):
            if step[p] != 0.0:
                there = max(u[p] + t * step[p], 0.0)
                slope += step[p] * (theta[p] - slope_at(there, entropic))
                bend += step[p] * step[p] * curvature_at(there, entropic)
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


@njit(cache=True, nogil=True)
def forget(held, i, j):  # type: ignore[no-untyped-def]
    """Take output j from those of example i, without regard to the factor."""
    for m in range(j + 1, held.counts[i]):
        held.rows[i, m - 1] = held.rows[i, m]
        held.chances[i, m - 1] = held.chances[i, m]
    held.counts[i] -= 1


@njit(cache=True, nogil=True)
def settle(held, i, u):  # type: ignore[no-untyped-def]
    """Make the chances sum to one, and u their mean."""
    total = 0.0
    for j in range(held.counts[i]):
        total += held.chances[i, j]
    for j in range(held.counts[i]):
        held.chances[i, j] /= total
    average(held, i, held.chances[i], u)
