"""The shape of a graph, and batches of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from maximand.layout import Kind, Layout
from maximand.numerics.graphs import Factors
from maximand.support import Array, Bools, Ints


@dataclass(frozen=True, eq=False)
class Structure:
    """A graph without scores: the number of states of each node, its edges, and which table each edge uses.

    Edges with the same table share its scores (they are tied); None gives every edge a table of its own. A table is
    indexed [state of the edge's first node, state of its second].
    """

    states: Ints
    edges: Ints
    tables: Ints
    n_tables: int

    @classmethod
    def of(
        cls, n_states: Any, edges: Any, tables: Any = None, n_tables: int | None = None, where: str = "The graph"
    ) -> Structure:
        """Check and return a graph: states per node, pairs of nodes, the table of each pair and how many there are."""
        states, given = _whole(n_states, f"{where}: the numbers of states"), _whole(edges, f"{where}: the edges")
        if states.ndim != 1:
            raise ValueError(f"{where}: the numbers of states have shape {states.shape}; give one for each node.")
        if states.size == 0:
            raise ValueError(f"{where} has no nodes; drop it.")
        if (states < 1).any():
            v = int(np.argmax(states < 1))
            raise ValueError(f"{where}: node {v} has {states[v]} states; each node needs at least one.")
        if given.size and (given.ndim != 2 or given.shape[1] != 2):
            raise ValueError(f"{where}: the edges have shape {given.shape}; give pairs of nodes, (n_edges, 2).")
        pairs = given.reshape(-1, 2)
        _check_pairs(pairs, states.size, where)
        used = np.arange(len(pairs)) if tables is None else _whole(tables, f"{where}: the tables")
        if used.shape != (len(pairs),) or (used < 0).any():
            raise ValueError(f"{where}: give each of the {len(pairs)} edges the number of its table, from 0.")
        most = int(used.max(initial=-1)) + 1
        if n_tables is not None and most > n_tables:
            raise ValueError(f"{where}: edge {int(np.argmax(used))} uses table {most - 1} but there are {n_tables}.")
        return cls(states, pairs, used, most if n_tables is None else n_tables)

    @classmethod
    def complete(cls, n_nodes: int, n_states: int = 2) -> Structure:
        """Return the graph in which every two nodes are joined, each pair (u, v), u < v, by a table of its own."""
        edges = np.stack(np.triu_indices(n_nodes, 1), axis=1)
        return cls.of(np.full(n_nodes, n_states), edges)

    @classmethod
    def edgeless(cls, n_nodes: int, n_states: int = 2) -> Structure:
        """Return the graph without edges."""
        return cls.of(np.full(n_nodes, n_states), np.zeros((0, 2), dtype=np.int64))

    @classmethod
    def grid(cls, height: int, width: int, n_states: int = 2, diagonals: bool = False, tied: bool = True) -> Structure:
        """Return a grid whose nodes are numbered row by row. Tied: one table for each direction of edges.

        The directions are right, down and, where asked for, down right and down left.
        """
        if min(height, width) < 1:
            raise ValueError(f"A grid of {height} x {width} has no nodes; both sides must be at least 1.")
        places = np.arange(height * width).reshape(height, width)
        joined = [(places[:, :-1], places[:, 1:]), (places[:-1], places[1:])]
        if diagonals:
            joined += [(places[:-1, :-1], places[1:, 1:]), (places[:-1, 1:], places[1:, :-1])]
        edges = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in joined])
        direction = np.repeat(np.arange(len(joined)), [a.size for a, _ in joined])
        numbers = (direction, len(joined)) if tied else (None, None)
        return cls.of(np.full(height * width, n_states), edges, *numbers)

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return self.states.size

    @cached_property
    def key(self) -> tuple[bytes, bytes, bytes, int]:
        """What tells structures apart."""
        return self.states.tobytes(), self.edges.tobytes(), self.tables.tobytes(), self.n_tables


def _whole(numbers: Any, what: str) -> Ints:
    try:
        array = np.asarray(numbers)
    except ValueError:
        raise ValueError(f"{what} differ in length; give as many numbers in each row.") from None
    if array.dtype.kind not in "iu" and not (array.dtype.kind == "f" and (array == np.floor(array)).all()):
        raise ValueError(f"{what} must be whole numbers.")
    return array.astype(np.int64)


def _check_pairs(pairs: Ints, n_nodes: int, where: str) -> None:
    outside = ((pairs < 0) | (pairs >= n_nodes)).any(axis=1)
    if outside.any():
        e = int(np.argmax(outside))
        raise ValueError(f"{where}: edge {e} joins {pairs[e].tolist()} but the nodes are numbered 0 to {n_nodes - 1}.")
    loops = pairs[:, 0] == pairs[:, 1]
    if loops.any():
        e = int(np.argmax(loops))
        raise ValueError(
            f"{where}: edge {e} joins node {pairs[e, 0]} with itself; drop it, and give its scores or features to the "
            "node."
        )
    _, first, inverse = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[inverse.ravel()] != np.arange(len(pairs)))
    if again.size:
        e = int(again[0])
        raise ValueError(
            f"{where}: edge {e} joins {pairs[e].tolist()} like edge {int(first[inverse.ravel()[e]])}; keep one, with "
            "the sum of their scores or features."
        )


class Structures:
    """The distinct structures of a batch, laid side by side."""

    def __init__(self, graphs: Sequence[Structure], width: int | None = None):
        self.graphs = tuple(graphs)
        most = max(int(graph.states.max()) for graph in self.graphs)
        self.width = most if width is None else width
        if most > self.width:
            raise ValueError(f"A node has {most} states, but there are {self.width}.")
        self.n_nodes = np.array([graph.n_nodes for graph in self.graphs])
        self.n_edges = np.array([len(graph.edges) for graph in self.graphs])
        self.n_tables = np.array([graph.n_tables for graph in self.graphs])

    @cached_property
    def arrays(self) -> tuple[Ints, ...]:
        """What `Factors` holds of the structures."""
        first_node = np.concatenate([[0], np.cumsum(self.n_nodes)])
        edges = np.concatenate([graph.edges for graph in self.graphs])
        first_edge = np.concatenate([[0], np.cumsum(self.n_edges)])
        ends = edges + np.repeat(first_node[:-1], self.n_edges)[:, None]
        local = np.arange(len(edges)) - np.repeat(first_edge[:-1], self.n_edges)
        # Every node sees its edges in their order.
        owner, half = ends.ravel(), np.stack([2 * local, 2 * local + 1], axis=1).ravel()
        order = np.argsort(owner, kind="stable")
        first_incident = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=int(first_node[-1])))])
        return (
            first_node, np.concatenate([graph.states for graph in self.graphs]), first_edge,
            np.ascontiguousarray(edges[:, 0]), np.ascontiguousarray(edges[:, 1]),
            np.concatenate([graph.tables for graph in self.graphs]), first_incident, half[order],
        )  # fmt: skip

    @cached_property
    def forests(self) -> np.ndarray:
        """Per structure: whether it has no cycle."""
        return np.array([_is_forest(graph) for graph in self.graphs])


def _is_forest(graph: Structure) -> bool:
    parent = list(range(graph.n_nodes))

    def root(v: int) -> int:
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    for u, v in graph.edges.tolist():
        a, b = root(u), root(v)
        if a == b:
            return False
        parent[a] = b
    return True


class FactorGraphs:
    """A batch of graphs: the structure of each example, and where its nodes and tables are in theta."""

    def __init__(self, structures: Structures, which: Ints):
        self.structures, self.which = structures, np.asarray(which, dtype=np.int64)
        self.width = structures.width
        self.node_offsets = np.concatenate([[0], np.cumsum(structures.n_nodes[self.which])])
        self.table_offsets = np.concatenate([[0], np.cumsum(structures.n_tables[self.which])])
        self.n_examples = self.which.size
        self.n_node_parts = int(self.node_offsets[-1]) * self.width
        self.n_parts = self.n_node_parts + int(self.table_offsets[-1]) * self.width**2

    @classmethod
    def of(cls, graphs: Sequence[Structure], width: int | None = None) -> FactorGraphs:
        """Return a batch of graphs; equal ones are stored once."""
        if not graphs:
            raise ValueError("There are no graphs.")
        numbers: dict[Any, int] = {}
        which = np.array([numbers.setdefault(graph.key, len(numbers)) for graph in graphs])
        distinct = [graphs[int(np.argmax(which == s))] for s in range(len(numbers))]
        return cls(Structures(distinct, width), which)

    @cached_property
    def factors(self) -> Factors:
        """The batch as kernels see it."""
        return Factors(self.width, self.node_offsets, self.table_offsets, self.which, *self.structures.arrays)

    def take(self, examples: Ints | slice) -> FactorGraphs:
        """Return the batch of some of the examples."""
        return FactorGraphs(self.structures, self.which[examples])

    @cached_property
    def layout(self) -> Layout:
        """Nodes, then tables."""
        k = self.width
        return Layout((Kind("nodes", self.node_offsets * k, (k,)), Kind("tables", self.table_offsets * k**2, (k, k))))

    def nodes(self, theta: Array) -> Array:
        """View the node parts as the matrix (node, state)."""
        return theta[: self.n_node_parts].reshape(-1, self.width)

    def tables(self, theta: Array) -> Array:
        """View the table parts as an array (table, left state, right state)."""
        return theta[self.n_node_parts :].reshape(-1, self.width, self.width)

    @cached_property
    def states(self) -> Ints:
        """The number of states of every node of the batch."""
        first_node, states, *_ = self.structures.arrays
        shift = first_node[self.which] - self.node_offsets[:-1]
        return states[np.arange(self.node_offsets[-1]) + np.repeat(shift, np.diff(self.node_offsets))]

    @cached_property
    def existing(self) -> Bools:
        """The matrix (node, state) of the states that there are."""
        return np.arange(self.width) < self.states[:, None]
