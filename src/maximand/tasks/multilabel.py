"""A set of labels for each row of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from maximand.costs import Cost, Hamming
from maximand.features import GraphFeatures, PerLabel, Rows
from maximand.inference import FactorGraphs, Inference, Structure, Structures
from maximand.spaces import Graph, Labels, OutputSpace
from maximand.support import Array, Ints
from maximand.tasks.base import BoundTask, Task, checked_pairs, finite_rows
from maximand.tasks.label_names import LabelNames, ordered

PRESENT_PAIR = np.array([[-1, -1], [-1, 0]])  # a weight where both labels are there


@dataclass(frozen=True)
class Independent:
    """Each label is decided by itself."""

    def graph(self, n_labels: int) -> Structure:
        """Return a graph without edges."""
        return Structure.edgeless(n_labels)

    def inference(self) -> Inference | None:
        """Return None: there is nothing to choose."""
        return None


@dataclass(frozen=True)
class Pairwise:
    """Every two labels have a weight for occurring together; `search` is how to find the best set.

    None lists all sets of up to 17 labels and relaxes the problem (GraphCut) beyond.
    """

    search: Inference | None = None

    def graph(self, n_labels: int) -> Structure:
        """Return the complete graph."""
        return Structure.complete(n_labels)

    def inference(self) -> Inference | None:
        """Return the inference."""
        return self.search


Shape = Independent | Pairwise


@dataclass(frozen=True)
class MultilabelTask(Task):
    """Label sets. Y is an indicator matrix (row, label), -1 or NaN where unknown, or a list of collections of labels.

    In a list, a dict {label: True or False} says what is known of a row; other labels are unknown. classes: the labels,
    where they are not the columns of Y or not all occur. pairs: "all", or "seen" for weights of (feature, label)
    pairs that occur together in (sparse) training data only.
    """

    shape: Shape = field(default_factory=Independent)
    bias: bool = True
    cost: Cost | None = None
    classes: Any = None
    pairs: str = "all"

    def bind(self, X: Any, Y: Any) -> tuple[BoundMultilabel, Rows, Labels]:
        """Find the labels."""
        indicators = is_matrix(Y)
        if self.classes is not None:
            classes = np.asarray(self.classes)
        elif indicators:
            classes = np.arange(np.shape(Y)[1])
        else:
            classes = ordered(label for row in Y for label in row)
        if classes.size == 0:
            raise ValueError("There are no labels in Y; name them with classes=.")
        names, k = LabelNames(classes), classes.size
        columns = np.stack([np.full(k, -1), np.arange(k)], axis=1).ravel()
        n_tables = self.shape.graph(k).n_tables
        features = GraphFeatures(PerLabel(X.shape[1], k, self.bias), PRESENT_PAIR, n_tables, columns=columns)
        bound = BoundMultilabel(names, self.cost or Hamming(normalized=True), features, self.shape, indicators)
        inputs = bound.inputs(X)
        annotation = bound.annotation(X, Y, inputs)
        if checked_pairs(self.pairs, "all", "seen") == "seen" and issparse(X):
            present = annotation.allowed_nodes[:, 1].reshape(-1, k)
            node = PerLabel.seen(X, present, self.bias)
            bound.features = GraphFeatures(node, PRESENT_PAIR, n_tables, columns=columns)
        return bound, inputs, annotation


def is_matrix(Y: Any) -> bool:
    """Whether Y is a matrix of indicators."""
    if issparse(Y) or hasattr(Y, "__array__"):
        return len(np.shape(Y)) == 2
    rows = list(Y)
    return bool(rows) and all(isinstance(row, (list, tuple)) and _numeric(row) for row in rows) and _even(rows)


def _numeric(row: Any) -> bool:
    return len(row) > 0 and all(isinstance(value, (int, float, np.number)) and value in (-1, 0, 1) for value in row)


def _even(rows: list[Any]) -> bool:
    return len({len(row) for row in rows}) == 1 and len(rows[0]) > 1


class BoundMultilabel(BoundTask):
    """A multilabel task with known labels."""

    features: GraphFeatures
    packed = ("names", "cost", "features", "shape", "indicators")

    def __init__(self, names: LabelNames, cost: Cost, features: GraphFeatures, shape: Shape, indicators: bool):
        self.names, self.cost, self.features, self.shape, self.indicators = names, cost, features, shape, indicators
        self._structures = Structures([shape.graph(names.count)], 2)

    def check(self) -> None:
        """Refuse features that do not fit the labels: the kernels trust them."""
        k = self.names.count
        if (
            self.features.pattern.shape != (2, 2)
            or self.features.columns.size != 2 * k
            or self.features.n_tables != self.shape.graph(k).n_tables
            or self.features.n_table_features
        ):
            raise ValueError("The features do not fit the labels.")

    def inputs(self, X: Any) -> Rows:
        """Check a table of finite numbers."""
        finite_rows(X)
        if X.shape[1] != self.features.node.n_features:
            raise ValueError(
                f"X has {X.shape[1]} features but the model was trained with {self.features.node.n_features}."
            )
        return Rows.single(X)

    def space(self, X: Any, inputs: Rows) -> Graph:
        """Return a graph of two states, absent and present, for each row."""
        which = np.zeros(inputs.offsets.size - 1, dtype=np.int64)
        return Graph(FactorGraphs(self._structures, which), self.shape.inference())

    def annotation(self, X: Any, Y: Any, inputs: Rows) -> Labels:
        """Encode label sets."""
        n, k = inputs.offsets.size - 1, self.names.count
        codes = self._from_matrix(Y) if is_matrix(Y) else self._from_sets(Y)
        if len(codes) != n:
            raise ValueError(f"X has {n} rows but Y has {len(codes)}; each row needs its labels.")
        return Labels(codes.ravel(), np.arange(n + 1) * k, 2)

    def _from_matrix(self, Y: Any) -> Ints:
        matrix = csr_array(Y).toarray() if issparse(Y) else np.asarray(Y)
        if matrix.dtype == object:
            matrix = np.array([[np.nan if value is None else value for value in row] for row in matrix.tolist()], float)
        if matrix.shape[1] != self.names.count:
            raise ValueError(f"Y has {matrix.shape[1]} columns but there are {self.names.count} labels.")
        codes = np.where(np.isnan(matrix), -1, matrix) if matrix.dtype.kind == "f" else matrix.astype(np.int64)
        wrong = ~np.isin(codes, (-1, 0, 1))
        if wrong.any():
            i, l = np.argwhere(wrong)[0].tolist()
            raise ValueError(f"Y[{i}, {l}] is {matrix[i, l]}; it must be 1 or 0, or -1 or NaN where not known.")
        return codes.astype(np.int64)

    def _from_sets(self, Y: Any) -> Ints:
        rows = list(Y)
        codes = np.zeros((len(rows), self.names.count), dtype=np.int64)
        for i, row in enumerate(rows):
            if isinstance(row, str) or not hasattr(row, "__iter__"):
                raise ValueError(f"Y[{i}] is {row!r}; give a collection of labels, such as a set, for each row.")
            known = row.items() if isinstance(row, Mapping) else ((label, True) for label in row)
            if isinstance(row, Mapping):
                codes[i] = -1
            for label, there in known:
                codes[i, self.names.code(label, f"Y[{i}]")] = int(bool(there))
        return codes

    def outputs(self, space: OutputSpace, psi: Array) -> Any:
        """Return indicators, or sets where training had such."""
        assert isinstance(space, Graph)
        present = space.nodes(psi).argmax(axis=1).reshape(space.n_examples, -1)
        if self.indicators:
            return present
        return [set(self.names.classes[row.astype(bool)].tolist()) for row in present]

    def parts(self, space: OutputSpace, values: Array) -> Array:
        """Return the matrix (row, label) for labels being present."""
        assert isinstance(space, Graph)
        return space.nodes(values)[:, 1].reshape(space.n_examples, -1).copy()
