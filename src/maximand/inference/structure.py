"""The shape of a graph, and batches of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.caching import cached_property
from maximand.inference.structure_checks import checked_edges, checked_types, whole
from maximand.layout import Kind, Layout
from maximand.numerics.graphs import Factors
from maximand.support import Array, Bools, Ints


@dataclass(frozen=True, eq=False)
class Structure:
    """A graph without scores: the number of states of each node, its edges, and which table each edge uses.

    Edges with the same table share its scores (they are tied); None gives every edge a table of its own. A table is
    indexed [state of the edge's first node, state of its second]. Nodes may be of several types, numbered from 0;
    then `table_types` has for each table the types of the first and the second node of its edges.
    """

    states: Ints
    edges: Ints
    tables: Ints
    n_tables: int
    types: Ints | None = None
    table_types: Ints | None = None

    @classmethod
    def of(
        cls, n_states: Any, edges: Any, tables: Any = None, n_tables: int | None = None, where: str = "The graph",
        types: Any = None, table_types: Any = None,
    ) -> Structure:  # fmt: skip
        """Check and return a graph: states per node, pairs of nodes, the table of each pair and how many there are.

        Where nodes have types, `table_types` need only be given where a table is used by no edge.
        """
        states = whole(n_states, f"{where}: the numbers of states")
        if states.ndim != 1:
            raise ValueError(f"{where}: the numbers of states have shape {states.shape}; give one for each node.")
        if states.size == 0:
            raise ValueError(f"{where} has no nodes; drop it.")
        if (states < 1).any():
            v = int(np.argmax(states < 1))
            raise ValueError(f"{where}: node {v} has {states[v]} states; each node needs at least one.")
        pairs = checked_edges(edges, (states.size, states.size), where)
        used = np.arange(len(pairs)) if tables is None else whole(tables, f"{where}: the tables")
        if used.shape != (len(pairs),) or (used < 0).any():
            raise ValueError(f"{where}: give each of the {len(pairs)} edges the number of its table, from 0.")
        most = int(used.max(initial=-1)) + 1
        if n_tables is not None and most > n_tables:
            raise ValueError(f"{where}: edge {int(np.argmax(used))} uses table {most - 1} but there are {n_tables}.")
        count = most if n_tables is None else n_tables
        return cls(
            states, pairs, used, count, *checked_types(types, table_types, states.size, pairs, used, count, where)
        )

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
    def key(self) -> tuple[Any, ...]:
        """What tells structures apart."""
        types = () if self.types is None else (self.types.tobytes(), np.asarray(self.table_types).tobytes())
        return self.states.tobytes(), self.edges.tobytes(), self.tables.tobytes(), self.n_tables, *types


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
    def types(self) -> Ints:
        """The type of each node, one structure after the other; 0 where nodes have none."""
        return np.concatenate(
            [np.zeros_like(graph.states) if graph.types is None else graph.types for graph in self.graphs]
        )

    @cached_property
    def table_types(self) -> Ints:
        """The types that each table joins, (table, 2)."""
        found = [graph.table_types for graph in self.graphs]
        none = np.zeros((int(self.n_tables.max()), 2), dtype=np.int64)
        return np.concatenate([none[:n] if own is None else own for own, n in zip(found, self.n_tables, strict=True)])

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
        return self.structures.arrays[1][self.places(self.structures.n_nodes, self.node_offsets)]

    def places(self, sizes: Ints, offsets: Ints) -> Ints:
        """Return for each node or table of the batch where it is among those of all structures, which have so many."""
        first = np.cumsum(sizes) - sizes
        return np.arange(offsets[-1]) + np.repeat(first[self.which] - offsets[:-1], np.diff(offsets))

    @cached_property
    def existing(self) -> Bools:
        """The matrix (node, state) of the states that there are."""
        return np.arange(self.width) < self.states[:, None]
