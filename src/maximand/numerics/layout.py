"""Vectors over the parts of a batch, in runs: begins[k, i] is where the parts of kind k of example i begin.

sizes[k, i] says how many they are. Two vectors may differ in where their runs begin, not in how long they are.
"""

import numpy as np
from numba import njit

from maximand.support import Array, Bools, Ints


@njit(cache=True, nogil=True)
def nonzeros(vector: Array, begins: Ints, sizes: Ints, wanted: Ints) -> tuple[Ints, Ints, Array]:
    """Return the nonzero entries of some examples as CSR rows over their own parts, kind after kind."""
    n_kinds = len(begins)
    pointers = np.zeros(wanted.size + 1, dtype=np.int64)
    for w in range(wanted.size):
        i = wanted[w]
        count = 0
        for k in range(n_kinds):
            for p in range(begins[k, i], begins[k, i] + sizes[k, i]):
                count += vector[p] != 0.0
        pointers[w + 1] = pointers[w] + count
    parts, values = np.empty(pointers[-1], dtype=np.int32), np.empty(pointers[-1])
    place = 0
    for w in range(wanted.size):
        i = wanted[w]
        own = 0
        for k in range(n_kinds):
            begin = begins[k, i]
            for p in range(begin, begin + sizes[k, i]):
                if vector[p] != 0.0:
                    parts[place], values[place] = own + p - begin, vector[p]
                    place += 1
            own += sizes[k, i]
    return pointers, parts, values


@njit(cache=True, nogil=True)
def dots(theta: Array, theta_begins: Ints, mean: Array, begins: Ints, sizes: Ints, out: Array) -> None:
    """out[i] = theta_i @ mean_i."""
    for i in range(out.size):
        total = 0.0
        for k in range(len(begins)):
            shift = theta_begins[k, i] - begins[k, i]
            for p in range(begins[k, i], begins[k, i] + sizes[k, i]):
                total += theta[p + shift] * mean[p]
        out[i] = total


@njit(cache=True, nogil=True)
def scale(mean: Array, factors: Array, begins: Ints, sizes: Ints, out: Array) -> None:
    """out_i = factors[i] * mean_i."""
    for i in range(factors.size):
        for k in range(len(begins)):
            for p in range(begins[k, i], begins[k, i] + sizes[k, i]):
                out[p] = factors[i] * mean[p]


@njit(cache=True, nogil=True)
def copy(source: Array, chosen: Ints, begins: Ints, sizes: Ints, out: Array, places: Ints, out_begins: Ints) -> None:
    """Write the parts of chosen examples of one vector to those of as many examples, at `places`, of another."""
    for j in range(chosen.size):
        i = chosen[j]
        for k in range(len(begins)):
            shift = out_begins[k, places[j]] - begins[k, i]
            for p in range(begins[k, i], begins[k, i] + sizes[k, i]):
                out[p + shift] = source[p]


@njit(cache=True, nogil=True)
def choose(one: Array, other: Array, takes_other: Bools, begins: Ints, sizes: Ints, out: Array) -> None:
    """out_i = other_i where it is to be taken, else one_i."""
    for i in range(takes_other.size):
        source = other if takes_other[i] else one
        for k in range(len(begins)):
            for p in range(begins[k, i], begins[k, i] + sizes[k, i]):
                out[p] = source[p]


@njit(cache=True, nogil=True)
def places(begins: Ints, sizes: Ints) -> Ints:
    """Return the place of each part in a vector, example by example."""
    n_kinds, n = begins.shape
    found = np.empty(sizes.sum(), dtype=np.int64)
    q = 0
    for i in range(n):
        for k in range(n_kinds):
            for p in range(begins[k, i], begins[k, i] + sizes[k, i]):
                found[q] = p
                q += 1
    return found
