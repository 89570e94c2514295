"""Scores of all labellings of a graph, and what follows from them.

Labellings are numbered with the first node counting fastest. The scores are built node by node: those of the first
v + 1 nodes are those of the first v plus, for each state of node v, the scores that it adds, which are built the same
way, neighbour by neighbour. So a labelling costs a few additions, whatever the number of edges.
"""

import numpy as np
from numba import njit

from maximand.numerics.exponential import exponentials
from maximand.numerics.graphs import Factors, node_scores, table_scores
from maximand.support import Array, Ints


@njit(cache=True, nogil=True)
def _count(factors, i):  # type: ignore[no-untyped-def]
    s, total = factors.which[i], 1
    for v in range(factors.first_node[s], factors.first_node[s + 1]):
        total *= factors.states[v]
    return total


@njit(cache=True, nogil=True)
def _most(factors):  # type: ignore[no-untyped-def]
    most = 1
    for i in range(factors.which.size):
        most = max(most, _count(factors, i))
    return most


@njit(cache=True, nogil=True)
def _joining(factors, i):  # type: ignore[no-untyped-def]
    """Return a matrix with 1 + edge where it joins a node to a later one, -1 - edge where it comes from there, or 0."""
    s = factors.which[i]
    n = factors.first_node[s + 1] - factors.first_node[s]
    joining = np.zeros((n, n), dtype=np.int64)
    for e in range(factors.first_edge[s], factors.first_edge[s + 1]):
        u, v = factors.left[e], factors.right[e]
        if u < v:
            joining[u, v] = 1 + e
        else:
            joining[v, u] = -1 - e
    return joining


@njit(cache=True, nogil=True)
def _write_scores(factors, i, nodes, tables, scores, added):  # type: ignore[no-untyped-def]
    """Write the score of every labelling of example i; return how many there are."""
    s, base = factors.which[i], factors.node_offsets[i]
    first, n = factors.first_node[s], factors.first_node[s + 1] - factors.first_node[s]
    joining = _joining(factors, i)
    scores[0], size = 0.0, 1
    for v in range(n):
        for state in range(factors.states[first + v] - 1, -1, -1):  # the lowest last: it overwrites what all read
            added[0], done = nodes[base + v, state], 1
            for u in range(v):
                e = abs(joining[u, v]) - 1
                for other in range(factors.states[first + u] - 1, -1, -1):
                    score = 0.0
                    if e >= 0:
                        table = tables[factors.table_offsets[i] + factors.table[e]]
                        score = table[other, state] if joining[u, v] > 0 else table[state, other]
                    for p in range(done):
                        added[other * done + p] = added[p] + score
                done *= factors.states[first + u]
            for p in range(size):
                scores[state * size + p] = scores[p] + added[p]
        size *= factors.states[first + v]
    return size


@njit(cache=True, nogil=True)
def best_labellings(factors: Factors, theta: Array, share: float, codes: Ints) -> None:
    """Write the worst labelling whose score is at least `share` of the best one's; for 1, the best one.

    Where the best score is not positive, none but the best ones are at least a share of it.
    """
    nodes, tables = node_scores(factors, theta), table_scores(factors, theta)
    most = _most(factors)
    scores, added = np.empty(most), np.empty(most)
    for i in range(factors.which.size):
        count = _write_scores(factors, i, nodes, tables, scores, added)
        best = scores[:count].max()
        chosen = 0
        if share == 1.0 or best <= 0.0:
            while scores[chosen] != best:
                chosen += 1
        else:
            lowest = np.inf
            for p in range(count):
                if share * best <= scores[p] < lowest:
                    chosen, lowest = p, scores[p]
        first = factors.first_node[factors.which[i]]
        for v in range(factors.node_offsets[i + 1] - factors.node_offsets[i]):
            codes[factors.node_offsets[i] + v] = chosen % factors.states[first + v]
            chosen //= factors.states[first + v]


@njit(cache=True, nogil=True)
def better_labellings(factors: Factors, theta: Array, values: Array, counts: Ints) -> None:
    """Count for every example the labellings whose score is above a value, rounding allowed for."""
    nodes, tables = node_scores(factors, theta), table_scores(factors, theta)
    most = _most(factors)
    scores, added = np.empty(most), np.empty(most)
    for i in range(factors.which.size):
        count = _write_scores(factors, i, nodes, tables, scores, added)
        counts[i] = np.sum(scores[:count] > values[i] + 1e-9 * max(1.0, abs(values[i])))


@njit(cache=True, nogil=True)
def _add_marginals(factors, i, chances, spare, mean_nodes, mean_tables):  # type: ignore[no-untyped-def]
    """Add the chance of each labelling to its parts, by the steps of `_write_scores` in reverse. Overwrites chances."""
    s, base = factors.which[i], factors.node_offsets[i]
    first, n = factors.first_node[s], factors.first_node[s + 1] - factors.first_node[s]
    joining = _joining(factors, i)
    size = _count(factors, i)
    for v in range(n - 1, -1, -1):
        size //= factors.states[first + v]
        for state in range(factors.states[first + v]):
            left = size
            for p in range(size):
                spare[p] = chances[state * size + p]
            for u in range(v - 1, -1, -1):
                left //= factors.states[first + u]
                e = abs(joining[u, v]) - 1
                for other in range(factors.states[first + u]):
                    if e >= 0:
                        table = mean_tables[factors.table_offsets[i] + factors.table[e]]
                        total = spare[other * left : (other + 1) * left].sum()
                        if joining[u, v] > 0:
                            table[other, state] += total
                        else:
                            table[state, other] += total
                    if other:
                        for p in range(left):
                            spare[p] += spare[other * left + p]
            mean_nodes[base + v, state] = spare[0]
            if state:
                for p in range(size):
                    chances[p] += chances[state * size + p]


@njit(cache=True, nogil=True)
def soft_labellings(factors: Factors, theta: Array, temperature: float, values: Array, mean: Array) -> None:
    """Write temperature * log sum exp(score / temperature) over all labellings, and the marginals."""
    nodes, tables = node_scores(factors, theta), table_scores(factors, theta)
    mean[:] = 0.0
    mean_nodes, mean_tables = node_scores(factors, mean), table_scores(factors, mean)
    most = _most(factors)
    scores, added = np.empty(most), np.empty(most)
    for i in range(factors.which.size):
        count = _write_scores(factors, i, nodes, tables, scores, added)
        chances = scores[:count]
        best = chances.max()
        values[i] = best
        if best == -np.inf:
            continue
        for p in range(count):
            chances[p] = (chances[p] - best) / temperature
        exponentials(chances)
        total = chances.sum()
        values[i] = best + temperature * np.log(total)
        chances /= total
        _add_marginals(factors, i, chances, added, mean_nodes, mean_tables)
