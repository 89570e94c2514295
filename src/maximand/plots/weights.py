"""The weights that matter most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maximand.features import ChainFeatures, GraphFeatures, PerLabel
from maximand.plots.canvas import axes_or_new, plain
from maximand.support import Array, Ints

POSITIVE, NEGATIVE = "#1f5fa8", "#b8500a"


class WeightsDisplay:
    """The largest weights by absolute value, each with its feature and its label, as bars.

    Parameters
    ----------
    weights : array
    names : sequence
        What each weight belongs to.

    After `plot`, `ax_` holds the axes, `figure_` their figure and `bars_` the bars.
    """

    def __init__(self, weights: Array, names: Sequence[str]):
        self.weights = weights
        self.names = names

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_weights: int = 20, feature_names: Sequence[Any] | None = None, ax: Any = None
    ) -> Self:
        """Draw the largest weights of a fitted classifier or tagger.

        The names of features are those given, or those that the estimator or its vectoriser knows; else numbers.
        Biases count as weights; those of transitions are what `TransitionsDisplay` shows.
        """
        check_is_fitted(estimator, "weights_")
        features = _per_label(estimator)
        known = known_names(estimator) if feature_names is None else feature_names
        if known is not None and len(known) != features.n_features:
            raise ValueError(f"There are {len(known)} names for {features.n_features} features; each needs one.")
        weights = estimator.weights_[: features.n_weights]
        largest = np.argsort(-np.abs(weights), kind="stable")[:n_weights]
        names = []
        for feature, label in zip(*_meanings(features, largest), strict=True):
            what = (
                "bias" if feature == features.n_features else f"feature {feature}" if known is None else known[feature]
            )
            names.append(f"{what} → {estimator.classes_[label]}")
        return cls(weights[largest], names).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes, or on those of a new figure; the largest weight is at the top."""
        n = len(self.weights)
        self.ax_ = axes_or_new(ax, width=7.0, height=1.0 + 0.26 * n)
        self.figure_ = self.ax_.figure
        colours = [POSITIVE if weight > 0 else NEGATIVE for weight in self.weights]
        self.bars_ = self.ax_.barh(range(n), self.weights, color=colours)
        self.ax_.set_yticks(range(n), labels=[plain(name) for name in self.names])
        self.ax_.invert_yaxis()
        self.ax_.axvline(0.0, color="0.3", linewidth=0.8)
        self.ax_.grid(axis="x", alpha=0.3)
        self.ax_.set_axisbelow(True)
        self.ax_.set_xlabel("weight")
        return self


def _per_label(estimator: Any) -> PerLabel:
    """Return the features of labels: of a classifier, of the tokens of a chain or of the nodes of a graph."""
    features = estimator.task_.features
    if isinstance(features, GraphFeatures) and len(features.nodes) == 1:
        return features.nodes[0]
    features = features.emission if isinstance(features, ChainFeatures) else features
    if not isinstance(features, PerLabel):
        raise ValueError(f"{type(estimator).__name__} has no weights per label; give weights and names yourself.")
    return features


def _meanings(features: PerLabel, places: Ints) -> tuple[Ints, Ints]:
    """Return feature and label of the weights at some places; the feature n_features is the bias."""
    of_biases = places >= features.n_pairs
    pairs = np.where(of_biases, 0, places)
    if features.every_pair:
        found, labels = np.divmod(pairs, features.n_labels)
    elif features.n_pairs:
        listed = features.places[pairs]
        found, labels = np.searchsorted(features.starts, listed, side="right") - 1, features.labels[listed]
    else:
        found = labels = pairs
    return (
        np.where(of_biases, features.n_features, found),
        np.where(of_biases, places - features.n_pairs, labels),
    )


def known_names(estimator: Any) -> Sequence[Any] | None:
    """Return the names of the features as far as the estimator, or its vectoriser, knows them."""
    vectorizer = getattr(estimator.task_, "vectorizer", None)
    names = getattr(vectorizer, "feature_names_", None)
    return getattr(estimator, "feature_names_in_", None) if names is None else names
