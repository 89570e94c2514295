"""Vectors over the parts of a batch, in two fields: example i owns one run of the first and one of the second."""

import numpy as np
from numba import njit

from maximand.support import Array, Bools, Ints


@njit(cache=True, nogil=True)
def nonzeros(vector: Array, first: Ints, second: Ints, wanted: Ints) -> tuple[Ints, Ints, Array]:
    """Return the nonzero entries of some examples as CSR rows over their own parts.

    Example i owns vector[first[i]:first[i+1]], then vector[second[i]:second[i+1]].
    """
    pointers = np.zeros(wanted.size + 1, dtype=np.int64)
    for w in range(wanted.size):
        i = wanted[w]
        count = 0
        for p in range(first[i], first[i + 1]):
            count += vector[p] != 0.0
        for p in range(second[i], second[i + 1]):
            count += vector[p] != 0.0
        pointers[w + 1] = pointers[w] + count
    parts, values = np.empty(pointers[-1], dtype=np.int32), np.empty(pointers[-1])
    place = 0
    for w in range(wanted.size):
        i = wanted[w]
        for p in range(first[i], first[i + 1]):
            if vector[p] != 0.0:
                parts[place], values[place] = p - first[i], vector[p]
                place += 1
        own = first[i + 1] - first[i]
        for p in range(second[i], second[i + 1]):
            if vector[p] != 0.0:
                parts[place], values[place] = own + p - second[i], vector[p]
                place += 1
    return pointers, parts, values


@njit(cache=True, nogil=True)
def dots(theta: Array, mean: Array, first: Ints, second: Ints, out: Array) -> None:
    """out[i] = theta_i @ mean_i."""
    for i in range(out.size):
        total = 0.0
        for p in range(first[i], first[i + 1]):
            total += theta[p] * mean[p]
        for p in range(second[i], second[i + 1]):
            total += theta[p] * mean[p]
        out[i] = total


@njit(cache=True, nogil=True)
def scale(mean: Array, factors: Array, first: Ints, second: Ints, out: Array) -> None:
    """out_i = factors[i] * mean_i."""
    for i in range(factors.size):
        for p in range(first[i], first[i + 1]):
            out[p] = factors[i] * mean[p]
        for p in range(second[i], second[i + 1]):
            out[p] = factors[i] * mean[p]


@njit(cache=True, nogil=True)
def copy_parts(
    source: Array, chosen: Ints, first: Ints, second: Ints, target: Array, places: Ints, to_first: Ints, to_second: Ints
) -> None:
    """Write the parts of chosen examples of one vector to those of as many examples, at `places`, of another."""
    for j in range(chosen.size):
        i, k = chosen[j], places[j]
        for p in range(first[i + 1] - first[i]):
            target[to_first[k] + p] = source[first[i] + p]
        for p in range(second[i + 1] - second[i]):
            target[to_second[k] + p] = source[second[i] + p]


@njit(cache=True, nogil=True)
def choose(one: Array, other: Array, takes_other: Bools, first: Ints, second: Ints, out: Array) -> None:
    """out_i = other_i where it is to be taken, else one_i."""
    for i in range(takes_other.size):
        source = other if takes_other[i] else one
        for p in range(first[i], first[i + 1]):
            out[p] = source[p]
        for p in range(second[i], second[i + 1]):
            out[p] = source[p]
