"""Weights of a chain: emissions per label, transitions, start and end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from maximand.features.base import FeatureMap
from maximand.features.blocks import Block, EndBlock, TiedBlock
from maximand.features.per_label import PerLabel
from maximand.support import Array, Ints


@dataclass(frozen=True)
class ChainFeatures(FeatureMap):
    """Scores of the parts of a `Chain`.

    The weights are, in this order: those of `emission`, one for each transition l -> m listed in `pairs` as
    l * n_labels + m (None: all of them), and where asked for one per label for the start and for the end.
    """

    emission: PerLabel
    pairs: Ints | None = None
    start: bool = False
    end: bool = False

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Emissions and ends score nodes; transitions are tied."""
        k = self.n_labels
        ends = [EndBlock("nodes", k, last) for last, wanted in ((False, self.start), (True, self.end)) if wanted]
        tied = np.full(k * k, -1, dtype=np.int64)
        n_transitions = k * k if self.pairs is None else self.pairs.size
        tied[slice(None) if self.pairs is None else self.pairs] = np.arange(n_transitions)
        return self.emission.on("nodes"), TiedBlock("transitions", tied, n_transitions), *ends

    @property
    def n_weights(self) -> int:
        """Those of emissions, transitions and ends: counted without the table of all transitions."""
        n_transitions = self.n_labels**2 if self.pairs is None else self.pairs.size
        return self.emission.n_weights + n_transitions + self.n_labels * (self.start + self.end)

    def check(self) -> None:
        """Refuse transitions that do not exist."""
        self.emission.check()
        if not isinstance(self.start, bool) or not isinstance(self.end, bool):
            raise ValueError("start and end say yes or no.")
        if self.pairs is None:
            return
        if self.pairs.ndim != 1 or self.pairs.dtype.kind not in "iu":
            raise ValueError("The transitions must be integers.")
        if self.pairs.size and (self.pairs.min() < 0 or self.pairs.max() >= self.n_labels**2):
            raise ValueError("Some transitions are between labels that do not exist.")
        if (np.diff(self.pairs) <= 0).any():
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
