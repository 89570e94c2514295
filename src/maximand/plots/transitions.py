"""Which tag a tagger likes after which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maximand.features import ChainFeatures
from maximand.plots.canvas import axes_or_new, name_ticks
from maximand.support import Array


class TransitionsDisplay:
    """The weights of transitions between neighbouring tags, as a heat map.

    Parameters
    ----------
    transitions : array (tag, next tag)
    tags : sequence
        The names of the tags.

    After `plot`, `ax_` holds the axes, `figure_` their figure and `image_` the heat map.
    """

    def __init__(self, transitions: Array, tags: Sequence[Any]):
        self.transitions = transitions
        self.tags = tags

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the transitions of a fitted tagger; those without a weight are zero."""
        check_is_fitted(estimator, "weights_")
        features = estimator.task_.features
        if not isinstance(features, ChainFeatures):
            raise ValueError(f"{type(estimator).__name__} has no transitions; a SequenceTagger has.")
        return cls(features.transitions(estimator.weights_), estimator.classes_).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes, or on those of a new figure; white is zero."""
        size = min(12.0, 2.2 + 0.4 * len(self.tags))
        self.ax_ = axes_or_new(ax, width=size + 1.0, height=size)
        self.figure_ = self.ax_.figure
        reach = float(np.abs(self.transitions).max()) or 1.0
        self.image_ = self.ax_.imshow(self.transitions, vmin=-reach, vmax=reach, cmap="PuOr", interpolation="nearest")
        self.figure_.colorbar(self.image_, ax=self.ax_, label="weight")
        name_ticks(self.ax_.yaxis, self.tags)
        name_ticks(self.ax_.xaxis, self.tags)
        self.ax_.set(xlabel="next tag", ylabel="tag")
        return self
