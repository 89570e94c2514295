"""Weights of a graph: node scores per label, and tables for its edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from maximand.caching import cached_property
from maximand.features.base import FeatureMap
from maximand.features.blocks import Block, TiedBlock
from maximand.features.inputs import Examples
from maximand.features.per_label import PerLabel, check_counts
from maximand.features.row_block import RowBlock, no_indices
from maximand.features.rows import Rows
from maximand.spaces.node_types import node_kind, table_kind
from maximand.support import Array, Ints

if TYPE_CHECKING:
    from maximand.spaces import Graph


@dataclass(frozen=True)
class GraphRows:
    """Rows of features for each kind of nodes, and for each kind of tables that has such.

    `shapes` says for each graph how its nodes are arranged: those of a grid as (height, width), those of several types
    as the number of each.
    """

    by_kind: Mapping[str, Rows]
    shapes: tuple[tuple[int, ...], ...] = ()

    @property
    def n_examples(self) -> int:
        """The number of graphs."""
        return next(iter(self.by_kind.values())).n_examples

    @property
    def n_bytes(self) -> int:
        """The memory that the matrices take."""
        return sum(rows.n_bytes for rows in self.by_kind.values())

    def rows(self, kind: str) -> Rows:
        """Return those of a kind of nodes or tables."""
        return self.by_kind[kind]

    def take(self, examples: Ints | slice) -> GraphRows:
        """Return the inputs of some examples."""
        chosen = range(self.n_examples)[examples] if isinstance(examples, slice) else examples
        return GraphRows(
            {kind: rows.take(examples) for kind, rows in self.by_kind.items()},
            tuple(self.shapes[i] for i in chosen) if self.shapes else (),
        )


@dataclass(frozen=True)
class TableWeights:
    """Weights of the tables that join nodes of two types, `ends`.

    pattern[state, state] says which weight of its table a pair has, or -1; pairs with the same number share it. The
    tables are either the same for all graphs (tied), n_tables of them, each with weights of its own; or they have
    features, and each feature has these weights.
    """

    pattern: Ints
    n_tables: int = 0
    n_features: int = 0
    ends: tuple[int, int] = (0, 0)

    @property
    def n_columns(self) -> int:
        """The number of weights of a table or of a feature of tables."""
        return int(self.pattern.max(initial=-1)) + 1

    @property
    def n_weights(self) -> int:
        """The number of weights of all tables or features."""
        return (self.n_tables + self.n_features) * self.n_columns

    def on(self, kind: str) -> Block | None:
        """Return the block that scores parts of a kind; None where there are no tables."""
        pattern = self.pattern.ravel().astype(np.int64)
        if self.n_features:
            return RowBlock(kind, self.n_features, self.n_columns, columns=pattern)
        own = np.arange(self.n_tables)[:, None] * self.n_columns + pattern
        tied = np.where(pattern >= 0, own, -1).ravel()
        return TiedBlock(kind, tied, self.n_tables * self.n_columns) if tied.size else None

    def entries(self, weights: Array) -> Array:
        """Return weights as an array (table or feature, state, state); zero where a pair has none."""
        pattern, n = self.pattern, self.n_tables + self.n_features
        if not self.n_columns:
            return np.zeros((n, *pattern.shape))
        return np.where(pattern >= 0, weights.reshape(n, self.n_columns)[:, pattern], 0.0)


@dataclass(frozen=True)
class GraphFeatures(FeatureMap):
    """Scores of the parts of a `Graph`: for each type of nodes those of their labels, then those of tables.

    A row of the input gives scores for the labels of its type; it has one part for each label or, where `columns` is
    given, parts with the score of the label named there (-1: none).
    The weights are those of nodes, type by type, then those of tables. Associative: the latter are not negative.
    """

    nodes: tuple[PerLabel, ...]
    tables: tuple[TableWeights, ...] = ()
    associative: bool = False
    columns: Ints = field(default_factory=no_indices)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Rows score nodes; tables are tied, or have rows of their own."""
        n = len(self.nodes)
        nodes = [own.on(node_kind(t, n), self.columns) for t, own in enumerate(self.nodes)]
        tables = [own.on(table_kind(own.ends, n)) for own in self.tables]
        return (*nodes, *(block for block in tables if block is not None))

    @property
    def n_node_weights(self) -> int:
        """The number of weights of nodes."""
        return sum(own.n_weights for own in self.nodes)

    @property
    def n_weights(self) -> int:
        """Those of nodes and tables: counted without making the tables."""
        return self.n_node_weights + sum(own.n_weights for own in self.tables)

    @property
    def nonnegative(self) -> slice:
        """The weights of tables, where they are associative."""
        return slice(self.n_node_weights, self.n_weights if self.associative else self.n_node_weights)

    def without_edges(self, examples: Examples) -> tuple[FeatureMap, Examples] | None:
        """Return the weights of nodes, and graphs of nodes alone."""
        if self.n_weights == self.n_node_weights:
            return None
        nodes = replace(self, tables=(), associative=False)
        return nodes, Examples(cast("Graph", examples.space).without_edges(), examples.inputs)

    def check(self) -> None:
        """Refuse numbers that point outside."""
        for node in self.nodes:
            node.check()
        for tables in self.tables:
            self._check_tables(tables)
        columns, sizes = self.columns, [node.n_labels for node in self.nodes]
        if columns.ndim != 1 or columns.dtype.kind not in "iu" or (columns < -1).any() or (columns >= min(sizes)).any():
            raise ValueError("The features of the graph name labels that do not exist.")
        if not isinstance(self.associative, bool):
            raise ValueError("associative says yes or no.")

    def _check_tables(self, tables: TableWeights) -> None:
        pattern = tables.pattern
        if (
            pattern.ndim != 2
            or pattern.dtype.kind not in "iu"
            or (pattern < -1).any()
            or (pattern >= pattern.size).any()
        ):
            raise ValueError("The pattern of a table names weights that do not exist.")
        check_counts(tables.n_tables, tables.n_features)
        if len(tables.ends) != 2 or not all(0 <= t < len(self.nodes) for t in tables.ends):
            raise ValueError("Tables join types of nodes that do not exist.")
        for t, size in zip(tables.ends, pattern.shape, strict=True):
            if not size or (self.columns.size or self.nodes[t].n_labels) % size:
                raise ValueError("The parts of a row do not fit the states of the nodes.")

    def table_weights(self, weights: Array) -> list[Array]:
        """Return for each kind of tables an array (table or feature, state, state); zero where there is no weight."""
        starts = self.n_node_weights + np.cumsum([0] + [own.n_weights for own in self.tables])
        return [own.entries(weights[a:b]) for own, a, b in zip(self.tables, starts[:-1], starts[1:], strict=True)]
