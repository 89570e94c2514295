"""The best path through each state of each position of chains, see chain.py for what paths score."""

import numpy as np
from numba import njit

from maximand.support import Array, Ints


@njit(cache=True, nogil=True)
def max_marginals(nodes: Array, transitions: Array, offsets: Ints, first: Array, between: Array, last: Array) -> Array:
    """Return (t, l): the largest score of the paths that are in state l at t. Forward-backward, maxima for sums."""
    values, k = np.empty(nodes.shape), nodes.shape[1]
    after, move = np.empty(k), np.empty((k, k))
    for i in range(offsets.size - 1):
        start, stop = offsets[i], offsets[i + 1]
        if i < len(transitions):
            move[:] = transitions[i] + between
        values[start] = first + nodes[start]
        for t in range(start + 1, stop):
            for m in range(k):
                values[t, m] = -np.inf
            for l in range(k):
                before = values[t - 1, l]
                for m in range(k):
                    values[t, m] = max(values[t, m], before + move[l, m])
            for m in range(k):
                values[t, m] += nodes[t, m]
        after[:] = last
        for t in range(stop - 1, start - 1, -1):
            for m in range(k):
                values[t, m] += after[m]
            if t > start:
                ahead = after + nodes[t]
                for l in range(k):
                    best = -np.inf
                    for m in range(k):
                        best = max(best, move[l, m] + ahead[m])
                    after[l] = best
    return values
