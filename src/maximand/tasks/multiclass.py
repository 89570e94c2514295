"""One label for each row of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from maximand.costs import Cost, ZeroOne
from maximand.features import Examples, PerLabel
from maximand.spaces import Choice, Labels, Ordinal, Shares
from maximand.support import Array
from maximand.tasks.base import Task, checked_pairs
from maximand.tasks.label_names import LabelNames, given_classes, named_labels, ordered
from maximand.tasks.quick import QuickLabels
from maximand.tasks.soft_labels import is_soft, labels_of_columns, shares_of
from maximand.tasks.table import BoundTable


@dataclass(frozen=True)
class MulticlassTask(Task):
    """Choose one of several labels for each row; an annotation is a label, a set of candidates, or None.

    Or the annotations are a table (row, label) of the shares of labels, for smooth losses.

    classes: all labels, where not all of them occur in training. pairs: "all" for a weight for every (feature,
    label) pair, "seen" for those that occur together in training (sparse inputs only).
    """

    bias: bool = True
    cost: Cost | None = None
    classes: Any = None
    pairs: str = "all"

    def bind(self, X: Any, Y: Any) -> tuple[BoundMulticlass, Examples, Labels]:
        """Find the labels."""
        names = classes_of(Y, labels_of_columns(Y) if self.classes is None and is_soft(Y) else self.classes)
        bound = BoundMulticlass(names, self.cost or ZeroOne(), PerLabel(X.shape[1], names.count, self.bias))
        examples = bound.encode(X)
        annotation = bound.annotation(examples, Y)
        if checked_pairs(self.pairs, "all", "seen") == "seen" and issparse(X):
            bound.features = PerLabel.seen(X, annotation.allowed_nodes, self.bias)
        return bound, examples, annotation


def classes_of(Y: Any, classes: Any) -> LabelNames:
    """Return the given classes, or those that occur; at least two."""
    if classes is not None:
        found = given_classes(classes)
    elif type(Y) is np.ndarray and Y.dtype.kind in "iufbUS":
        found = np.unique(Y[Y == Y])  # NaN is no label
    else:
        found = ordered(named_labels(Y))
    names = LabelNames(found)
    if names.count < 2:
        raise ValueError(
            f"The labels hold {names.count or 'no'} class; learning to choose needs at least 2 classes. Name the "
            "missing ones with classes=."
        )
    return names


class BoundMulticlass(BoundTable):
    """A multiclass task with known labels."""

    packed = ("names", "cost", "features")

    def __init__(self, names: LabelNames, cost: Cost, features: PerLabel):
        self.names, self.cost, self.features = names, cost, features

    def space(self, n_examples: int) -> Choice | Ordinal:
        """Return one choice for each row."""
        return Choice(n_examples, self.names.count)

    def quick(self, weights: Array) -> QuickLabels | None:
        """Return one for dense rows."""
        return QuickLabels.of(self, weights)

    def annotation(self, examples: Examples, Y: Any) -> Labels:
        """Encode labels, candidates and unknown ones, or shares of labels."""
        n, given = examples.n_examples, Y.shape[0] if hasattr(Y, "shape") else len(Y)
        if given != n:
            raise ValueError(f"X has {n} rows but y has {given} labels; each row needs one (None where unknown).")
        if isinstance(examples.space, Choice) and is_soft(Y):
            return Shares.of(shares_of(Y, self.names.classes))
        classes = self.names.classes
        # Numbers of one kind are compared exactly; int64 and uint64 would meet as floats.
        alike = type(Y) is np.ndarray and Y.dtype.kind == classes.dtype.kind and Y.dtype.kind in "iufbUS"
        if alike and np.isin(Y, classes).all():
            order = np.argsort(classes)
            return Labels.single(order[np.searchsorted(classes, Y, sorter=order)], self.names.count)
        codes, candidates = self.names.encode(list(Y))
        return Labels.single(codes, self.names.count, candidates)

    def outputs(self, examples: Examples, psi: Array) -> np.ndarray:
        """Return label names."""
        return self.names.classes[np.asarray(examples.space.decode(psi), dtype=int)]

    def parts(self, examples: Examples, values: Array) -> Array:
        """Return the matrix (row, label)."""
        return values.reshape(examples.n_examples, -1)
