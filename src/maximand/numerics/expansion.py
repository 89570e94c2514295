"""Expansion moves (Boykov, Veksler and Zabih 2001).

A move for state a lets every node keep its state or take a: a graph of two states, cut once. Moves follow each other
over all states until none of them brings anything.
"""

import numpy as np
from numba import njit

from maximand.numerics.couplings import lowest_score, read_example
from maximand.numerics.graphs import Factors, node_scores, table_scores
from maximand.numerics.roof_duality import HALF, cutter, label_nodes
from maximand.support import Array, Bools, Ints

ROUNDING = 1e-12  # of the sizes of all scores of a labelling: what a move must gain to count


@njit(cache=True, nogil=True)
def _score(factors, nodes, tables, i, lowest, codes):  # type: ignore[no-untyped-def]
    """Return the score of a labelling of example i, and the sum of the sizes of its parts."""
    s, base, table_base = factors.which[i], factors.node_offsets[i], factors.table_offsets[i]
    total, size = 0.0, 0.0
    for v in range(codes.size):
        score = max(nodes[base + v, codes[v]], lowest)
        total += score
        size += abs(score)
    for e in range(factors.first_edge[s], factors.first_edge[s + 1]):
        score = max(tables[table_base + factors.table[e], codes[factors.left[e]], codes[factors.right[e]]], lowest)
        total += score
        size += abs(score)
    return total, size


@njit(cache=True, nogil=True)
def _read_move(factors, nodes, tables, i, lowest, codes, state, free, work):  # type: ignore[no-untyped-def]
    """Write the gains and couplings of the move of example i for a state; 1 stands for taking it.

    Nodes that have the state or do not know it are held at 0 by their gain.
    """
    s, base, table_base = factors.which[i], factors.node_offsets[i], factors.table_offsets[i]
    start, first_edge = factors.first_node[s], factors.first_edge[s]
    gain, coupling = work.gain, work.coupling
    for v in range(codes.size):
        free[v] = codes[v] != state and state < factors.states[start + v]
        gain[v] = -1.0
        if free[v]:
            gain[v] = max(nodes[base + v, state], lowest) - max(nodes[base + v, codes[v]], lowest)
    for e in range(factors.first_edge[s + 1] - first_edge):
        u, v = factors.left[first_edge + e], factors.right[first_edge + e]
        coupling[e] = 0.0
        table = tables[table_base + factors.table[first_edge + e]]
        k, l = codes[u], codes[v]
        if free[u] and free[v]:
            a, b = max(table[k, l], lowest), max(table[k, state], lowest)
            c, d = max(table[state, l], lowest), max(table[state, state], lowest)
            gain[u] += 0.5 * ((c - a) + (d - b))
            gain[v] += 0.5 * ((b - a) + (d - c))
            coupling[e] = 0.5 * ((a - b) + (d - c))
        elif free[u]:
            gain[u] += max(table[state, l], lowest) - max(table[k, l], lowest)
        elif free[v]:
            gain[v] += max(table[k, state], lowest) - max(table[k, l], lowest)


@njit(cache=True, nogil=True)
def _move(factors, nodes, tables, i, lowest, n_states, max_sweeps, codes, trial, free, work):  # type: ignore[no-untyped-def]
    """Change the labelling of example i by moves for all states in turn; returns whether none would bring more.

    Where a move cannot be decided, nodes keep their states, which never lowers the score.
    """
    n = codes.size
    score, size = _score(factors, nodes, tables, i, lowest, codes)
    idle = 0
    for count in range(max_sweeps * n_states):
        state = count % n_states
        _read_move(factors, nodes, tables, i, lowest, codes, state, free, work)
        complete = label_nodes(factors, factors.which[i], work)
        changed = False
        for v in range(n):
            trial[v] = state if work.label[v] == 1 else codes[v]
            changed |= work.label[v] == 1
        idle += 1
        if changed:
            new_score, new_size = _score(factors, nodes, tables, i, lowest, trial[:n])
            if new_score > score + ROUNDING * max(size, new_size):
                for v in range(n):
                    codes[v] = trial[v]
                score, size = new_score, new_size
                # The best move for a state leaves no other for it.
                idle = 1 if complete else 0
        if idle == n_states:
            return True
    return False


@njit(cache=True, nogil=True)
def expand(factors: Factors, theta: Array, forbidden: bool, max_sweeps: int, codes: Ints, converged: Bools) -> bool:
    """Write a labelling of every example, a state for each node; returns whether all of them are known to be the best.

    `forbidden` says whether theta holds -inf. Nodes start in the best of their own states. In a graph of two states,
    those that the relaxation decides take their label at once; it is exact where it decides all.
    """
    nodes, tables = node_scores(factors, theta), table_scores(factors, theta)
    work = cutter(factors)
    trial, free = np.empty(work.gain.size, np.int64), np.empty(work.gain.size, np.bool_)
    exact = True
    for i in range(factors.which.size):
        s, base = factors.which[i], factors.node_offsets[i]
        own, n_states = codes[base : factors.node_offsets[i + 1]], 1
        for v in range(own.size):
            known = factors.states[factors.first_node[s] + v]
            n_states = max(n_states, known)
            own[v] = 0
            for k in range(1, known):
                if nodes[base + v, k] > nodes[base + v, own[v]]:
                    own[v] = k
        complete = False
        if n_states <= 2:
            read_example(factors, nodes, tables, i, work)
            complete = label_nodes(factors, s, work)
            for v in range(own.size):
                own[v] = own[v] if work.label[v] == HALF else work.label[v]
        converged[i] = complete
        exact &= complete
        if not complete:
            lowest = lowest_score(factors, nodes, tables, i) if forbidden else -np.inf
            converged[i] = _move(factors, nodes, tables, i, lowest, n_states, max_sweeps, own, trial, free, work)
    return exact
