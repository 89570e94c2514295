"""Labellings and marginals from messages that have been passed: see numerics.messages."""

import numpy as np
from numba import njit

from maximand.numerics.exponential import exponentials
from maximand.numerics.messages import write_cavities
from maximand.numerics.wires import DEAD, FORBIDDEN


@njit(cache=True, nogil=True)
def decode(wires, scores, inbox, codes):  # type: ignore[no-untyped-def]
    """Write the best state of every belief."""
    for u in range(codes.size):
        best, top = 0, -np.inf
        for l in range(scores.states[u]):
            belief = scores.nodes[u, l]
            for j in range(wires.begin[u], wires.begin[u + 1]):
                belief += inbox[j, l]
            if belief > top:
                best, top = l, belief
        codes[u] = best


@njit(cache=True, nogil=True)
def decode_forest(wires, scores, inbox, codes):  # type: ignore[no-untyped-def]
    """Write the best state of every node given its parent's: among tied labellings this one fits together."""
    for i in range(codes.size):
        u = wires.order[i]
        best, top = 0, -np.inf
        for l in range(scores.states[u]):
            score = scores.nodes[u, l]
            for j in range(wires.begin[u], wires.begin[u + 1]):
                if j == wires.up[u]:
                    score += scores.weights[scores.factor[j], l, codes[wires.other[j]]]
                else:
                    score += inbox[j, l]
            if score > top:
                best, top = l, score
        codes[u] = best


@njit(cache=True, nogil=True, error_model="numpy")
def _soften(vector, temperature, code):  # type: ignore[no-untyped-def]
    """Replace scores by their softmax, or the indicator of `code` at temperature 0; return their soft maximum."""
    top = FORBIDDEN
    for m in range(vector.size):
        top = max(top, vector[m])
    if top <= DEAD or temperature == 0.0:
        vector[:] = 0.0
        vector[code] = 1.0
        return top
    total = 0.0
    for m in range(vector.size):
        vector[m] = np.exp((vector[m] - top) / temperature)
        total += vector[m]
    for m in range(vector.size):
        vector[m] /= total
    return top + temperature * np.log(total)


@njit(cache=True, nogil=True, error_model="numpy")
def _soften_pair(near, far, table, turned, cold, hot, pair, outer, bits):  # type: ignore[no-untyped-def]
    """Write the belief of an edge, flat and colder end first; return its soft maximum, FORBIDDEN if nothing is left.

    The hotter end is summed out first, given the state of the colder. near and far are the cavities of the colder and
    the hotter end, cold and hot their (temperature, best state).
    """
    k = outer.size
    for l in range(k):
        top = FORBIDDEN
        for m in range(k):
            pair[l * k + m] = max(far[m] + (table[m, l] if turned else table[l, m]), FORBIDDEN)
            top = max(top, pair[l * k + m])
        outer[l] = near[l] + top
        for m in range(k):
            pair[l * k + m] -= top
    if hot[0] == 0.0:
        pair[:] = 0.0
        pair[cold[1] * k + hot[1]] = 1.0
        chosen = table[hot[1], cold[1]] if turned else table[cold[1], hot[1]]
        return outer.max() if chosen > DEAD else FORBIDDEN
    for i in range(k * k):
        pair[i] /= hot[0]
    exponentials(pair, bits)
    for l in range(k):
        total = 0.0
        for m in range(k):
            total += pair[l * k + m]
        for m in range(k):
            pair[l * k + m] /= total
        outer[l] += hot[0] * np.log(total)
    if cold[0] == 0.0 and outer[cold[1]] <= DEAD:
        return FORBIDDEN
    value = _soften(outer, cold[0], cold[1])
    for l in range(k):
        for m in range(k):
            pair[l * k + m] *= outer[l]
    return value


@njit(cache=True, nogil=True)
def write_means(wires, scores, room, inbox, cavities, codes, node_mean, table_mean):  # type: ignore[no-untyped-def]
    """Write the beliefs of all nodes and edges and return Bethe's value, or -inf where nothing is left.

    The value is the sum over nodes of (1 - degree) F(node) + the sum over edges of F(edge), F the soft maximum of a
    belief. Sums are inside of maxima, and the hotter inside of the colder.
    """
    n, k = node_mean.shape
    write_cavities(scores.nodes, wires.begin, inbox, 0, n, cavities, 0, room.tail)
    outer, pair, bits = np.empty(k), np.empty(k * k), room.bits[: k * k]
    value = 0.0
    for u in range(n):
        start, stop = wires.begin[u], wires.begin[u + 1]
        belief, here = node_mean[u], (scores.temperatures[u], codes[u])
        for l in range(k):
            belief[l] = scores.nodes[u, l]
            for j in range(start, stop):
                belief[l] += inbox[j, l]
        soft = _soften(belief, here[0], here[1])
        value += (1 - (stop - start)) * soft
        for j in range(start, stop):
            if wires.oriented[j] % 2 == 1 or soft <= DEAD:
                continue
            v, t = wires.other[j], wires.oriented[j] // 2
            near, far, there = cavities[j], cavities[wires.mirror[j]], (scores.temperatures[v], codes[v])
            turned = here[0] > there[0]
            if turned:
                soft = _soften_pair(far, near, scores.tables[t], True, there, here, pair, outer, bits)
            else:
                soft = _soften_pair(near, far, scores.tables[t], False, here, there, pair, outer, bits)
            value += soft
            for l in range(k):
                for m in range(k):
                    table_mean[t, l, m] += pair[m * k + l if turned else l * k + m]
        if soft <= DEAD:
            node_mean[:] = 0.0
            table_mean[:] = 0.0
            return -np.inf
    return value
