"""One weight for every (feature, label) pair, or only for the pairs seen in training."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from maximand.caching import cached_property
from maximand.features.base import FeatureMap
from maximand.features.row_block import RowBlock, no_indices
from maximand.numerics.rows import seen_pairs
from maximand.support import Array, Bools, Ints

CROWDED = 0.2  # features seen with more than this share of the labels are listed with all of them


@dataclass(frozen=True)
class PerLabel(FeatureMap):
    """Scores of a row: theta[r, l] = sum_f x[r, f] w[f, l] + bias[l], see `RowBlock`."""

    n_features: int
    n_labels: int
    bias: bool = True
    starts: Ints = field(default_factory=no_indices)
    labels: Ints = field(default_factory=no_indices)
    places: Ints = field(default_factory=no_indices)

    @classmethod
    def seen(cls, matrix: csr_array, allowed: Bools, bias: bool = True) -> PerLabel:
        """Give weights to the pairs of a feature and an annotated label that occur together in a row."""
        starts, labels, places = seen_pairs(matrix.indptr, matrix.indices, allowed, matrix.shape[1], CROWDED)
        index = np.int32 if labels.size < 1 << 31 else np.int64  # short ones leave the cache to the weights
        label = np.uint16 if allowed.shape[1] <= 1 << 16 else np.int32
        listed = starts.astype(index), labels.astype(label), places.astype(index)
        return cls(matrix.shape[1], allowed.shape[1], bias, *listed)

    @cached_property
    def blocks(self) -> tuple[RowBlock, ...]:
        """The rows, for spaces with one kind of parts."""
        return (self.on("parts"),)

    def on(self, kind: str, columns: Ints | None = None) -> RowBlock:
        """Return the block that scores parts of a kind; `columns` names their labels where these are others."""
        return RowBlock(
            kind, self.n_features, self.n_labels, self.bias, self.starts, self.labels, self.places,
            no_indices() if columns is None else columns,
        )  # fmt: skip

    def check(self) -> None:
        """Refuse lists of pairs that are not in order or point outside."""
        lists = self.starts, self.labels, self.places
        if any(array.ndim != 1 or array.dtype.kind not in "iu" for array in lists):
            raise ValueError("The lists of pairs must be integers.")
        check_counts(self.n_features, self.n_labels)
        if not isinstance(self.bias, bool):
            raise ValueError("bias says yes or no.")
        if self.every_pair:
            return
        starts, places = self.starts.astype(np.int64), self.places.astype(np.int64)
        in_order = starts.size == self.n_features + 1 and starts[0] == 0 and (np.diff(starts) >= 0).all()
        if not in_order or starts[-1] != self.labels.size or (np.diff(starts) > self.n_labels).any():
            raise ValueError("The starts of the pairs of each feature are not in order.")
        if (self.labels.astype(np.int64) >= self.n_labels).any() or (self.labels.astype(np.int64) < 0).any():
            raise ValueError("The pairs name labels that do not exist.")
        if places.size and (places[0] < 0 or (np.diff(places) <= 0).any() or places[-1] >= starts[-1]):
            raise ValueError("The weights of the pairs are not in order.")

    @property
    def every_pair(self) -> bool:
        """Whether all pairs have a weight."""
        return self.starts.size == 0

    @property
    def n_pairs(self) -> int:
        """The number of weights that are not biases."""
        return self.blocks[0].n_pairs

    def coefficients(self, weights: Array) -> Array:
        """Return the weights as a matrix (feature, label); pairs without a weight are zero."""
        if self.every_pair:
            return weights[: self.n_pairs].reshape(self.n_features, self.n_labels)
        features = np.repeat(np.arange(self.n_features), np.diff(self.starts))
        dense = np.zeros((self.n_features, self.n_labels))
        dense[features[self.places], self.labels[self.places]] = weights[: self.n_pairs]
        return dense

    def biases(self, weights: Array) -> Array:
        """Return the bias of every label."""
        return weights[self.n_pairs : self.n_weights] if self.bias else np.zeros(self.n_labels)


def check_counts(*counts: int) -> None:
    """Refuse what does not count features, labels or tables."""
    if not all(type(count) is int and count >= 0 for count in counts):
        raise ValueError("The numbers of features, labels and tables are whole and not negative.")
