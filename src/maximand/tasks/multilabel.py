"""A set of labels for each row of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from maximand.caching import cached_property
from maximand.costs import Cost, Hamming
from maximand.features import Examples, GraphFeatures, PerLabel, TableWeights
from maximand.inference import FactorGraphs, Inference, Structure, Structures
from maximand.spaces import Graph, Labels, Sizes, Subset
from maximand.support import Array, Ints
from maximand.tasks.base import Task, checked_pairs
from maximand.tasks.label_names import LabelNames, coded, given_classes, is_frame, ordered, unknown
from maximand.tasks.label_sets import Independent, Pairwise, Shape
from maximand.tasks.table import BoundTable

NUMBER = (int, float, np.number, np.bool_)
PRESENT_PAIR = np.array([[-1, -1], [-1, 0]])  # a weight where both labels are there


@dataclass(frozen=True)
class MultilabelTask(Task):
    """Label sets. y is an indicator matrix (row, label), -1 or NaN where unknown, or a list of collections of labels.

    The columns of a data frame are labels. In a list, a dict {label: True or False} says what is known of a row; other
    labels are unknown. classes: the labels, where they are not the columns of y or not all occur. pairs: "all", or
    "seen" for weights of (feature, label) pairs that occur together in (sparse) training data only.
    """

    shape: Shape = field(default_factory=Independent)
    bias: bool = True
    cost: Cost | None = None
    classes: Any = None
    pairs: str = "all"

    def bind(self, X: Any, Y: Any) -> tuple[BoundMultilabel, Examples, Labels]:
        """Find the labels."""
        if isinstance(self.shape, Pairwise) and not isinstance(self.shape.search, Inference | None):
            raise ValueError(f"search is {self.shape.search!r}; give None or an inference such as GraphCut().")
        known = None if self.classes is None else given_classes(self.classes)
        if known is None and is_frame(Y):
            known = given_classes(list(Y.columns))
        Y = read(by_name(Y, known), known)
        if known is not None:
            classes = known
        elif isinstance(Y, np.ndarray):
            classes = np.arange(Y.shape[1])
        else:
            classes = ordered(label for row in Y for label in row)
        if classes.size == 0:
            raise ValueError("There are no labels in y; name them with classes=.")
        names, k = LabelNames(classes), classes.size
        features: PerLabel | GraphFeatures = PerLabel(X.shape[1], k, self.bias)
        if isinstance(self.shape, Pairwise):
            features = _pairwise(PerLabel(X.shape[1], k, self.bias))
        bound = BoundMultilabel(names, self.cost or Hamming(), features, self.shape, isinstance(Y, np.ndarray), (0, k))
        codes = bound.codes(Y)
        if not isinstance(self.shape, Pairwise):
            bound.sizes = self.shape.sizes(codes)
        examples = bound.encode(X)
        annotation = bound.within_sizes(bound.labels(examples, codes))
        if checked_pairs(self.pairs, "all", "seen") == "seen" and issparse(X):
            node = PerLabel.seen(X, annotation.allowed_nodes[:, 1].reshape(-1, k), self.bias)
            bound.features = _pairwise(node) if isinstance(self.shape, Pairwise) else node
        return bound, examples, annotation


def _pairwise(node: PerLabel) -> GraphFeatures:
    """Return features of complete graphs: a score for each label that is there, a weight for each two."""
    k = node.n_labels
    columns = np.stack([np.full(k, -1), np.arange(k)], axis=1).ravel()
    return GraphFeatures((node,), (TableWeights(PRESENT_PAIR, Structure.complete(k).n_tables),), columns=columns)


def by_name(Y: Any, classes: np.ndarray | None) -> Any:
    """Put the columns of a data frame in the order of the classes, where they have their names."""
    if classes is None or not is_frame(Y) or set(Y.columns) != set(classes.tolist()):
        return Y
    return Y[classes.tolist()]


def read(Y: Any, classes: np.ndarray | None, indicators: bool | None = None) -> np.ndarray | list[Any]:
    """Return indicators as a matrix, and collections of labels as a list with one for each row.

    Lists of equal length in which there is nothing but 1, 0, -1, NaN and None are indicators, unless it is known that
    there are none, or that there are more or fewer labels.
    """
    if issparse(Y):
        return csr_array(Y).toarray()
    Y = Y.tolist() if isinstance(Y, np.ma.MaskedArray) else Y
    array = np.asarray(Y) if hasattr(Y, "__array__") else None
    if array is not None and array.ndim == 2:
        return array
    if not _several(Y) or (array is not None and (array.ndim != 1 or array.dtype != object)):
        what = f"of type {type(Y).__name__}" if array is None else f"an array of shape {array.shape}"
        raise ValueError(
            f"y is {what}; give indicators (row, label) or a list of sets of labels. For one class in each row use "
            "MulticlassClassifier()."
        )
    rows = list(Y)
    listed = [row for row in rows if not unknown(row)]
    lengths = {len(row) if isinstance(row, (list, tuple, np.ndarray)) and _indicators(row) else 0 for row in listed}
    if (
        indicators is not False
        and len(lengths) == 1
        and 0 not in lengths
        and (indicators or classes is None or classes.size in lengths)
    ):
        return np.asarray([[None] * lengths.copy().pop() if unknown(row) else list(row) for row in rows])
    rows = [{} if unknown(row) else row for row in rows]
    for i, row in enumerate(rows):
        _check_collection(row, i, classes)
    return rows


def _several(values: Any) -> bool:
    return hasattr(values, "__iter__") and not isinstance(values, str)


def _indicators(values: Any) -> bool:
    """Whether these are 1, 0 or signs that something is not known."""
    return all(unknown(value) or (isinstance(value, NUMBER) and value in (-1, 0, 1)) for value in values)


def _check_collection(row: Any, i: int, classes: np.ndarray | None) -> None:
    if not _several(row):
        raise ValueError(
            f"y[{i}] is {row!r}; give a collection of labels for each row, such as a set, or None where nothing is "
            "known. For one class in each row use MulticlassClassifier()."
        )
    labels = list(row)
    try:
        again = len(set(labels)) < len(labels)
    except TypeError:
        raise ValueError(f"y[{i}] is {row!r}; labels are strings, numbers or tuples.") from None
    if None in coded(labels, classes):
        raise ValueError(
            f"y[{i}] is {row!r}; a collection names the labels that are there. Where some are not known, give a dict "
            "{label: True, False or None}; where -1 is a label, list it with classes=."
        )
    if again:
        twice = next(label for label in labels if labels.count(label) > 1)
        raise ValueError(f"y[{i}] names the label {twice!r} twice; give sets of labels, or a matrix of indicators.")


class BoundMultilabel(BoundTable):
    """A multilabel task with known labels; `sizes` are the least and the largest number of labels of a row."""

    features: PerLabel | GraphFeatures  # type: ignore[assignment]
    packed = ("names", "cost", "features", "shape", "indicators", "sizes")

    def __init__(
        self,
        names: LabelNames,
        cost: Cost,
        features: PerLabel | GraphFeatures,
        shape: Shape,
        indicators: bool,
        sizes: tuple[int, int],
    ):
        self.names, self.cost, self.features, self.shape, self.indicators = names, cost, features, shape, indicators
        self.sizes = tuple(sizes)

    @cached_property
    def _structures(self) -> Structures:
        """The graph of all pairs of labels."""
        return Structures([Structure.complete(self.names.count)], 2)

    @property
    def node(self) -> PerLabel:
        """The features of single labels."""
        return self.features.nodes[0] if isinstance(self.features, GraphFeatures) else self.features

    def check(self) -> None:
        """Refuse features that do not fit the labels: the kernels trust them."""
        k = self.names.count
        if isinstance(self.features, GraphFeatures):
            fits = (
                len(self.features.nodes) == len(self.features.tables) == 1
                and self.features.tables[0].pattern.shape == (2, 2)
                and self.features.columns.size == 2 * k
                and isinstance(self.shape, Pairwise)
                and self.features.tables[0].n_tables == k * (k - 1) // 2
                and not self.features.tables[0].n_features
            )
        else:
            fits = not isinstance(self.shape, Pairwise) and 0 <= self.sizes[0] <= self.sizes[1] <= k
        if not fits or self.node.n_labels != k:
            raise ValueError("The features do not fit the labels.")

    @property
    def n_features(self) -> int:
        """Features per row."""
        return self.node.n_features

    def space(self, n_examples: int) -> Graph | Subset:
        """Return sets of labels, as graphs of two states, absent and present, where labels interact."""
        if not isinstance(self.shape, Pairwise):
            return Subset(n_examples, self.names.count, *self.sizes)
        return Graph(FactorGraphs(self._structures, np.zeros(n_examples, dtype=np.int64)), self.shape.search)

    def annotation(self, examples: Examples, Y: Any) -> Labels:
        """Encode label sets."""
        return self.labels(examples, self.codes(Y))

    def labels(self, examples: Examples, codes: Ints) -> Labels:
        """Return the matrix (row, label) of `codes` as an annotation."""
        n, k = examples.n_examples, self.names.count
        if len(codes) != n:
            raise ValueError(f"X has {n} rows but y has {len(codes)}; each row needs its labels.")
        return Labels(codes.ravel(), np.arange(n + 1) * k, 2, one_row=True)

    def within_sizes(self, annotation: Labels) -> Labels:
        """Return what is left to learn from: of rows with too many labels, any set of as many as there may be."""
        codes, k, most = annotation.codes.reshape(-1, self.names.count), self.names.count, self.sizes[1]
        crowded = (codes == 1).sum(axis=1) > most
        if not crowded.any():
            return annotation
        codes = np.where(crowded[:, None] & (codes == 1), -1, codes)
        return Sizes(
            codes.ravel(),
            annotation.offsets,
            2,
            one_row=True,
            least=np.where(crowded, most, 0),
            most=np.where(crowded, most, k),
        )

    def codes(self, Y: Any) -> Ints:
        """Return the matrix (row, label): 1, 0, or -1 where not known."""
        Y = read(by_name(Y, self.names.classes), self.names.classes, self.indicators)
        return self._from_matrix(Y) if isinstance(Y, np.ndarray) else self._from_sets(Y)

    def _from_matrix(self, matrix: np.ndarray) -> Ints:
        if matrix.dtype == object:
            matrix = np.array([[np.nan if unknown(value) else value for value in row] for row in matrix.tolist()])
        if matrix.shape[1] != self.names.count:
            raise ValueError(
                f"y has {matrix.shape[1]} columns but there are {self.names.count} labels; each label needs a column."
            )
        if matrix.dtype.kind not in "biuf":
            raise ValueError(f"y is a matrix of {matrix.dtype}; give indicators 1 and 0, or a list of sets of labels.")
        codes = np.where(np.isnan(matrix), -1, matrix) if matrix.dtype.kind == "f" else matrix.astype(np.int64)
        wrong = ~np.isin(codes, (-1, 0, 1))
        if wrong.any():
            i, l = np.argwhere(wrong)[0].tolist()
            raise ValueError(f"y[{i}, {l}] is {matrix[i, l]}; it must be 1 or 0, or -1 or NaN where not known.")
        return codes.astype(np.int64)

    def _from_sets(self, rows: list[Any]) -> Ints:
        codes = np.zeros((len(rows), self.names.count), dtype=np.int64)
        for i, row in enumerate(rows):
            if isinstance(row, Mapping):
                codes[i] = -1
            for label in row:
                there = row[label] if isinstance(row, Mapping) else True
                if not _indicators([there]):
                    raise ValueError(
                        f"y[{i}][{label!r}] is {there!r}; it must be True, False, or None where not known."
                    )
                codes[i, self.names.code(label, i)] = -1 if unknown(there) else int(there)
        return codes

    def outputs(self, examples: Examples, psi: Array) -> Any:
        """Return indicators, or sets where training had such."""
        present = (self.parts(examples, psi) > 0.5).astype(np.int64)
        if self.indicators:
            return present
        return [set(self.names.classes[row.astype(bool)].tolist()) for row in present]

    def slot_labels(self, codes: Ints) -> np.ndarray:
        """Return 1 where a label is present, else 0."""
        return codes

    def parts(self, examples: Examples, values: Array) -> Array:
        """Return the matrix (row, label) for labels being present."""
        own = examples.space.nodes(values)[:, 1] if isinstance(examples.space, Graph) else values
        return own.reshape(examples.n_examples, -1).copy()
