"""The k best paths of a chain."""

import numpy as np
from numba import njit

from maximand.support import Array, Ints


@njit(cache=True, nogil=True)
def ranked_paths(
    nodes: Array, transitions: Array, first: Array, between: Array, last: Array, k: int
) -> tuple[Array, Ints]:
    """Return the values and states of the k best paths of one example, best first; fewer when fewer are legal."""
    length, n_states = nodes.shape
    move = transitions + between
    values = np.full((length, n_states, k), -np.inf)
    origin = np.zeros((length, n_states, k), dtype=np.int64)  # state * k + rank of the predecessor
    for m in range(n_states):
        values[0, m, 0] = nodes[0, m] + first[m]
    cursor = np.empty(n_states, dtype=np.int64)
    for t in range(1, length):
        for m in range(n_states):
            cursor[:] = 0
            for rank in range(k):  # merge the sorted lists of all predecessors
                best = -1
                top = -np.inf
                for l in range(n_states):
                    if cursor[l] < k and values[t - 1, l, cursor[l]] + move[l, m] > top:
                        top = values[t - 1, l, cursor[l]] + move[l, m]
                        best = l
                if best < 0:
                    break
                values[t, m, rank] = top + nodes[t, m]
                origin[t, m, rank] = best * k + cursor[best]
                cursor[best] += 1
    best_values = np.full(k, -np.inf)
    states = np.zeros((k, length), dtype=np.int64)
    cursor[:] = 0
    found = 0
    for rank in range(k):
        best = -1
        top = -np.inf
        for m in range(n_states):
            if cursor[m] < k and values[length - 1, m, cursor[m]] + last[m] > top:
                top = values[length - 1, m, cursor[m]] + last[m]
                best = m
        if best < 0:
            break
        best_values[rank] = top
        found += 1
        state, place = best, cursor[best]
        cursor[best] += 1
        for t in range(length - 1, -1, -1):
            states[rank, t] = state
            state, place = origin[t, state, place] // k, origin[t, state, place] % k
    return best_values[:found], states[:found]
