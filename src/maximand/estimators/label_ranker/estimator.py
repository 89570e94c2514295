"""Label ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from sklearn.utils.metaestimators import available_if

from maximand.costs import Cost
from maximand.decoding import Decoder
from maximand.estimators.chunks import joined
from maximand.estimators.means import layer_of, probabilistic
from maximand.estimators.scoring import mean_of_known
from maximand.estimators.table import TablePredictor
from maximand.losses import LOSSES, Loss, named
from maximand.oracles import Projection, Soft
from maximand.support import Array, Ints
from maximand.tasks import RankingTask
from maximand.tasks.base import checked_weight
from maximand.tasks.ranking_targets import read_target


def _of_positions(ranker: LabelRanker) -> bool:
    """Say whether the means of a ranker are probabilities of positions; raise the reason where not."""
    if ranker.encoding != "matrix":
        raise AttributeError("The means of encoding='vector' are weights of positions; see predict_soft.")
    return probabilistic(ranker)


@dataclass(kw_only=True, eq=False, repr=False)
class LabelRanker(TablePredictor):
    """Puts all labels in order, by a linear score for each (label, position) or for each label.

    The scores are projected onto the convex hull of all rankings, or a larger set, and the prediction is the ranking of
    least expected cost (blondel2019). y lists the labels of each row, the best first: sequences, or text such as
    "b>a>c"; a set within a sequence holds labels that tie, and labels may be left out. predict returns an array (row,
    place) of labels, the best first; predict_soft the projected means: soft permutation matrices (row, label, position)
    with the encoding "matrix", or expected weights of positions (row, label) with "vector".

    The other parameters and the attributes are those of `StructuredPredictor`, and `classes_`.

    Parameters
    ----------
    projection : str, Projection or Loss
        The projection that generates the loss: "euclidean", "entropic", `Euclidean(onto=...)`, `Entropic(onto=...)`
        with `Hull()`, `RowStochastic()`, `Cube()` or `Everything()`; "squared" for none. Other losses work too.
    decoding : Decoder or None
        How to predict; None for the ranking of least expected cost, given the projection.
    encoding : "matrix" or "vector"
        What is scored: every (label, position), whose hull is the Birkhoff polytope, or every label, whose hull is the
        permutahedron: fewer weights, and a cost in which the position counts as a number.
    unlisted : "anywhere" or "below"
        Where labels that a ranking leaves out may be.
    fit_intercept : bool
        Whether to add biases; they are regularised like all weights.
    cost : Cost or None
        What a mistake costs; None for the number of labels in a wrong position, or with "vector" the sum of the squares
        of how far they are off.
    classes : array or None
        All labels, where some may be missing from the training data.
    target : "orders", "scores" or "positions"
        What y holds: lists of labels as above; or a table (row, label), an array or data frame, of scores (higher is
        better) or positions (lower is better), where what is equal ties and NaN is not listed. The columns of a data
        frame are labels; those of an array are `classes`, or else 0, 1, ...
    """

    _loss_parameter, _decoder_parameter = "projection", "decoding"
    _soft_losses = "projection='euclidean' or 'entropic'"

    projection: str | Projection | Loss = "euclidean"
    decoding: Decoder | None = None
    encoding: str = "matrix"
    unlisted: str = "anywhere"
    fit_intercept: bool = True
    cost: Cost | None = None
    classes: Any = None
    target: str = "orders"

    @property
    def loss(self) -> str | Loss | Projection:  # type: ignore[override]
        """The projection, as other estimators name it."""
        return self.projection

    @property
    def decoder(self) -> Decoder | None:  # type: ignore[override]
        """The decoding, as other estimators name it."""
        return self.decoding

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table X and rankings y."""
        X, bound, examples, annotation = self._bind(X, y)
        return self._train(X, bound, examples, annotation, checked_weight(sample_weight, X.shape[0]))

    def _unbound(self) -> RankingTask:
        return RankingTask(self.encoding, self.unlisted, self.fit_intercept, self.cost, self.classes)

    def _read(self, y: Any) -> Any:
        return read_target(y, self.target, self.classes)

    def _known(self, Y: Any) -> Any:
        return read_target(Y, self.target, self.classes_)

    def _check_parameters(self) -> None:
        if isinstance(self.projection, str) and self.projection not in LOSSES:
            raise ValueError(
                f"There is no projection {self.projection!r}; choose euclidean, entropic or squared, or give one such "
                "as Euclidean(onto=RowStochastic())."
            )
        super()._check_parameters()
        if isinstance(layer_of(self.projection), Soft):
            raise ValueError(
                f"The loss {named(self.projection).name} needs marginals, which rankings have not; use "
                f"{self._soft_losses}."
            )

    @available_if(_of_positions)
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of every position for every label, (row, label, position)."""
        return self.predict_soft(X)

    def predict_positions(self, X: Any) -> Ints:
        """Return the position of every label, 0 for the best, as a matrix (row, label) in the order of `classes_`."""
        return joined(self._answers(X, lambda part, theta: self.task_.positions(part, self._decode(part, theta))))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the mean of Kendall's tau over the pairs of labels whose order is known; rows without are left out."""
        positions = self.predict_positions(X)
        taus, known = self.task_.concordance(positions, read_target(y, self.target, self.classes_))
        weight = checked_weight(sample_weight, len(taus))
        return mean_of_known(taus, known, weight, "y holds no two labels in a known order")

    @property
    def coef_(self) -> Array:
        """The weights, (label, position, feature) or (label, feature)."""
        return self._by_part(self._fitted.features.coefficients(self.weights_).T)

    @property
    def intercept_(self) -> Array:
        """The biases, (label, position) or (label)."""
        return self._by_part(self._fitted.features.biases(self.weights_))

    def _by_part(self, rows: Array) -> Array:
        k = self.classes_.size
        return rows.reshape(k, k, *rows.shape[1:]) if self.encoding == "matrix" else rows
