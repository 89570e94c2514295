"""Markov random fields with hidden nodes, drawn at random and sampled exactly.

    p(x, y, h) ∝ exp(sum of w_x[x_v] + w_y[y_v] or w_h[h_v] + w_xy[x_v, y_v] or w_xh[x_v, h_v] + sum of w_yh[y_u, h_v])

Each node v of a lattice is an output y or hidden h, like the squares of a checkerboard, and has an input x_v of its
own. The first sum is over all nodes, the second over the edges of the lattice, which join outputs with hidden nodes.
A chain is a lattice one node wide: y - h - y - h. All variables have four states, all weights are normal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from maximand.support import Array, Bools, Ints
from maximand.tasks import NodesAndEdges

STATES = 4
TYPES = ("y", "h")


@dataclass(frozen=True)
class Lattice:
    """Nodes in rows, (height, width), numbered row by row; width 1 makes a chain."""

    height: int
    width: int = 1

    @property
    def n_nodes(self) -> int:
        """The number of outputs and hidden nodes; there are as many inputs."""
        return self.height * self.width

    @property
    def hidden(self) -> Bools:
        """Whether each node is hidden."""
        return np.add.outer(np.arange(self.height), np.arange(self.width)).ravel() % 2 == 1

    @property
    def edges(self) -> Ints:
        """The pairs of neighbours (earlier node, later node)."""
        numbers = np.arange(self.n_nodes).reshape(self.height, self.width)
        across = np.stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()], axis=1)
        down = np.stack([numbers[:-1].ravel(), numbers[1:].ravel()], axis=1)
        return np.concatenate([across, down])


@dataclass(frozen=True)
class Spread:
    """Standard deviations of the weights: of nodes by their kind, and of the tables of all edges.

    Those of inputs and hidden nodes may have one of their own, `xh`: the smaller, the less is known of hidden nodes.
    """

    x: float = 0.1
    y: float = 0.1
    h: float = 0.1
    pair: float = 2.0
    xh: float | None = None


@dataclass(frozen=True)
class Field:
    """Weights of a lattice: (node, state), (node, input, state) and (edge, state of the output, state hidden)."""

    lattice: Lattice
    inputs: Array
    nodes: Array
    by_input: Array
    tables: Array

    @classmethod
    def drawn(cls, lattice: Lattice, spread: Spread, shared: bool, rng: np.random.Generator) -> Field:
        """Draw weights: shared, the same for all nodes of a kind and all edges; else each has its own."""
        kind = np.where(lattice.hidden, 1, 0)
        n_kinds, n_tables = (2, 1) if shared else (lattice.n_nodes, len(lattice.edges))
        which = kind if shared else np.arange(lattice.n_nodes)
        sizes = np.array([spread.y, spread.h])[:, None][np.arange(2) if shared else kind]
        inputs = spread.x * rng.normal(size=(n_kinds, STATES))
        nodes = sizes * rng.normal(size=(n_kinds, STATES))
        of_pairs = np.array([spread.pair, spread.pair if spread.xh is None else spread.xh])
        by_input = of_pairs[np.arange(2) if shared else kind][:, None, None] * rng.normal(
            size=(n_kinds, STATES, STATES)
        )
        tables = spread.pair * rng.normal(size=(n_tables, STATES, STATES))
        chosen = np.zeros(len(lattice.edges), dtype=np.int64) if shared else np.arange(n_tables)
        return cls(lattice, inputs[which], nodes[which], by_input[which], tables[chosen])

    @property
    def without_inputs(self) -> Array:
        """The scores (node, state) with the inputs summed out: each input has but one neighbour."""
        return np.asarray(self.nodes + logsumexp(self.inputs[:, :, None] + self.by_input, axis=1))

    def sample(self, count: int, rng: np.random.Generator) -> Sample:
        """Draw from p(x, y, h): outputs and hidden nodes without the inputs, then the inputs given these."""
        states = _sampled(self, count, rng)
        given = self.inputs[:, :, None] + self.by_input
        scores = given[np.arange(self.lattice.n_nodes), :, states]
        return Sample(self.lattice, drawn_states(scores, rng), states)


class Sample(NamedTuple):
    """Inputs and states of all nodes, (example, node)."""

    lattice: Lattice
    inputs: Ints
    states: Ints

    @property
    def outputs(self) -> Ints:
        """The states of the outputs alone, (example, output)."""
        return self.states[:, ~self.lattice.hidden]

    def take(self, examples: slice) -> Sample:
        """Return some of the examples."""
        return Sample(self.lattice, self.inputs[examples], self.states[examples])

    def graphs(self, shared: bool) -> list[NodesAndEdges]:
        """Return a bias and indicators of the input for every node; where weights are not shared, for every place."""
        hidden, number = self.lattice.hidden, np.empty(self.lattice.n_nodes, dtype=np.int64)
        number[~hidden], number[hidden] = np.arange((~hidden).sum()), np.arange(hidden.sum())
        ends = self.lattice.edges
        ends = np.where(hidden[ends[:, :1]], ends[:, ::-1], ends)
        types = None if shared else {TYPES: np.arange(len(ends))}
        places = [np.ones((n, 1)) if shared else np.eye(n) for n in (number[~hidden].size, number[hidden].size)]
        return [
            NodesAndEdges(
                {"y": _placed(places[0], x[~hidden]), "h": _placed(places[1], x[hidden])},
                {TYPES: number[ends]},
                edge_types=types,
            )
            for x in np.eye(STATES)[self.inputs]
        ]

    def labels(self) -> list[dict[str, Ints]]:
        """Return the annotations: the states of outputs, and no word of hidden nodes."""
        return [{"y": y} for y in self.outputs]


def _placed(places: Array, indicators: Array) -> Array:
    """Return indicators of the place, which stand for a bias, and of place and input together."""
    together = (places[:, :, None] * indicators[:, None, :]).reshape(len(places), -1)
    return np.concatenate([places, together], axis=1)


def drawn_states(scores: Array, rng: np.random.Generator) -> Ints:
    """Draw a state for each row of scores (..., state), with probabilities proportional to their exponentials."""
    return np.asarray((scores + rng.gumbel(size=scores.shape)).argmax(axis=-1))


def _sampled(field: Field, count: int, rng: np.random.Generator) -> Ints:
    """Draw states node by node, each given those of a row before it and summed over all that come later.

    The frontier before node v is the state of the last node of each column. `later[v]` has for each of its values, one
    axis a column, the log-sum over the states of v and of all nodes after it.
    """
    lattice = field.lattice
    own = [_by_frontier(field, v) for v in range(lattice.n_nodes)]
    later = [np.zeros((STATES,) * lattice.width)]
    for v in reversed(range(lattice.n_nodes)):
        later.append(logsumexp(own[v] + _after(later[-1], v % lattice.width), axis=-1))
    later.reverse()
    states = np.empty((count, lattice.n_nodes), dtype=np.int64)
    frontier = np.zeros((count, lattice.width), dtype=np.int64)
    for v in range(lattice.n_nodes):
        scores = own[v] + _after(later[v + 1], v % lattice.width)
        scores = np.broadcast_to(scores, (STATES,) * (lattice.width + 1))
        states[:, v] = drawn_states(scores[tuple(frontier.T)], rng)
        frontier[:, v % lattice.width] = states[:, v]
    return states


def _after(later: Array, column: int) -> Array:
    """Return what comes later by frontier and state of the node in a column, which replaces the one above it."""
    return np.expand_dims(np.moveaxis(later, column, -1), column)


def _by_frontier(field: Field, v: int) -> Array:
    """Return the scores of the states of a node and of its edges to earlier ones: an axis a column, then the state."""
    width = field.lattice.width
    scores = field.without_inputs[v].reshape((1,) * width + (STATES,))
    for edge in np.flatnonzero(field.lattice.edges[:, 1] == v):
        u = field.lattice.edges[edge, 0]
        table = field.tables[edge].T if field.lattice.hidden[u] else field.tables[edge]
        shape = [1] * width + [STATES]
        shape[u % width] = STATES
        scores = scores + table.reshape(shape)
    return scores
