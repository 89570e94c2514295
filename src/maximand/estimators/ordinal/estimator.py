"""Ordinal regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from maximand.costs import Cost
from maximand.decoding import Calibrated, Decoder
from maximand.estimators.chunks import joined
from maximand.estimators.multiclass.estimator import class_weighted, labels_of
from maximand.estimators.scoring import mean_of_known
from maximand.estimators.table import TablePredictor
from maximand.losses import Loss
from maximand.oracles import Projection
from maximand.support import Array
from maximand.tasks import OrdinalTask
from maximand.tasks.base import checked_weight
from maximand.tasks.label_names import single_column, unknown
from maximand.tasks.levels import levels_of


@dataclass(kw_only=True, eq=False, repr=False)
class OrdinalClassifier(ClassifierMixin, TablePredictor):
    """Chooses one of several ordered levels by a linear score for each threshold between neighbours.

    The default loss projects the scores onto the order simplex, and the prediction is the level of least expected
    absolute error (blondel2019); predict_soft and predict_proba return the distribution of levels. y holds levels of
    any type, sets of candidate levels, or None or NaN where nothing is known.

    The other parameters and the attributes are those of `StructuredPredictor`, and `classes_`.

    Parameters
    ----------
    loss : str, Loss or Projection
        "euclidean", "entropic", `Euclidean(onto=Cube())`, "squared" (no projection), or "crf", "hinge", ...
    fit_intercept : bool
        Whether to add a bias for each threshold; it is regularised like all weights.
    cost : Cost or None
        What a mistake costs; None for the number of levels between prediction and truth.
    class_weight : dict, "balanced" or None
        Factors of the losses of the examples of each level.
    classes : array or None
        The levels from the lowest to the highest; None for the categories of an ordered pandas Categorical, or else
        for those that occur, sorted: numbers, not strings.
    """

    loss: str | Loss | Projection = "euclidean"
    fit_intercept: bool = True
    cost: Cost | None = None
    class_weight: dict[Any, float] | str | None = None
    classes: Any = None
    decoder: Decoder | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table X and levels y."""
        X, bound, examples, annotation = self._bind(X, y)
        weight = checked_weight(sample_weight, X.shape[0])
        weight = class_weighted(self.class_weight, self.classes_, annotation.codes, weight)
        return self._train(X, bound, examples, annotation, weight)

    @property
    def _reads_class_weight(self) -> bool:
        """They weigh examples, whatever the loss."""
        return True

    def _unbound(self) -> OrdinalTask:
        return OrdinalTask(self.fit_intercept, self.cost, self.classes)

    def _read(self, y: Any) -> Any:
        y = single_column(y)
        return y if levels_of(y) is not None else labels_of(y)

    def decision_function(self, X: Any) -> Array:
        """Return what the levels are chosen by: minus their expected costs, up to a constant, or else their scores.

        The largest is that of the prediction. Of two levels, how far the second is above the first.
        """

        def by_level(part: Any, theta: Array) -> Array:
            decoder, space = self._chosen_decoder(self.task_.cost), part.space
            return space.scores(decoder.merits(space, theta) if isinstance(decoder, Calibrated) else theta)

        scores = joined(self._answers(X, by_level))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return minus the mean cost, by default the absolute error in levels; rows of unknown level are left out."""
        y = self._read(y)
        costs = self.costs(X, y)
        known = np.array([not unknown(level) for level in y])
        return -mean_of_known(costs, known, checked_weight(sample_weight, costs.size), "y holds no level that is known")

    @property
    def coef_(self) -> Array:
        """The weights, (threshold, feature)."""
        return self._fitted.features.coefficients(self.weights_).T

    @property
    def intercept_(self) -> Array:
        """The bias of each threshold."""
        return self._fitted.features.biases(self.weights_)
