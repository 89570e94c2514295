"""Weights of a graph: node scores per label, and tables for its edges."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from maximand.features.base import FeatureMap
from maximand.features.per_label import PerLabel
from maximand.features.rows import Rows
from maximand.numerics.part_rows import PartRows, TableRows
from maximand.support import Array, Ints


@dataclass(frozen=True)
class GraphRows(Rows):
    """Rows of node features, and a row of features for each table where tables have such."""

    tables: Rows | None = None

    @property
    def n_bytes(self) -> int:
        """The memory that the matrices take."""
        return super().n_bytes + (0 if self.tables is None else self.tables.n_bytes)

    def take(self, examples: Ints | slice) -> GraphRows:
        """Return the inputs of some examples."""
        rows = super().take(examples)
        return GraphRows(rows.matrix, rows.offsets, None if self.tables is None else self.tables.take(examples))


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
    columns: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def n_labels(self) -> int:
        """The number of labels that rows are scored for."""
        return self.node.n_labels

    @property
    def n_columns(self) -> int:
        """The number of weights of a table or of a feature of tables."""
        return int(self.pattern.max(initial=-1)) + 1

    @property
    def n_table_weights(self) -> int:
        """The number of weights of all tables."""
        return (self.n_tables + self.n_table_features) * self.n_columns

    @property
    def n_weights(self) -> int:  # type: ignore[override]
        """The number of weights."""
        return self.node.n_weights + self.n_table_weights

    @property
    def n_spread(self) -> int:
        """The spread weights of the nodes, then those of the tables."""
        return self.node.n_spread + self.n_table_weights

    @property
    def nonnegative(self) -> slice:
        """The weights of tables, where they are associative."""
        return slice(self.node.n_weights, self.n_weights if self.associative else self.node.n_weights)

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

    def spread(self, weights: Array) -> Array:
        """Spread the weights of the nodes."""
        return self.node.spread(weights, self.n_table_weights)

    def gather(self, sums: Array) -> Array:
        """Gather the sums of the nodes."""
        return self.node.gather(sums)

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

    def scores(self, inputs: Rows, spread: Array) -> Array:
        """Return the scores of nodes, then of tables."""
        n_node, n_rows = self.node.n_spread, inputs.matrix.shape[0]
        n, width, size = inputs.offsets.size - 1, self.columns.size or self.n_labels, self.pattern.size
        n_tables = self._n_tables(inputs, n)
        theta = np.empty(n_rows * width + n_tables * size)
        nodes = theta[: n_rows * width].reshape(n_rows, width)
        if self.columns.size:
            by_label = np.empty((n_rows, self.n_labels))
            self.node.write_scores(inputs, spread[:n_node], by_label)
            nodes[:] = np.where(self.columns >= 0, by_label[:, self.columns], 0.0)
        else:
            self.node.write_scores(inputs, spread[:n_node], nodes)
        weights = spread[n_node:].reshape(self.n_tables + self.n_table_features, self.n_columns)
        if self.n_table_features:
            tables = self._entries(_tables(inputs).matrix @ weights)
        else:
            tables = np.broadcast_to(self._entries(weights), (n, self.n_tables, size)).reshape(n_tables, size)
        theta[n_rows * width :].reshape(n_tables, size)[:] = tables
        return theta

    def add_sums(self, inputs: Rows, mean: Array, out: Array) -> None:
        """Add A' mean."""
        n_node, n_rows = self.node.n_spread, inputs.matrix.shape[0]
        n, width, size = inputs.offsets.size - 1, self.columns.size or self.n_labels, self.pattern.size
        nodes = mean[: n_rows * width].reshape(n_rows, width)
        if self.columns.size:
            by_label = np.zeros((n_rows, self.n_labels))
            used = self.columns >= 0
            np.add.at(by_label.T, self.columns[used], nodes[:, used].T)
            nodes = by_label
        self.node.add_sums(inputs, nodes, out[:n_node])
        if not self.n_table_weights:
            return
        entries = mean[n_rows * width :].reshape(-1, size)
        if not self.n_table_features:
            entries = entries.reshape(n, self.n_tables, size).sum(axis=0)
        weighted = self.pattern.ravel() >= 0
        by_column = np.zeros((len(entries), self.n_columns))
        np.add.at(by_column.T, self.pattern.ravel()[weighted], entries[:, weighted].T)
        if self.n_table_features:
            by_column = _tables(inputs).matrix.T @ by_column
        out[n_node:] += by_column.ravel()

    def _n_tables(self, inputs: Rows, n_examples: int) -> int:
        return _tables(inputs).matrix.shape[0] if self.n_table_features else n_examples * self.n_tables

    def part_rows(self, inputs: Rows) -> PartRows:
        """Rows of the nodes; tables are a block, or have rows of their own."""
        base, pattern = self.node.n_weights, self.pattern.ravel()
        rows = self.node.part_rows(inputs)._replace(columns=self.columns, width=self.columns.size or self.n_labels)
        if self.n_table_features:
            tables = _tables(inputs)
            csr = tables.csr
            columns = pattern.astype(np.int64)
            return rows._replace(
                tables=TableRows(csr.indptr, csr.indices, csr.data, tables.offsets, columns, self.n_columns, base)
            )
        own = base + np.arange(self.n_tables)[:, None] * self.n_columns + pattern
        return rows._replace(block=np.where(pattern >= 0, own, -1).ravel())


def _tables(inputs: Rows) -> Rows:
    assert isinstance(inputs, GraphRows) and inputs.tables is not None
    return inputs.tables
