"""Maxima and sums over all labellings by eliminating one node after another.

A step takes a node v: the sum of all factors that contain it is a function of v and of the nodes still connected to it,
its separator. Its maximum or soft maximum over v is a message on the separator: a factor of a later step. Functions of
several nodes are flat arrays in which each node has a stride.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.numerics.graphs import Factors
from maximand.support import Array, Ints


class Plans(NamedTuple):
    """The steps of each structure of a batch: those of structure s are first_step[s]:first_step[s+1]."""

    first_step: Ints
    room: Ints  # of each structure: the length of all its messages together
    node: Ints  # of each step: the node that is eliminated
    message: Ints  # and where its message begins
    first_separator: Ints  # and where its separator begins
    separator: Ints
    first_factor: Ints  # and where its factors begin, those that are not the scores of the node itself
    edge: Ints  # of each factor: the edge, or -1 for a message
    start: Ints  # and where that message begins
    first_stride: Ints  # and where its strides begin: of the node, then of the separator, 0 where it does not depend
    stride: Ints


@njit(cache=True, nogil=True)
def _begin(plans, factors, i, step, starts, digits, limits):  # type: ignore[no-untyped-def]
    """Put all nodes of a separator into state 0: write where each factor starts; return the number of states."""
    s, k = factors.which[i], factors.width
    first = factors.first_node[s]
    for j in range(plans.first_factor[step], plans.first_factor[step + 1]):
        e = plans.edge[j]
        place = plans.start[j]
        if e >= 0:
            table = factors.table_offsets[i] + factors.table[factors.first_edge[s] + e]
            place = (factors.node_offsets[-1] + table * k) * k
        starts[j - plans.first_factor[step]] = place
    for d in range(plans.first_separator[step + 1] - plans.first_separator[step]):
        digits[d] = 0
        limits[d] = factors.states[first + plans.separator[plans.first_separator[step] + d]]
    return factors.states[first + plans.node[step]]


@njit(cache=True, nogil=True)
def _advance(plans, step, starts, digits, limits):  # type: ignore[no-untyped-def]
    """Go on to the next state of the separator, its first node counting fastest; say whether there is one."""
    first = plans.first_factor[step]
    n_factors = plans.first_factor[step + 1] - first
    for d in range(plans.first_separator[step + 1] - plans.first_separator[step]):
        digits[d] += 1
        turns = 1
        if digits[d] == limits[d]:
            digits[d], turns = 0, 1 - limits[d]
        for j in range(n_factors):
            starts[j] += turns * plans.stride[plans.first_stride[first + j] + 1 + d]
        if turns == 1:
            return True
    return False


@njit(cache=True, nogil=True)
def _write_row(plans, factors, i, step, starts, k, theta, messages, row):  # type: ignore[no-untyped-def]
    """Write the sum of the factors of a step for each state of its node, the separator being as it is."""
    own = (factors.node_offsets[i] + plans.node[step]) * factors.width
    for state in range(k):
        row[state] = theta[own + state]
    for j in range(plans.first_factor[step], plans.first_factor[step + 1]):
        source = theta if plans.edge[j] >= 0 else messages
        start, stride = starts[j - plans.first_factor[step]], plans.stride[plans.first_stride[j]]
        for state in range(k):
            row[state] += source[start + state * stride]


@njit(cache=True, nogil=True)
def _upward(plans, plan, factors, i, theta, temperatures, messages, choices, work):  # type: ignore[no-untyped-def]
    """Send all messages; return the (soft) maximum over all labellings of example i."""
    row, starts, digits, limits = work
    base, total = factors.node_offsets[i], 0.0
    for step in range(plans.first_step[plan], plans.first_step[plan + 1]):
        temperature = temperatures[base + plans.node[step]]
        k = _begin(plans, factors, i, step, starts, digits, limits)
        place, more = plans.message[step], True
        while more:
            _write_row(plans, factors, i, step, starts, k, theta, messages, row)
            best = 0
            for state in range(1, k):
                if row[state] > row[best]:
                    best = state
            value = row[best]
            choices[place] = best
            if temperature > 0.0 and value > -np.inf:
                weight = 0.0
                for state in range(k):
                    weight += np.exp((row[state] - value) / temperature)
                value += temperature * np.log(weight)
            messages[place] = value
            place += 1
            more = _advance(plans, step, starts, digits, limits)
        if plans.first_separator[step] == plans.first_separator[step + 1]:
            total += messages[plans.message[step]]
    return total


@njit(cache=True, nogil=True)
def _choose(plans, plan, factors, i, choices, codes):  # type: ignore[no-untyped-def]
    """Write the best state of every node, the last one eliminated first."""
    base, first = factors.node_offsets[i], factors.first_node[factors.which[i]]
    for step in range(plans.first_step[plan + 1] - 1, plans.first_step[plan] - 1, -1):
        place, stride = plans.message[step], 1
        for d in range(plans.first_separator[step], plans.first_separator[step + 1]):
            place += codes[base + plans.separator[d]] * stride
            stride *= factors.states[first + plans.separator[d]]
        codes[base + plans.node[step]] = choices[place]


@njit(cache=True, nogil=True)
def _downward(plans, plan, factors, i, theta, temperatures, messages, choices, chances, mean, work):  # type: ignore[no-untyped-def]
    """Add the marginals to mean: the chance of a separator times that of the node's states given it, step by step.

    A node of temperature 0 has the state that was chosen given its separator.
    """
    row, starts, digits, limits = work
    chances[: plans.room[plan]] = 0.0
    for step in range(plans.first_step[plan + 1] - 1, plans.first_step[plan] - 1, -1):
        k = _begin(plans, factors, i, step, starts, digits, limits)
        node = factors.node_offsets[i] + plans.node[step]
        own, temperature = node * factors.width, temperatures[node]
        place, more = plans.message[step], True
        if plans.first_separator[step] == plans.first_separator[step + 1]:
            chances[place] = 1.0
        while more:
            if chances[place] > 0.0:
                if temperature > 0.0:
                    _write_row(plans, factors, i, step, starts, k, theta, messages, row)
                for state in range(k):
                    if temperature > 0.0:
                        row[state] = chances[place] * np.exp((row[state] - messages[place]) / temperature)
                    else:
                        row[state] = chances[place] if state == choices[place] else 0.0
                    mean[own + state] += row[state]
                for j in range(plans.first_factor[step], plans.first_factor[step + 1]):
                    target = mean if plans.edge[j] >= 0 else chances
                    start, stride = starts[j - plans.first_factor[step]], plans.stride[plans.first_stride[j]]
                    for state in range(k):
                        target[start + state * stride] += row[state]
            place += 1
            more = _advance(plans, step, starts, digits, limits)


@njit(cache=True, nogil=True)
def _work(plans, factors):  # type: ignore[no-untyped-def]
    """Return room for a row, for the starts of factors, and for the states of a separator and their limits."""
    most_factors, most_nodes = 1, 1
    for step in range(plans.node.size):
        most_factors = max(most_factors, plans.first_factor[step + 1] - plans.first_factor[step])
        most_nodes = max(most_nodes, plans.first_separator[step + 1] - plans.first_separator[step])
    return (
        np.empty(factors.width), np.empty(most_factors, dtype=np.int64), np.empty(most_nodes, dtype=np.int64),
        np.empty(most_nodes, dtype=np.int64),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def eliminate_best(plans: Plans, which: Ints, factors: Factors, theta: Array, codes: Ints) -> None:
    """Write the best labelling of every example, which has the plan which[i]."""
    work, room = _work(plans, factors), plans.room.max()
    messages, choices = np.empty(room), np.empty(room, dtype=np.int32)
    cold = np.zeros(factors.node_offsets[-1])
    for i in range(factors.which.size):
        _upward(plans, which[i], factors, i, theta, cold, messages, choices, work)
        _choose(plans, which[i], factors, i, choices, codes)


@njit(cache=True, nogil=True)
def eliminate_soft(
    plans: Plans, which: Ints, factors: Factors, theta: Array, temperatures: Array, values: Array, mean: Array
) -> None:
    """Write the soft maximum and the marginals of every example, which has the plan which[i].

    Each node has a temperature: what is eliminated first is summed up or maximised inside of what comes later.
    """
    work, room = _work(plans, factors), plans.room.max()
    messages, choices, chances = np.empty(room), np.empty(room, dtype=np.int32), np.empty(room)
    mean[:] = 0.0
    for i in range(factors.which.size):
        values[i] = _upward(plans, which[i], factors, i, theta, temperatures, messages, choices, work)
        if values[i] > -np.inf:
            _downward(plans, which[i], factors, i, theta, temperatures, messages, choices, chances, mean, work)
