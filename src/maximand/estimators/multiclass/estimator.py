"""Multiclass classification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from maximand.costs import Cost
from maximand.decoding import Decoder
from maximand.estimators.scoring import class_factors, share_right
from maximand.estimators.table import TablePredictor
from maximand.losses import Loss
from maximand.oracles import Projection
from maximand.spaces import Shares
from maximand.support import Array, Ints
from maximand.tasks import MulticlassTask
from maximand.tasks.base import checked_weight, usable_weights
from maximand.tasks.label_names import Candidates, single_column, unknown
from maximand.tasks.soft_labels import is_soft, shares_of


@dataclass(kw_only=True, eq=False, repr=False)
class MulticlassClassifier(ClassifierMixin, TablePredictor):
    """Chooses one of several labels by a linear score for each.

    With loss="hinge" this is the Crammer-Singer machine, with "crf" multinomial logistic regression, with "ramp" the
    robust machine of do2008. y holds labels of any type, sets of candidate labels, or None or NaN where nothing is
    known; or, for smooth losses such as "crf" and "euclidean", y is a table (row, label) of shares that sum to 1 in
    each row: one-hot, or label proportions. The columns of a data frame are labels; others are `classes`, or else 0,
    1, ...

    The other parameters and the attributes are those of `StructuredPredictor`, and `classes_`.

    Parameters
    ----------
    fit_intercept : bool
        Whether to add a bias for each label; it is regularised like all weights.
    cost : Cost or None
        What a mistake costs; None for zero-one.
    class_weight : dict, "balanced" or None
        Factors of the losses of the examples of each class.
    classes : array or None
        All labels, where some may be missing from the training data.
    pairs : "all" or "seen"
        Weights for every (feature, label) pair, or for pairs that occur together in (sparse) training data.
    """

    loss: str | Loss | Projection = "hinge"
    fit_intercept: bool = True
    cost: Cost | None = None
    class_weight: dict[Any, float] | str | None = None
    classes: Any = None
    pairs: str = "all"
    decoder: Decoder | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table X and labels y."""
        X, bound, examples, annotation = self._bind(X, y)
        if self.class_weight is not None and isinstance(annotation, Shares):
            raise ValueError("y holds shares of labels, which have no class of their own; use sample_weight instead.")
        weight = checked_weight(sample_weight, X.shape[0])
        weight = class_weighted(self.class_weight, self.classes_, annotation.codes, weight)
        return self._train(X, bound, examples, annotation, weight)

    @property
    def _reads_class_weight(self) -> bool:
        """They weigh examples, whatever the loss."""
        return True

    def _unbound(self) -> MulticlassTask:
        return MulticlassTask(self.fit_intercept, self.cost, self.classes, self.pairs)

    def _read(self, y: Any) -> Any:
        return y if is_soft(y) else labels_of(y)

    def decision_function(self, X: Any) -> Array:
        """Return the score of each label; of two labels, how far the second is above the first."""
        scores = super().decision_function(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy; rows whose label is not known are left out, and a candidate is right.

        Of shares of labels, the mean share of those that are predicted.
        """
        predicted, y = self.predict(X), self._read(y)
        if is_soft(y):
            shares = shares_of(y, self.classes_)
            codes = self.task_.names.encode(predicted.tolist())[0]
            check_consistent_length(predicted, shares)
            return float(
                np.average(shares[np.arange(codes.size), codes], weights=checked_weight(sample_weight, codes.size))
            )
        if isinstance(y, list):
            check_consistent_length(predicted, y)
            return share_right(y, predicted.tolist(), np.ones(len(y), dtype=int), sample_weight)
        from sklearn.metrics import accuracy_score  # slow to import

        return float(accuracy_score(y, predicted, sample_weight=checked_weight(sample_weight, len(predicted))))

    @property
    def coef_(self) -> Array:
        """The weights, (label, feature)."""
        return self._fitted.features.coefficients(self.weights_).T

    @property
    def intercept_(self) -> Array:
        """The bias of each label."""
        return self._fitted.features.biases(self.weights_)


def labels_of(y: Any) -> Any:
    """Return labels as a list where some are sets of candidates or not known; else as scikit-learn wants them."""
    y = single_column(y)
    if _partial(y) or _mixed(y):
        return y.tolist() if isinstance(y, np.ndarray) else list(y)
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    return y


def class_weighted(class_weight: Any, classes: np.ndarray, codes: Ints, weight: Array | None) -> Array | None:
    """Multiply the weights of examples of known class by that of the class."""
    if class_weight is None:
        return weight
    factors = class_factors(class_weight, classes, codes)
    by_example = np.where(codes >= 0, factors[np.maximum(codes, 0)], 1.0)
    if weight is None:
        return by_example
    with np.errstate(over="ignore"):
        both = by_example * weight
    return usable_weights(both, range(both.size), "class_weight * sample_weight", "example")


def _partial(y: Any) -> bool:
    """Whether some labels are sets of candidates or not known."""
    if type(y) is np.ndarray and y.dtype != object:
        return y.dtype.kind == "f" and y.ndim == 1 and bool(np.isnan(y).any())
    try:
        return any(isinstance(label, Candidates) or unknown(label) for label in y)
    except TypeError:
        return False


def _mixed(y: Any) -> bool:
    """Whether some labels are text and others are not: an array would turn all of them into text."""
    return isinstance(y, (list, tuple)) and 0 < sum(isinstance(label, str) for label in y) < len(y)
