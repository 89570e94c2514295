"""Weights of a chain: emissions per label, transitions, first and last position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maximand.caching import cached_property
from maximand.features.base import FeatureMap
from maximand.features.blocks import Block, EndBlock, TiedBlock
from maximand.features.per_label import PerLabel
from maximand.support import Array, Ints


@dataclass(frozen=True)
class ChainFeatures(FeatureMap):
    """Scores of the parts of a `Chain`.

    The weights are, in this order: those of `emission`, one for each transition l -> m listed in `between` as
    l * n_labels + m (None: all of them), and where asked for one per label of the `first` position and of the `last`.
    """

    emission: PerLabel
    between: Ints | None = None
    first: bool = False
    last: bool = False

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Emissions and ends score nodes; transitions are tied."""
        k = self.n_labels
        ends = [EndBlock("nodes", k, last) for last, wanted in ((False, self.first), (True, self.last)) if wanted]
        tied = np.full(k * k, -1, dtype=np.int64)
        n_transitions = k * k if self.between is None else self.between.size
        tied[slice(None) if self.between is None else self.between] = np.arange(n_transitions)
        return self.emission.on("nodes"), TiedBlock("transitions", tied, n_transitions), *ends

    @property
    def n_weights(self) -> int:
        """Those of emissions, transitions and ends: counted without the table of all transitions."""
        n_transitions = self.n_labels**2 if self.between is None else self.between.size
        return self.emission.n_weights + n_transitions + self.n_labels * (self.first + self.last)

    def check(self) -> None:
        """Refuse transitions that do not exist."""
        self.emission.check()
        if not isinstance(self.first, bool) or not isinstance(self.last, bool):
            raise ValueError("first and last say yes or no.")
        if self.between is None:
            return
        if self.between.ndim != 1 or self.between.dtype.kind not in "iu":
            raise ValueError("The transitions must be integers.")
        if self.between.size and (self.between.min() < 0 or self.between.max() >= self.n_labels**2):
            raise ValueError("Some transitions are between labels that do not exist.")
        if (np.diff(self.between) <= 0).any():
            raise ValueError("The transitions are not in order.")

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return self.emission.n_labels

    def transitions(self, weights: Array) -> Array:
        """Return the transition weights as a matrix (label, next label)."""
        matrix = np.empty((self.n_labels, self.n_labels))
        _, transitions, *_ = self.blocks
        assert isinstance(transitions, TiedBlock)
        own = weights[self.emission.n_weights :][: transitions.n_weights]
        matrix.ravel()[:] = np.where(transitions.tied >= 0, np.append(own, 0.0)[transitions.tied], 0.0)
        return matrix
