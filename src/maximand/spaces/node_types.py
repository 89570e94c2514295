"""Nodes of several types in one graph: each type has labels, parts and features of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.caching import cached_property
from maximand.inference import FactorGraphs, Structures
from maximand.layout import Kind, Layout
from maximand.support import Array, Ints


def node_kind(node_type: int, n_types: int) -> str:
    """Return the name of the parts of the nodes of a type."""
    return "nodes" if n_types == 1 else f"nodes {node_type}"


def table_kind(ends: tuple[int, int], n_types: int) -> str:
    """Return the name of the parts of the tables that join two types."""
    return "tables" if n_types == 1 else f"tables {ends[0]} {ends[1]}"


@dataclass(frozen=True, eq=False)
class NodeTypes:
    """What nodes of each type may be, and what joins them.

    State s of a node of type t is the label labels[t][s]: labels are numbered for all types together, and types may
    share some. Tables join the pairs of types in `joined`; each pair is a kind of parts.
    """

    labels: tuple[Ints, ...]
    joined: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, labels: Sequence[Any], joined: Sequence[tuple[int, int]]) -> NodeTypes:
        """Return the types with these labels, in increasing order: ties go to the lowest label."""
        known = tuple(np.asarray(own, dtype=np.int64) for own in labels)
        for t, own in enumerate(known):
            if not own.size or own[0] < 0 or (np.diff(own) <= 0).any():
                raise ValueError(f"The labels of type {t} are {own.tolist()}; number them from 0, in increasing order.")
        return cls(known, tuple((int(a), int(b)) for a, b in joined))

    @property
    def count(self) -> int:
        """The number of types."""
        return len(self.labels)

    @property
    def n_labels(self) -> int:
        """The number of labels of all types together."""
        return 1 + max(int(own.max(initial=-1)) for own in self.labels)

    def check(self, structures: Structures) -> None:
        """Refuse graphs whose nodes are of other types, or have more states than these have labels."""
        if int(structures.types.max()) >= self.count:
            raise ValueError(f"A node is of type {structures.types.max()}, but there are {self.count} types, from 0.")
        sizes, states = np.array([own.size for own in self.labels]), structures.arrays[1]
        beyond = states > sizes[structures.types]
        if beyond.any():
            v = int(np.argmax(beyond))
            t = int(structures.types[v])
            raise ValueError(f"A node of type {t} has {states[v]} states, but the type has {sizes[t]} labels.")
        other = set(map(tuple, structures.table_types.tolist())) - set(self.joined)
        if other:
            raise ValueError(f"A table joins the types {min(other)}, which are not among those joined: {self.joined}.")


class TypedParts:
    """The parts of a batch of graphs, type by type: (node, label of the type), then (table, label, label).

    Inferences see all nodes in one rectangle and all tables in another, as wide as the type with most labels: `packed`
    brings scores there and `unpacked` brings means back.
    """

    def __init__(self, types: NodeTypes, graphs: FactorGraphs):
        self.types, self.graphs = types, graphs
        structures, n = graphs.structures, types.count
        of_nodes = structures.types
        of_tables = structures.table_types @ np.array([n, 1])
        pairs = [a * n + b for a, b in types.joined]
        self.node_types = of_nodes[graphs.places(structures.n_nodes, graphs.node_offsets)]
        table_pairs = of_tables[graphs.places(structures.n_tables, graphs.table_offsets)]
        self.node_rows = [np.flatnonzero(self.node_types == t) for t in range(n)]
        self.table_rows = [np.flatnonzero(table_pairs == pair) for pair in pairs]

    @cached_property
    def layout(self) -> Layout:
        """Nodes type by type, then tables by the types that they join."""
        n, sizes = self.types.count, [own.size for own in self.types.labels]
        nodes = [
            Kind(node_kind(t, n), _offsets(rows, self.graphs.node_offsets) * k, (k,))
            for t, (rows, k) in enumerate(zip(self.node_rows, sizes, strict=True))
        ]
        tables = []
        for ends, rows in zip(self.types.joined, self.table_rows, strict=True):
            a, b = sizes[ends[0]], sizes[ends[1]]
            tables.append(Kind(table_kind(ends, n), _offsets(rows, self.graphs.table_offsets) * a * b, (a, b)))
        return Layout((*nodes, *tables))

    def packed(self, theta: Array) -> Array:
        """Return scores as inferences take them."""
        rectangles = np.zeros(self.graphs.n_parts)
        self._move(theta, rectangles, there=True)
        return rectangles

    def unpacked(self, rectangles: Array) -> Array:
        """Return what an inference found, type by type."""
        mean = np.empty(self.layout.n_parts)
        self._move(mean, rectangles, there=False)
        return mean

    def _move(self, typed: Array, rectangles: Array, there: bool) -> None:
        nodes, tables = self.graphs.nodes(rectangles), self.graphs.tables(rectangles)
        places = [(nodes, rows) for rows in self.node_rows] + [(tables, rows) for rows in self.table_rows]
        for kind, (rectangle, rows) in zip(self.layout.kinds, places, strict=True):
            own = np.ix_(rows, *map(np.arange, kind.shape))
            view = self.layout.view(typed, kind.name)
            if there:
                rectangle[own] = view
            else:
                view[:] = rectangle[own]

    def nodes(self, vector: Array) -> list[Array]:
        """View the nodes of each type as a matrix (node, label of the type)."""
        return [self.layout.view(vector, kind.name) for kind in self.layout.kinds[: self.types.count]]

    def by_label(self, vector: Array) -> Array:
        """Return the matrix (node, label) of all labels; zero where a type does not have one."""
        matrix = np.zeros((self.node_types.size, self.types.n_labels))
        for rows, labels, own in zip(self.node_rows, self.types.labels, self.nodes(vector), strict=True):
            matrix[rows[:, None], labels] = own
        return matrix

    def of_labels(self, matrix: Any) -> list[Any]:
        """Return for each type the columns (node, label of the type) of a matrix (node, label)."""
        return [matrix[rows[:, None], labels] for rows, labels in zip(self.node_rows, self.types.labels, strict=True)]

    @cached_property
    def _labels(self) -> Ints:
        """The label of each state, (type, state); those of the last states are repeated."""
        return np.stack([np.resize(own, self.graphs.width) for own in self.types.labels])

    @cached_property
    def _states(self) -> Ints:
        """The state of each label, (type, label); -1 where the type does not have it."""
        states = np.full((self.types.count, self.types.n_labels), -1)
        for t, labels in enumerate(self.types.labels):
            states[t, labels] = np.arange(labels.size)
        return states

    @property
    def states_of_labels(self) -> Ints:
        """The state of each label, (node, label); -1 where the type of the node does not have it."""
        return self._states[self.node_types]

    def labels(self, states: Ints) -> Ints:
        """Return the labels of states of all nodes."""
        return self._labels[self.node_types, states]

    def states(self, labels: Ints) -> Ints:
        """Return the states of labels of all nodes, -1 where the type of a node does not have its label."""
        return self._states[self.node_types, labels]


def _offsets(rows: Ints, offsets: Ints) -> Ints:
    """Return how many of these rows come before each of the offsets."""
    return np.searchsorted(rows, offsets)
