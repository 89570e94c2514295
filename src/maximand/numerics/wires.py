"""The half edges of pairwise factor graphs, and scores laid out for messages along them.

Slots are the half edges of a graph, ordered by the node that they belong to: the slots of a node are its mailboxes.
Forbidden parts score FORBIDDEN, which swallows every finite score and needs no care with differences.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.numerics.exponential import exponentials
from maximand.support import Array, Bools, Ints

FORBIDDEN = -1e200
DEAD = -1e199  # nothing that is allowed scores below


class Wires(NamedTuple):
    """The slots of a structure. Slot s of u, the half of an edge to v, holds the message from v to u."""

    begin: Ints  # node u has the slots begin[u]:begin[u+1]
    other: Ints  # of each slot: the node at the other end
    mirror: Ints  # the slot of the other end
    oriented: Ints  # 2 * table where its node is on the left, 2 * table + 1 where it is on the right
    order: Ints  # nodes, parents first
    up: Ints  # of each node: its slot towards the parent, -1 at roots


class Scores(NamedTuple):
    """The scores of an example. Tables are turned to [state of sender, state of receiver]."""

    states: Ints  # of each node
    temperatures: Array
    mixed: bool  # whether the temperatures differ
    hidden: Bools  # of each node: whether it is inside of the maximum or soft maximum over the others
    nodes: Array
    tables: Array
    factor: Ints  # of each slot: what a message from its node multiplies with
    weights: Array  # of each factor: the turned table T, or exp((T - column maxima) / temperature)
    peaks: Array  # of each factor: the column maxima


class Room(NamedTuple):
    """Scratch space for the slots of a block."""

    cavities: Array
    weights: Array
    flat: Array  # the weights in one row
    sums: Array
    tops: Array
    heats: Array  # the temperature of each message
    tail: Array


@njit(cache=True, nogil=True)
def connect(factors, s, wires):  # type: ignore[no-untyped-def]
    """Write the wires of structure s."""
    origin, n = factors.first_node[s], factors.first_node[s + 1] - factors.first_node[s]
    edges = factors.first_edge[s]
    start = factors.first_incident[origin]
    n_slots = factors.first_incident[origin + n] - start
    place = np.empty(n_slots, dtype=np.int64)
    for j in range(n_slots):
        place[factors.incident[start + j]] = j
    for u in range(n + 1):
        wires.begin[u] = factors.first_incident[origin + u] - start
    for j in range(n_slots):
        half = factors.incident[start + j]
        e, side = edges + half // 2, half % 2
        wires.other[j] = factors.left[e] if side else factors.right[e]
        wires.mirror[j] = place[half ^ 1]
        wires.oriented[j] = 2 * factors.table[e] + side
    wires.up[:n] = -2
    tail = 0
    for root in range(n):
        if wires.up[root] != -2:
            continue
        wires.up[root] = -1
        wires.order[tail] = root
        head, tail = tail, tail + 1
        while head < tail:
            u = wires.order[head]
            head += 1
            for j in range(wires.begin[u], wires.begin[u + 1]):
                v = wires.other[j]
                if wires.up[v] == -2:
                    wires.up[v] = wires.mirror[j]
                    wires.order[tail] = v
                    tail += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _prepare_factor(table, side, temperature, weights, peaks):  # type: ignore[no-untyped-def]
    """Turn a table so that the sender's states come first, and exponentiate it; return its largest finite score."""
    k = peaks.size
    size = 0.0
    for l in range(k):
        for m in range(k):
            score = max(table[m, l] if side else table[l, m], FORBIDDEN)
            weights[l, m] = score
            if score > DEAD:
                size = max(size, abs(score))
    if temperature > 0.0:
        for m in range(k):
            peaks[m] = FORBIDDEN
            for l in range(k):
                peaks[m] = max(peaks[m], weights[l, m])
        for l in range(k):
            for m in range(k):
                weights[l, m] = (weights[l, m] - peaks[m]) / temperature
        exponentials(weights.reshape(k * k))
    return size


@njit(cache=True, nogil=True)
def prepare(wires, scores, nodes, levels, n_levels, found):  # type: ignore[no-untyped-def]
    """Write the scores of nodes and the factors; return the largest finite score.

    Each table is prepared once for each side and temperature of messages over it: that of the hidden end where there is
    one, but of maximised outputs always 0.
    """
    n, k = nodes.shape
    size, n_found = 0.0, 0
    found[: 2 * scores.tables.shape[0] * n_levels] = -1
    for u in range(n):
        for l in range(k):
            scores.nodes[u, l] = FORBIDDEN
            if l < scores.states[u] and nodes[u, l] > DEAD:
                scores.nodes[u, l] = nodes[u, l]
                size = max(size, abs(nodes[u, l]))
        for j in range(wires.begin[u], wires.begin[u + 1]):
            t, v = wires.oriented[j], wires.other[j]
            warm = v if scores.hidden[v] and scores.temperatures[u] > 0.0 else u
            key = t * n_levels + levels[warm]
            if found[key] < 0:
                found[key] = n_found
                weights, peaks = scores.weights[n_found], scores.peaks[n_found]
                largest = _prepare_factor(scores.tables[t // 2], t % 2, scores.temperatures[warm], weights, peaks)
                size = max(size, largest)
                n_found += 1
            scores.factor[j] = found[key]
    return size
