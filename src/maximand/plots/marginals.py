"""How sure a tagger is of each tag of a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from maximand.plots.canvas import axes_or_new, name_ticks
from maximand.support import Array


class MarginalsDisplay:
    """The probability of every tag at every token of one sequence, as a heat map.

    Parameters
    ----------
    marginals : array (token, tag)
    tags : sequence
        The names of the tags.
    tokens : sequence or None
        The words of the sequence, where they are to be shown.

    After `plot`, `ax_` holds the axes, `figure_` their figure and `image_` the heat map.
    """

    def __init__(self, marginals: Array, tags: Sequence[Any], tokens: Sequence[Any] | None = None):
        if tokens is not None and len(tokens) != len(marginals):
            raise ValueError(f"There are {len(tokens)} tokens but marginals of {len(marginals)}; each needs its own.")
        self.marginals = marginals
        self.tags = tags
        self.tokens = tokens

    @classmethod
    def from_estimator(cls, estimator: Any, x: Any, *, tokens: Sequence[Any] | None = None, ax: Any = None) -> Self:
        """Draw what a fitted tagger says of one sequence x, given like an entry of X."""
        return cls(estimator.predict_proba([x])[0], estimator.classes_, tokens).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes, or on those of a new figure."""
        n_tokens, n_tags = len(self.marginals), len(self.tags)
        self.ax_ = axes_or_new(ax, width=min(16.0, 2.5 + 0.4 * n_tokens), height=min(9.0, 1.6 + 0.3 * n_tags))
        self.figure_ = self.ax_.figure
        self.image_ = self.ax_.imshow(
            self.marginals.T, vmin=0.0, vmax=1.0, cmap="Blues", aspect="auto", interpolation="nearest"
        )
        self.figure_.colorbar(self.image_, ax=self.ax_, label="probability")
        name_ticks(self.ax_.yaxis, self.tags)
        self.ax_.set_ylabel("tag")
        if self.tokens is None:
            self.ax_.set_xlabel("token")
            self.ax_.xaxis.get_major_locator().set_params(integer=True)
        else:
            name_ticks(self.ax_.xaxis, self.tokens)
        return self
