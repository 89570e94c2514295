"""Graphs of two states as gains of nodes and couplings of edges, see roof_duality.py."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def lowest_score(factors, nodes, tables, i):  # type: ignore[no-untyped-def]
    """Return a score so low that half of it outweighs all other parts of example i."""
    s, base = factors.which[i], factors.node_offsets[i]
    start = factors.first_node[s]
    size = 0.0
    for v in range(factors.first_node[s + 1] - start):
        largest = 0.0
        for k in range(factors.states[start + v]):
            if nodes[base + v, k] > -np.inf:
                largest = max(largest, abs(nodes[base + v, k]))
        size += largest
    for e in range(factors.first_edge[s], factors.first_edge[s + 1]):
        table = tables[factors.table_offsets[i] + factors.table[e]]
        largest = 0.0
        for k in range(factors.states[start + factors.left[e]]):
            for l in range(factors.states[start + factors.right[e]]):
                if table[k, l] > -np.inf:
                    largest = max(largest, abs(table[k, l]))
        size += largest
    return -5.0 * size if size > 0.0 else -1.0


@njit(cache=True, nogil=True)
def read_example(factors, nodes, tables, i, work):  # type: ignore[no-untyped-def]
    """Write the gains and couplings of example i, with scores for its forbidden parts that no best output can have.

    A node of one state is held at 0 by its gain.
    """
    s, base, table_base = factors.which[i], factors.node_offsets[i], factors.table_offsets[i]
    start, first_edge = factors.first_node[s], factors.first_edge[s]
    gain, coupling = work.gain, work.coupling
    lowest = -np.inf
    for _ in range(2):
        for v in range(factors.first_node[s + 1] - start):
            gain[v] = -1.0
            if factors.states[start + v] > 1:
                gain[v] = max(nodes[base + v, 1], lowest) - max(nodes[base + v, 0], lowest)
        total = 0.0
        for e in range(factors.first_edge[s + 1] - first_edge):
            u, v = factors.left[first_edge + e], factors.right[first_edge + e]
            table = tables[table_base + factors.table[first_edge + e]]
            coupling[e] = 0.0
            a = max(table[0, 0], lowest)
            if factors.states[start + u] > 1 and factors.states[start + v] > 1:
                b, c, d = max(table[0, 1], lowest), max(table[1, 0], lowest), max(table[1, 1], lowest)
                gain[u] += 0.5 * ((c - a) + (d - b))
                gain[v] += 0.5 * ((b - a) + (d - c))
                coupling[e] = 0.5 * ((a - b) + (d - c))
                total += coupling[e]
            elif factors.states[start + u] > 1:
                gain[u] += max(table[1, 0], lowest) - a
            elif factors.states[start + v] > 1:
                gain[v] += max(table[0, 1], lowest) - a
        for v in range(factors.first_node[s + 1] - start):
            total += gain[v]
        if np.isfinite(total):
            break
        lowest = lowest_score(factors, nodes, tables, i)
