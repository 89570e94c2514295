"""Pairwise factor graphs, many side by side, as kernels see them.

theta holds a row of `width` scores for each node, then a table of width * width scores for each table; a node with
fewer states leaves the rest of its row unused. Several edges of a graph may share a table, which then counts.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.support import Array, Ints


class Factors(NamedTuple):
    """A batch of graphs. Example i has the structure which[i]; equal structures are stored once.

    Structure s has nodes first_node[s]:first_node[s+1] and edges first_edge[s]:first_edge[s+1] of the arrays below.
    Inside a structure, nodes, edges and tables count from 0.
    """

    width: int  # the most states of any node
    node_offsets: Ints  # example i owns the nodes node_offsets[i]:node_offsets[i+1] of the batch
    table_offsets: Ints  # and the tables table_offsets[i]:table_offsets[i+1]
    which: Ints
    first_node: Ints
    states: Ints  # of each node: how many states it has
    first_edge: Ints
    left: Ints  # of each edge: the nodes that it joins, and its table, indexed [state of left, state of right]
    right: Ints
    table: Ints
    first_incident: Ints  # of each node of the arrays: where its edges begin in `incident`
    incident: Ints  # 2 * edge where the node is on its left, 2 * edge + 1 where it is on its right


@njit(cache=True, nogil=True)
def node_scores(factors, theta):  # type: ignore[no-untyped-def]
    """View the scores of all nodes as a matrix (node, state)."""
    n = factors.node_offsets[-1]
    return theta[: n * factors.width].reshape(n, factors.width)


@njit(cache=True, nogil=True)
def table_scores(factors, theta):  # type: ignore[no-untyped-def]
    """View the scores of all tables as an array (table, left state, right state)."""
    n, k = factors.node_offsets[-1], factors.width
    return theta[n * k :].reshape(factors.table_offsets[-1], k, k)


@njit(cache=True, nogil=True)
def write_labellings(factors: Factors, theta: Array, codes: Ints, values: Array, mean: Array) -> None:
    """Write the score and the parts of a labelling, a state for each node; no parts where the score is -inf."""
    nodes, tables = node_scores(factors, theta), table_scores(factors, theta)
    mean[:] = 0.0
    mean_nodes, mean_tables = node_scores(factors, mean), table_scores(factors, mean)
    for i in range(factors.which.size):
        s, base, table_base = factors.which[i], factors.node_offsets[i], factors.table_offsets[i]
        total = 0.0
        for v in range(base, factors.node_offsets[i + 1]):
            total += nodes[v, codes[v]]
        for e in range(factors.first_edge[s], factors.first_edge[s + 1]):
            t = table_base + factors.table[e]
            total += tables[t, codes[base + factors.left[e]], codes[base + factors.right[e]]]
        values[i] = total
        if total == -np.inf:
            continue
        for v in range(base, factors.node_offsets[i + 1]):
            mean_nodes[v, codes[v]] = 1.0
        for e in range(factors.first_edge[s], factors.first_edge[s + 1]):
            t = table_base + factors.table[e]
            mean_tables[t, codes[base + factors.left[e]], codes[base + factors.right[e]]] += 1.0
