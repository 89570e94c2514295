"""Labellings improved by changing one node at a time."""

import numpy as np
from numba import njit

from maximand.numerics.graphs import Factors, node_scores, table_scores
from maximand.support import Array, Ints


@njit(cache=True, nogil=True)
def _own_scores(factors, i, v, nodes, tables, codes, out):  # type: ignore[no-untyped-def]
    """Write what each state of node v would add to the score, its neighbours being as they are."""
    s, base = factors.which[i], factors.node_offsets[i]
    first, first_edge = factors.first_node[s], factors.first_edge[s]
    k = factors.states[first + v]
    for state in range(k):
        out[state] = nodes[base + v, state]
    for j in range(factors.first_incident[first + v], factors.first_incident[first + v + 1]):
        half = factors.incident[j]
        e = first_edge + half // 2
        table = tables[factors.table_offsets[i] + factors.table[e]]
        if half % 2 == 0:
            other = codes[base + factors.right[e]]
            for state in range(k):
                out[state] += table[state, other]
        else:
            row = table[codes[base + factors.left[e]]]
            for state in range(k):
                out[state] += row[state]
    return k


@njit(cache=True, nogil=True)
def _best_change(scores, k, current):  # type: ignore[no-untyped-def]
    """Return the best state and how much it gains; the current one and 0 where none gains, rounding allowed for."""
    best = current
    for state in range(k):
        if scores[state] > scores[best]:
            best = state
    if best == current:
        return current, 0.0
    if scores[current] == -np.inf:
        return best, np.inf
    gain = scores[best] - scores[current]
    return (best, gain) if gain > 1e-12 * (1.0 + abs(scores[best])) else (current, 0.0)


@njit(cache=True, nogil=True)
def _raise_leaf(tree, size, v, gain):  # type: ignore[no-untyped-def]
    """Set a leaf of a tournament whose inner nodes hold the larger of their two children."""
    place = size + v
    tree[place] = gain
    place //= 2
    while place:
        tree[place] = max(tree[2 * place], tree[2 * place + 1])
        place //= 2


@njit(cache=True, nogil=True)
def climb(factors: Factors, theta: Array, codes: Ints) -> None:
    """Repeat the single change of a node that gains most, the first of equals, until none gains. Changes codes."""
    nodes, tables = node_scores(factors, theta), table_scores(factors, theta)
    scores = np.empty(factors.width)
    for i in range(factors.which.size):
        s, base = factors.which[i], factors.node_offsets[i]
        first, first_edge = factors.first_node[s], factors.first_edge[s]
        n = factors.first_node[s + 1] - first
        size = 1
        while size < n:
            size *= 2
        tree, best = np.zeros(2 * size), np.empty(n, dtype=np.int64)
        for v in range(n):
            k = _own_scores(factors, i, v, nodes, tables, codes, scores)
            best[v], gain = _best_change(scores, k, codes[base + v])
            _raise_leaf(tree, size, v, gain)
        while tree[1] > 0.0:
            place = 1
            while place < size:
                place = 2 * place if tree[2 * place] >= tree[2 * place + 1] else 2 * place + 1
            v = place - size
            codes[base + v] = best[v]
            _raise_leaf(tree, size, v, 0.0)
            for j in range(factors.first_incident[first + v], factors.first_incident[first + v + 1]):
                e = first_edge + factors.incident[j] // 2
                u = factors.right[e] if factors.incident[j] % 2 == 0 else factors.left[e]
                k = _own_scores(factors, i, u, nodes, tables, codes, scores)
                best[u], gain = _best_change(scores, k, codes[base + u])
                _raise_leaf(tree, size, u, gain)


@njit(cache=True, nogil=True)
def sweep_nodes(factors: Factors, theta: Array, codes: Ints) -> None:
    """Give each node in turn its best state, sweep after sweep, until nothing changes. Changes codes."""
    nodes, tables = node_scores(factors, theta), table_scores(factors, theta)
    scores = np.empty(factors.width)
    for i in range(factors.which.size):
        base = factors.node_offsets[i]
        changed = True
        while changed:
            changed = False
            for v in range(factors.node_offsets[i + 1] - base):
                k = _own_scores(factors, i, v, nodes, tables, codes, scores)
                best, gain = _best_change(scores, k, codes[base + v])
                if gain > 0.0:
                    codes[base + v] = best
                    changed = True
