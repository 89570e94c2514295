"""Weights of a chain: emissions per label, transitions, start and end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maximand.features.base import FeatureMap
from maximand.features.per_label import PerLabel
from maximand.features.rows import Rows
from maximand.numerics.part_rows import PartRows
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

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return self.emission.n_labels

    @property
    def n_weights(self) -> int:  # type: ignore[override]
        """The number of weights."""
        return self.emission.n_weights + self._n_tail

    @property
    def n_spread(self) -> int:
        """The spread weights of the emission, then the others."""
        return self.emission.n_spread + self._n_tail

    @property
    def _n_tail(self) -> int:
        return self._tail(0)[-1]

    def _tail(self, transitions: int) -> tuple[int, int, int, int]:
        """Given where the transition weights begin, return that and where start, end weights and nothing begin."""
        k = self.n_labels
        start = transitions + (k * k if self.pairs is None else self.pairs.size)
        end = start + k * self.start
        return transitions, start, end, end + k * self.end

    def spread(self, weights: Array) -> Array:
        """Spread the weights of the emission."""
        return self.emission.spread(weights, self._n_tail)

    def gather(self, sums: Array) -> Array:
        """Gather the sums of the emission."""
        return self.emission.gather(sums)

    def transitions(self, weights: Array) -> Array:
        """Return the transition weights as a matrix (label, next label)."""
        return self._square(weights[self.emission.n_weights :])

    def _square(self, tail: Array) -> Array:
        _, start, *_ = self._tail(0)
        if self.pairs is None:
            return tail[:start].reshape(self.n_labels, self.n_labels)
        dense = np.zeros(self.n_labels**2)
        dense[self.pairs] = tail[:start]
        return dense.reshape(self.n_labels, self.n_labels)

    def scores(self, inputs: Rows, spread: Array) -> Array:
        """Return node scores, position by position, then a copy of the transition scores for every example."""
        k, n = self.n_labels, inputs.offsets.size - 1
        n_emission = self.emission.n_spread
        _, start, end, stop = self._tail(n_emission)
        n_nodes = inputs.matrix.shape[0] * k
        theta = np.empty(n_nodes + n * k * k)
        nodes = theta[:n_nodes].reshape(-1, k)
        self.emission.write_scores(inputs, spread[:n_emission], nodes)
        if self.start:
            nodes[inputs.offsets[:-1]] += spread[start:end]
        if self.end:
            nodes[inputs.offsets[1:] - 1] += spread[end:stop]
        theta[n_nodes:].reshape(n, k * k)[:] = self._square(spread[n_emission:]).ravel()
        return theta

    def add_sums(self, inputs: Rows, mean: Array, out: Array) -> None:
        """Add A' mean."""
        k, n = self.n_labels, inputs.offsets.size - 1
        n_emission = self.emission.n_spread
        transitions, start, end, stop = self._tail(n_emission)
        n_nodes = inputs.matrix.shape[0] * k
        nodes = mean[:n_nodes].reshape(-1, k)
        self.emission.add_sums(inputs, nodes, out[:n_emission])
        counts = mean[n_nodes:].reshape(n, k * k).sum(axis=0)
        out[transitions:start] += counts if self.pairs is None else counts[self.pairs]
        if self.start:
            out[start:end] += nodes[inputs.offsets[:-1]].sum(axis=0)
        if self.end:
            out[end:stop] += nodes[inputs.offsets[1:] - 1].sum(axis=0)

    def part_rows(self, inputs: Rows) -> PartRows:
        """Rows of the emission, with start and end where they are; transitions are the block."""
        transitions, start, end, _ = self._tail(self.emission.n_weights)
        block = np.full(self.n_labels**2, -1, dtype=np.int64)
        block[slice(None) if self.pairs is None else self.pairs] = np.arange(transitions, start)
        return self.emission.part_rows(inputs)._replace(
            start=start if self.start else -1, end=end if self.end else -1, block=block
        )
