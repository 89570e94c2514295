"""Weights of a graph: node scores per label, and tables for its edges."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from maximand.features.base import FeatureMap
from maximand.features.blocks import Block, RowBlock, TiedBlock, no_indices
from maximand.features.inputs import Examples
from maximand.features.per_label import PerLabel
from maximand.features.rows import Rows
from maximand.support import Array, Ints

if TYPE_CHECKING:
    from maximand.spaces import Graph


@dataclass(frozen=True)
class GraphRows(Rows):
    """Rows of node features, and a row of features for each table where tables have such.

    `shapes` says for each graph how its nodes are arranged: those of a grid as (height, width).
    """

    tables: Rows | None = None
    shapes: tuple[tuple[int, ...], ...] = ()

    @property
    def n_bytes(self) -> int:
        """The memory that the matrices take."""
        return super().n_bytes + (0 if self.tables is None else self.tables.n_bytes)

    def rows(self, kind: str) -> Rows:
        """Return those of nodes, or of tables."""
        if kind != "tables":
            return self
        assert self.tables is not None
        return self.tables

    def take(self, examples: Ints | slice) -> GraphRows:
        """Return the inputs of some examples."""
        rows = super().take(examples)
        chosen = range(self.n_examples)[examples] if isinstance(examples, slice) else examples
        tables = None if self.tables is None else self.tables.take(examples)
        return GraphRows(
            rows.matrix, rows.offsets, tables, tuple(self.shapes[i] for i in chosen) if self.shapes else ()
        )


@dataclass(frozen=True)
class GraphFeatures(FeatureMap):
    """Scores of the parts of a `Graph`.

    A row of the input gives scores for the labels of `node`; it has one part for each label or, where `columns` is
    given, parts with the score of the label named there (-1: none). pattern[state, state] says which weight of its
    table a pair has, or -1; pairs with the same number share it. The tables are either the same for all graphs (tied),
    n_tables of them, each with weights of its own; or they have features, and each feature has these weights.
    The weights are those of `node`, then those of the tables. Associative: the latter are not negative.
    """

    node: PerLabel
    pattern: Ints
    n_tables: int = 0
    n_table_features: int = 0
    associative: bool = False
    columns: Ints = field(default_factory=no_indices)

    @property
    def n_labels(self) -> int:
        """The number of labels that rows are scored for."""
        return self.node.n_labels

    @property
    def n_columns(self) -> int:
        """The number of weights of a table or of a feature of tables."""
        return int(self.pattern.max(initial=-1)) + 1

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Rows score nodes; tables are tied, or have rows of their own."""
        node = self.node.on("nodes", self.columns)
        pattern = self.pattern.ravel().astype(np.int64)
        if self.n_table_features:
            return node, RowBlock("tables", self.n_table_features, self.n_columns, columns=pattern)
        own = np.arange(self.n_tables)[:, None] * self.n_columns + pattern
        tied = np.where(pattern >= 0, own, -1).ravel()
        return (node, TiedBlock("tables", tied, self.n_tables * self.n_columns)) if tied.size else (node,)

    @property
    def nonnegative(self) -> slice:
        """The weights of tables, where they are associative."""
        return slice(self.node.n_weights, self.n_weights if self.associative else self.node.n_weights)

    def without_edges(self, examples: Examples) -> tuple[FeatureMap, Examples] | None:
        """Return the weights of nodes, and graphs of nodes alone."""
        if not self.n_columns:
            return None
        none = np.full_like(self.pattern, -1)
        nodes = replace(self, pattern=none, n_tables=0, n_table_features=0, associative=False)
        return nodes, Examples(cast("Graph", examples.space).without_edges(), examples.inputs)

    def check(self) -> None:
        """Refuse numbers that point outside."""
        self.node.check()
        for numbers, stop in ((self.pattern.ravel(), self.pattern.size), (self.columns, self.n_labels)):
            if numbers.dtype.kind not in "iu" or (numbers < -1).any() or (numbers >= stop).any():
                raise ValueError("The features of the graph name labels or weights that do not exist.")
        if self.pattern.ndim != 2 or self.pattern.shape[0] != self.pattern.shape[1]:
            raise ValueError("The pattern of a table is square.")
        if self.columns.ndim != 1 or min(self.n_tables, self.n_table_features) < 0:
            raise ValueError("The numbers of tables and of their features must not be negative.")
        if (self.columns.size or self.n_labels) % len(self.pattern):
            raise ValueError("The parts of a row do not fit the states of the nodes.")

    def table_weights(self, weights: Array) -> Array:
        """Return the weights of tables as an array (table or feature, state, state); zero where there is none."""
        own = weights[self.node.n_weights :].reshape(self.n_tables + self.n_table_features, self.n_columns)
        return self._entries(own).reshape(-1, *self.pattern.shape)

    def _entries(self, by_column: Array) -> Array:
        """Return the entries of tables, flat, given their values for each column."""
        pattern = self.pattern.ravel()
        if not self.n_columns:
            return np.zeros((len(by_column), pattern.size))
        return np.where(pattern >= 0, by_column[:, pattern], 0.0)
