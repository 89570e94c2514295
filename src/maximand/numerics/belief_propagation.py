"""Belief propagation on batches of pairwise factor graphs."""

import numpy as np
from numba import njit

from maximand.numerics.beliefs import decode, write_means
from maximand.numerics.graphs import Factors, node_scores, table_scores
from maximand.numerics.messages import BLOCK, send
from maximand.numerics.schedules import chase, plan_all, plan_sweep
from maximand.numerics.wires import Room, Scores, Wires, connect, prepare
from maximand.support import Array, Bools, Ints

CALM = 10  # sweeps of a forest before messages are damped


@njit(cache=True, nogil=True)
def propagate(
    factors: Factors,
    theta: Array,
    temperatures: Array,
    hidden: Bools,
    levels: Ints,
    n_levels: int,
    forests: Bools,
    max_iterations: int,
    damping: float,
    tolerance: float,
    residual: bool | None,
    codes: Ints,
    values: Array,
    mean: Array,
    converged: Bools,
    warm: bool,
    messages: Array,
    begins: Ints,
) -> None:
    """Propagate beliefs in every example and write the best state of every belief, and whether they converged.

    Outputs have one temperature and hidden nodes another; nodes of equal temperature have equal levels, of n_levels.
    Where all nodes of an example have a temperature above 0, also write Bethe's value and the beliefs; other examples
    have NaN and 0. A forest of one temperature is swept once, which is exact, and one of both until nothing changes, at
    most max_iterations times. residual is True or None: where it is None, `chase` need not compile. Where `warm`, the
    messages of example i begin as messages[begins[i]:begins[i+1]], slot by slot, and are left there.
    """
    k = factors.width
    all_nodes, all_tables = node_scores(factors, theta), table_scores(factors, theta)
    mean[:] = 0.0
    node_means, table_means = node_scores(factors, mean), table_scores(factors, mean)
    most_nodes, most_slots, most_tables, block = 0, 0, 0, BLOCK
    for i in range(factors.which.size):
        s = factors.which[i]
        most_nodes = max(most_nodes, factors.first_node[s + 1] - factors.first_node[s])
        most_slots = max(most_slots, 2 * (factors.first_edge[s + 1] - factors.first_edge[s]))
        most_tables = max(most_tables, factors.table_offsets[i + 1] - factors.table_offsets[i])
        if i == 0 or s != factors.which[i - 1]:
            for v in range(factors.first_node[s], factors.first_node[s + 1]):
                block = max(block, factors.first_incident[v + 1] - factors.first_incident[v])
    wires = Wires(
        np.empty(most_nodes + 1, dtype=np.int64), np.empty(most_slots, dtype=np.int64),
        np.empty(most_slots, dtype=np.int64), np.empty(most_slots, dtype=np.int64),
        np.empty(most_nodes, dtype=np.int64), np.empty(most_nodes, dtype=np.int64),
    )  # fmt: skip
    flat = np.empty(block * k)
    room = Room(
        np.empty((block, k)),
        flat.reshape(block, k),
        flat,
        np.empty((block, k)),
        np.empty(block),
        np.empty(block),
        np.empty(k),
    )
    found = np.empty(2 * most_tables * n_levels, dtype=np.int64)
    n_factors = min(most_slots, found.size)
    own_nodes, factor = np.empty((most_nodes, k)), np.empty(most_slots, dtype=np.int64)
    weights, peaks = np.empty((n_factors, k, k)), np.empty((n_factors, k))
    inbox, fresh, change = np.empty((most_slots, k)), np.empty((most_slots, k)), np.empty(most_slots)
    plan = np.empty((2 * most_nodes, 4), dtype=np.int64)
    for i in range(factors.which.size):
        s = factors.which[i]
        if i == 0 or s != factors.which[i - 1]:
            connect(factors, s, wires)
        origin, n = factors.first_node[s], factors.first_node[s + 1] - factors.first_node[s]
        nodes = slice(factors.node_offsets[i], factors.node_offsets[i + 1])
        tables = slice(factors.table_offsets[i], factors.table_offsets[i + 1])
        warmth = temperatures[nodes]
        coldest, hottest = warmth.min(), warmth.max()
        scores = Scores(
            factors.states[origin : origin + n], warmth, coldest < hottest, hidden[nodes], own_nodes,
            all_tables[tables], factor, weights, peaks,
        )  # fmt: skip
        size = prepare(wires, scores, all_nodes[nodes], levels[nodes], n_levels, found)
        threshold = tolerance * (size + hottest)
        n_slots = wires.begin[n]
        inbox[:n_slots], fresh[:n_slots] = 0.0, 0.0
        if warm:
            inbox[:n_slots] = messages[begins[i] : begins[i + 1]].reshape(n_slots, k)
        converged[i] = False
        if residual is not None and not forests[i]:
            rows = plan[: plan_all(wires, warmth, plan)]
            n_updates = max_iterations * n_slots
            converged[i] = chase(wires, scores, room, inbox, fresh, change, rows, damping, threshold, n_updates)
        else:
            forest = forests[i]
            rows = plan[: plan_sweep(wires, n, plan) if forest else plan_all(wires, warmth, plan)]
            for sweep in range(max_iterations):
                share = 0.0 if forest and sweep < CALM else damping
                largest = send(wires, scores, room, inbox, inbox if forest else fresh, change, rows, share)
                if not forest:
                    inbox, fresh = fresh, inbox
                converged[i] = largest <= threshold or (forest and coldest == hottest)
                if converged[i]:
                    break
        if warm:
            messages[begins[i] : begins[i + 1]] = inbox[:n_slots].reshape(n_slots * k)
        values[i] = np.nan
        decode(wires, scores, inbox, forests[i], codes[nodes])
        if coldest > 0.0:
            values[i] = write_means(wires, scores, room, inbox, fresh, node_means[nodes], table_means[tables])
