"""Multilabel classification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from maximand.costs import Cost
from maximand.decoding import Decoder
from maximand.estimators.scoring import class_cost, mean_of_known
from maximand.estimators.table import TablePredictor
from maximand.losses import Loss
from maximand.oracles import Projection
from maximand.support import Array
from maximand.tasks import Budget, Independent, MultilabelTask, Pairwise
from maximand.tasks.base import checked_weight

SHAPES = {"independent": Independent, "budget": Budget, "pairwise": Pairwise}


@dataclass(kw_only=True, eq=False, repr=False)
class MultilabelClassifier(ClassifierMixin, TablePredictor):
    """Chooses a set of labels by a linear score for each label and, where asked for, a weight for each pair.

    y is an indicator matrix (row, label) with -1 or NaN where a label is not known; or a list of sets of labels of any
    type, where a dict {label: True or False} says what is known of a row. predict returns what y was: indicators, or
    sets. predict_proba, with loss="crf" or "euclidean", returns the probability of each label.

    The other parameters and the attributes are those of `StructuredPredictor`, and `classes_`.

    Parameters
    ----------
    structure : "independent", "budget", "pairwise", Independent, Budget or Pairwise
        Whether labels are decided one by one or together: `Budget(min_size, max_size)` bounds their number, `Pairwise`
        has a weight for each two; `Pairwise(search=...)` says how to find the best set: `GraphCut()`, `Greedy()`, ...
    fit_intercept : bool
        Whether to add a bias for each label; it is regularised like all weights.
    cost : Cost or None
        What a mistake costs; None for the number of wrong labels.
    class_weight : dict, "balanced" or None
        Factors {0: ..., 1: ...} of the cost of a label that is wrongly there and of one that is missed; with cost=None
        and a loss or decoder that reads the cost: not crf.
    classes : array or None
        Names of the columns of y, or all labels.
    pairs : "all" or "seen"
        Weights for every (feature, label) pair, or for pairs that occur together in (sparse) training data.
    decoder : Decoder or None
        How to predict; `MaxScore(inference)` takes another inference than training.
    """

    structure: str | Independent | Budget | Pairwise = "independent"
    loss: str | Loss | Projection = "hinge"
    fit_intercept: bool = True
    cost: Cost | None = None
    class_weight: dict[int, float] | str | None = None
    classes: Any = None
    pairs: str = "all"
    decoder: Decoder | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.target_tags.two_d_labels = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table X and label sets y."""
        X, bound, examples, annotation = self._bind(X, y)
        if self.class_weight is not None:
            bound.cost = class_cost(self.class_weight, self.cost, np.arange(2), annotation.codes)
        return self._train(X, bound, examples, annotation, checked_weight(sample_weight, X.shape[0]))

    def _unbound(self) -> MultilabelTask:
        return MultilabelTask(self._shape(), self.fit_intercept, self.cost, self.classes, self.pairs)

    def _shape(self) -> Independent | Budget | Pairwise:
        if isinstance(self.structure, (Independent, Budget, Pairwise)):
            return self.structure
        if self.structure not in SHAPES:
            raise ValueError(
                f"There is no structure {self.structure!r}; choose one of {', '.join(SHAPES)}, or give Independent(), "
                "Budget() or Pairwise()."
            )
        return SHAPES[self.structure]()

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose known labels are all right; rows without any are left out."""
        predicted = self.predict(X)
        predicted, true = self.task_.codes(predicted), self.task_.codes(y)
        if len(true) != len(predicted):
            raise ValueError(f"X has {len(predicted)} rows but y has {len(true)}; each row needs its labels.")
        weight = checked_weight(sample_weight, len(true))
        right = ((true == predicted) | (true < 0)).all(axis=1)
        return mean_of_known(right, (true >= 0).any(axis=1), weight, "y holds no label that is known")

    @property
    def coef_(self) -> Array:
        """The weights, (label, feature)."""
        node = self._fitted.node
        return node.coefficients(self.weights_[: node.n_weights]).T

    @property
    def intercept_(self) -> Array:
        """The bias of each label."""
        node = self._fitted.node
        return node.biases(self.weights_[: node.n_weights])

    @property
    def pair_weights_(self) -> Array:
        """The weight of each two labels for occurring together, as a symmetric matrix; zeros where independent."""
        node, k = self._fitted.node, self.classes_.size
        matrix = np.zeros((k, k))
        own = self.weights_[node.n_weights :]
        if own.size:
            matrix[np.triu_indices(k, 1)] = own
        return matrix + matrix.T
