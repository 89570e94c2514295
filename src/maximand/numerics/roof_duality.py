"""The relaxation of graphs of two states, by one minimum cut (Hammer, Hansen and Simeone 1984).

A graph of two states is a sum of gains and couplings, up to a constant: the score of x in {0, 1}^n is

    sum_v gain[v] x_v - sum_(u, v) coupling[u, v] [x_u != x_v].

Where no coupling is negative, the best x is a minimum cut. States may be renamed: a node that is turned over changes
the sign of its gain and of all its couplings, so a graph in which no cycle has an odd number of negative couplings is
as good. Any other graph is cut together with a copy of itself that is turned over: u and v are joined in both copies
where they attract, and u with the copy of v where they repel. A node whose two copies take opposite sides has that
label in some best x and in a best point of the local polytope; all others are there half 0, half 1.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.numerics.couplings import read_example
from maximand.numerics.graphs import Factors, node_scores, table_scores
from maximand.numerics.max_flow import MOST_NODES, Network, cut_large, cut_small, network
from maximand.support import Array, Ints

HALF = 2  # the label of a node that is half 0, half 1


class Cutter(NamedTuple):
    """A graph of two states and memory to cut it."""

    gain: Array
    coupling: Array
    label: Ints
    turned: Ints
    pending: Ints
    capacity: Array  # of a small network
    ahead: Ints
    behind: Ints
    level: Ints
    net: Network  # and a large one
    laid: Ints  # the structure whose arcs the network has
    slots: Ints  # of each edge of the structures: the places of its left and right end among the arcs of its graph


@njit(cache=True, nogil=True)
def cutter(factors):  # type: ignore[no-untyped-def]
    """Return a cutter for all structures of a batch."""
    n, m = 0, 0
    slots, laid = np.empty((factors.left.size, 2), np.int64), np.empty(1, np.int64)
    laid[0] = -1
    for s in range(factors.first_node.size - 1):
        start, base = factors.first_node[s], factors.first_edge[s]
        n = max(n, factors.first_node[s + 1] - start)
        m = max(m, factors.first_edge[s + 1] - base)
        for place in range(factors.first_incident[start], factors.first_incident[factors.first_node[s + 1]]):
            half = factors.incident[place]
            slots[base + half // 2, half % 2] = place - factors.first_incident[start]
    return Cutter(
        np.empty(n), np.empty(m), np.empty(n, np.int8), np.empty(n, np.int8), np.empty(n, np.int32),
        np.empty((MOST_NODES, MOST_NODES)), np.empty(MOST_NODES, np.uint64), np.empty(MOST_NODES, np.uint64),
        np.empty(MOST_NODES, np.uint64), network(2 * n, 4 * m), laid, slots,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _turn(factors, s, work):  # type: ignore[no-untyped-def]
    """Turn over nodes so that no coupling is negative; returns whether that is possible."""
    n, base = factors.first_node[s + 1] - factors.first_node[s], factors.first_edge[s]
    turned, pending = work.turned, work.pending
    for v in range(n):
        turned[v] = -1
    for root in range(n):
        if turned[root] >= 0:
            continue
        turned[root] = 0
        pending[0] = root
        count = 1
        while count > 0:
            count -= 1
            u = pending[count]
            at = factors.first_node[s] + u
            for place in range(factors.first_incident[at], factors.first_incident[at + 1]):
                half = factors.incident[place]
                e = half // 2
                if work.coupling[e] == 0.0:
                    continue
                v = factors.left[base + e] if half % 2 else factors.right[base + e]
                wanted = turned[u] ^ (work.coupling[e] < 0.0)
                if turned[v] < 0:
                    turned[v] = wanted
                    pending[count] = v
                    count += 1
                elif turned[v] != wanted:
                    return False
    return True


@njit(cache=True, nogil=True)
def _fill_small(factors, s, n, size, work):  # type: ignore[no-untyped-def]
    """Write a network of `size` nodes, n or 2 n, as a matrix."""
    capacity, ahead, behind = work.capacity, work.ahead, work.behind
    base, one = factors.first_edge[s], np.uint64(1)
    for p in range(size):
        ahead[p] = 0
    for e in range(factors.first_edge[s + 1] - base):
        strength = abs(work.coupling[e])
        if strength == 0.0:
            continue
        u, v = np.uint64(factors.left[base + e]), np.uint64(factors.right[base + e])
        if size == n:
            capacity[u, v] = capacity[v, u] = strength
            ahead[u] |= one << v
            ahead[v] |= one << u
            continue
        copy = u + np.uint64(n)
        crossed = np.uint64(n) if work.coupling[e] < 0.0 else np.uint64(0)
        near, far = v + crossed, v + np.uint64(n) - crossed
        capacity[u, near] = capacity[near, u] = capacity[copy, far] = capacity[far, copy] = strength
        ahead[u] |= one << near
        ahead[near] |= one << u
        ahead[copy] |= one << far
        ahead[far] |= one << copy
    for p in range(size):
        behind[p] = ahead[p]


@njit(cache=True, nogil=True)
def _lay(factors, s, n, size, work):  # type: ignore[no-untyped-def]
    """Lay out the arcs of a network of `size` nodes, n or 2 n."""
    first, head, twin = work.net.first, work.net.head, work.net.twin
    start, base = factors.first_node[s], factors.first_edge[s]
    arcs = 2 * (factors.first_edge[s + 1] - base)
    for v in range(n + 1):
        first[v] = factors.first_incident[start + v] - factors.first_incident[start]
    for v in range(n, size):
        first[v + 1] = arcs + first[v + 1 - n]
    for e in range(arcs // 2):
        u, v = factors.left[base + e], factors.right[base + e]
        a, b = work.slots[base + e, 0], work.slots[base + e, 1]
        crossed = 1 if size > n and work.coupling[e] < 0.0 else 0
        for copy in range(size // n):
            other = copy ^ crossed
            head[a + copy * arcs], head[b + copy * arcs] = v + other * n, u + other * n
            twin[a + copy * arcs], twin[b + copy * arcs] = b + other * arcs, a + other * arcs


@njit(cache=True, nogil=True)
def _fill_large(factors, s, n, size, work):  # type: ignore[no-untyped-def]
    """Write a network of `size` nodes, n or 2 n, as lists of arcs."""
    base, capacity = factors.first_edge[s], work.net.capacity
    m = factors.first_edge[s + 1] - base
    # A graph without its copy always has the same arcs.
    if size > n or work.laid[0] != s:
        _lay(factors, s, n, size, work)
        work.laid[0] = s if size == n else -1
    for e in range(m):
        a, b, strength = work.slots[base + e, 0], work.slots[base + e, 1], abs(work.coupling[e])
        capacity[a] = capacity[b] = strength
        if size > n:
            capacity[a + 2 * m] = capacity[b + 2 * m] = strength


@njit(cache=True, nogil=True)
def label_nodes(factors, s, work):  # type: ignore[no-untyped-def]
    """Write the labels 0, 1 or HALF of structure s with the gains and couplings in `work`.

    Returns whether no label is HALF.
    """
    n = factors.first_node[s + 1] - factors.first_node[s]
    gain, label, turned, excess, side = work.gain, work.label, work.turned, work.net.excess, work.net.side
    submodular = True
    for e in range(factors.first_edge[s + 1] - factors.first_edge[s]):
        submodular &= work.coupling[e] >= 0.0
    for v in range(n):
        turned[v] = 0
    whole = submodular or _turn(factors, s, work)
    size, more = n if whole else 2 * n, 0
    for v in range(n):
        if not whole:
            excess[v], excess[n + v] = gain[v], -gain[v]
            continue
        excess[v] = -gain[v] if turned[v] else gain[v]
        more += (excess[v] > 0.0) - (excess[v] < 0.0)
    if more > 0:
        # Few sources are cut faster: turn over all nodes.
        for v in range(n):
            excess[v] = -excess[v]
            turned[v] ^= 1
    if size <= MOST_NODES:
        _fill_small(factors, s, n, size, work)
        word = cut_small(size, work.capacity, excess, work.ahead, work.behind, work.level)
        for p in range(size):
            side[p] = word >> np.uint64(p) & np.uint64(1)
    else:
        _fill_large(factors, s, n, size, work)
        cut_large(size, work.net)
    complete = True
    for v in range(n):
        if whole:
            label[v] = side[v] ^ turned[v]
        else:
            label[v] = side[v] if side[v] != side[n + v] else HALF
            complete &= label[v] != HALF
    return complete


@njit(cache=True, nogil=True)
def relax(factors: Factors, theta: Array, values: Array, mean: Array) -> bool:
    """Write the best point of the local polytope for every example, and its value; returns whether all are outputs.

    Where every point has a forbidden part the value is -inf and the mean zero.
    """
    nodes, tables = node_scores(factors, theta), table_scores(factors, theta)
    mean[:] = 0.0
    mean_nodes, mean_tables = node_scores(factors, mean), table_scores(factors, mean)
    work = cutter(factors)
    label = work.label
    complete = True
    for i in range(factors.which.size):
        s, base, table_base = factors.which[i], factors.node_offsets[i], factors.table_offsets[i]
        read_example(factors, nodes, tables, i, work)
        complete &= label_nodes(factors, s, work)
        total = 0.0
        for v in range(factors.node_offsets[i + 1] - base):
            if label[v] != HALF:
                mean_nodes[base + v, label[v]] = 1.0
                total += nodes[base + v, label[v]]
            else:
                mean_nodes[base + v, 0] = mean_nodes[base + v, 1] = 0.5
                total += 0.5 * nodes[base + v, 0] + 0.5 * nodes[base + v, 1]
        first_edge = factors.first_edge[s]
        for e in range(factors.first_edge[s + 1] - first_edge):
            t = table_base + factors.table[first_edge + e]
            k, l = label[factors.left[first_edge + e]], label[factors.right[first_edge + e]]
            # Two halves of a pair, the same twice where both of its nodes are decided.
            other_k, other_l = k, l
            if k == HALF:
                k, other_k = 0, 1
            if l == HALF:
                l, other_l = 0, 1
                if other_k != k and work.coupling[e] < 0.0:
                    l, other_l = 1, 0
            mean_tables[t, k, l] += 0.5
            mean_tables[t, other_k, other_l] += 0.5
            total += 0.5 * tables[t, k, l] + 0.5 * tables[t, other_k, other_l]
        values[i] = total
        if total == -np.inf:
            for v in range(base, factors.node_offsets[i + 1]):
                for k in range(factors.width):
                    mean_nodes[v, k] = 0.0
            for t in range(table_base, factors.table_offsets[i + 1]):
                for k in range(factors.width):
                    for l in range(factors.width):
                        mean_tables[t, k, l] = 0.0
    return complete
