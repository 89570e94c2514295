"""Labellings and marginals from messages that have been passed: see numerics.messages."""

import numpy as np
from numba import njit

from maximand.numerics.exponential import exponentials
from maximand.numerics.messages import write_cavities
from maximand.numerics.wires import DEAD, FORBIDDEN


@njit(cache=True, nogil=True)
def decode(wires, scores, inbox, forest, codes):  # type: ignore[no-untyped-def]
    """Write the best state of every belief; in a forest, of every maximised node given that of a maximised parent.

    Among tied labellings these states fit together.
    """
    for i in range(codes.size):
        u = wires.order[i]
        up = wires.up[u]
        given = forest and up >= 0 and scores.temperatures[u] == 0.0 and scores.temperatures[wires.other[up]] == 0.0
        best, top = 0, -np.inf
        for l in range(scores.states[u]):
            score = scores.nodes[u, l]
            for j in range(wires.begin[u], wires.begin[u + 1]):
                if given and j == up:
                    score += scores.weights[scores.factor[j], l, codes[wires.other[j]]]
                else:
                    score += inbox[j, l]
            if score > top:
                best, top = l, score
        codes[u] = best


@njit(cache=True, nogil=True, error_model="numpy")
def _soften(vector, temperature):  # type: ignore[no-untyped-def]
    """Replace scores by their softmax, or zeros where nothing is left; return their soft maximum."""
    top = FORBIDDEN
    for m in range(vector.size):
        top = max(top, vector[m])
    if top <= DEAD:
        vector[:] = 0.0
        return top
    total = 0.0
    for m in range(vector.size):
        vector[m] = np.exp((vector[m] - top) / temperature)
        total += vector[m]
    for m in range(vector.size):
        vector[m] /= total
    return top + temperature * np.log(total)


@njit(cache=True, nogil=True, error_model="numpy")
def _soften_pair(near, far, table, turned, outside, inside, pair, outer):  # type: ignore[no-untyped-def]
    """Write the belief of an edge, flat and its outer end first; return its soft maximum, FORBIDDEN if nothing is left.

    The inner end is summed out first, given the state of the outer. near and far are the cavities of the outer and the
    inner end, outside and inside their temperatures.
    """
    k = outer.size
    for l in range(k):
        top = FORBIDDEN
        for m in range(k):
            pair[l * k + m] = max(far[m] + (table[m, l] if turned else table[l, m]), FORBIDDEN)
            top = max(top, pair[l * k + m])
        outer[l] = near[l] + top
        for m in range(k):
            pair[l * k + m] = (pair[l * k + m] - top) / inside
    exponentials(pair)
    for l in range(k):
        total = 0.0
        for m in range(k):
            total += pair[l * k + m]
        for m in range(k):
            pair[l * k + m] /= total
        outer[l] += inside * np.log(total)
    value = _soften(outer, outside)
    for l in range(k):
        for m in range(k):
            pair[l * k + m] *= outer[l]
    return value


@njit(cache=True, nogil=True)
def write_means(wires, scores, room, inbox, cavities, node_mean, table_mean):  # type: ignore[no-untyped-def]
    """Write the beliefs of all nodes and edges and return Bethe's value, or -inf where nothing is left.

    The value is the sum over nodes of (1 - degree) F(node) + the sum over edges of F(edge), F the soft maximum of a
    belief, hidden nodes inside of outputs. All temperatures are above 0.
    """
    n, k = node_mean.shape
    zero = np.int64(0)  # for a plain 0, write_cavities would compile once more
    write_cavities(scores.nodes, wires.begin, inbox, zero, n, cavities, zero, room.tail)
    outer, pair = np.empty(k), np.empty(k * k)
    temperatures, hidden = scores.temperatures, scores.hidden
    value = 0.0
    for u in range(n):
        start, stop = wires.begin[u], wires.begin[u + 1]
        belief = node_mean[u]
        for l in range(k):
            belief[l] = scores.nodes[u, l]
            for j in range(start, stop):
                belief[l] += inbox[j, l]
        soft = _soften(belief, temperatures[u])
        value += (1 - (stop - start)) * soft
        for j in range(start, stop):
            if wires.oriented[j] % 2 == 1 or soft <= DEAD:
                continue
            v, t = wires.other[j], wires.oriented[j] // 2
            near, far = cavities[j], cavities[wires.mirror[j]]
            here, there = temperatures[u], temperatures[v]
            turned = hidden[u] and not hidden[v]
            if turned:
                near, far, here, there = far, near, there, here
            soft = _soften_pair(near, far, scores.tables[t], turned, here, there, pair, outer)
            value += soft
            for l in range(k):
                for m in range(k):
                    table_mean[t, l, m] += pair[m * k + l if turned else l * k + m]
        if soft <= DEAD:
            node_mean[:] = 0.0
            table_mean[:] = 0.0
            return -np.inf
    return value
