"""One weight for every (feature, label) pair, or only for the pairs seen in training."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from maximand.features.base import FeatureMap
from maximand.features.rows import Rows
from maximand.numerics import rows as kernels
from maximand.numerics.part_rows import PartRows
from maximand.support import Array, Bools, Ints

CROWDED = 0.2  # features seen with more than this share of the labels are listed with all of them


def _every() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class PerLabel(FeatureMap):
    """Scores of a row: theta[r, l] = sum_f x[r, f] w[f, l] + bias[l].

    The weights are ordered by feature, then label; the biases come last. Where only some pairs have a weight,
    starts and labels list them (see numerics.rows) and `places` says which of those listed are weights: features
    that occur with many labels are listed with all, as whole rows are faster. Empty starts mean all pairs.
    """

    n_features: int
    n_labels: int
    bias: bool = True
    starts: Ints = field(default_factory=_every)
    labels: Ints = field(default_factory=_every)
    places: Ints = field(default_factory=_every)

    @classmethod
    def seen(cls, matrix: csr_array, allowed: Bools, bias: bool = True) -> PerLabel:
        """Give weights to the pairs of a feature and an annotated label that occur together in a row."""
        starts, labels, places = kernels.seen_pairs(matrix.indptr, matrix.indices, allowed, matrix.shape[1], CROWDED)
        index = np.int32 if labels.size < 1 << 31 else np.int64  # short ones leave the cache to the weights
        label = np.uint16 if allowed.shape[1] <= 1 << 16 else np.int32
        listed = starts.astype(index), labels.astype(label), places.astype(index)
        return cls(matrix.shape[1], allowed.shape[1], bias, *listed)

    def check(self) -> None:
        """Refuse lists of pairs that are not in order or point outside."""
        lists = self.starts, self.labels, self.places
        if any(array.ndim != 1 or array.dtype.kind not in "iu" for array in lists):
            raise ValueError("The lists of pairs must be integers.")
        if min(self.n_features, self.n_labels) < 0 or not isinstance(self.bias, bool):
            raise ValueError("The numbers of features and labels must not be negative.")
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
        return self.n_features * self.n_labels if self.every_pair else self.places.size

    @property
    def n_weights(self) -> int:  # type: ignore[override]
        """The number of weights."""
        return self.n_pairs + self.n_labels * self.bias

    @property
    def n_listed(self) -> int:
        """The number of listed pairs, weights or not."""
        return self.n_pairs if self.every_pair else int(self.starts[-1])

    @property
    def n_spread(self) -> int:
        """Listed pairs, then biases."""
        return self.n_listed + self.n_labels * self.bias

    def spread(self, weights: Array, tail: int = 0) -> Array:
        """Put zeros where listed pairs have no weight; the last `tail` weights are not this map's and stay last."""
        if self.every_pair:
            return weights
        spread = np.zeros(self.n_spread + tail)
        spread[self.places] = weights[: self.n_pairs]
        spread[self.n_listed :] = weights[self.n_pairs :]
        return spread

    def gather(self, sums: Array) -> Array:
        """Drop listed pairs without a weight; what follows the last bias stays."""
        if self.every_pair:
            return sums
        gathered = np.empty(self.n_pairs + sums.size - self.n_listed)
        np.take(sums, self.places, out=gathered[: self.n_pairs], mode="clip")  # without a copy on the way
        gathered[self.n_pairs :] = sums[self.n_listed :]
        return gathered

    def coefficients(self, weights: Array) -> Array:
        """Return the weights as a matrix (feature, label); pairs without a weight are zero."""
        if self.every_pair:
            return weights[: self.n_pairs].reshape(self.n_features, self.n_labels)
        dense = np.zeros((self.n_features, self.n_labels))
        dense[self._listed_features, self.labels] = self.spread(weights)[: self.n_listed]
        return dense

    def biases(self, weights: Array) -> Array:
        """Return the bias of every label."""
        return weights[self.n_pairs : self.n_weights] if self.bias else np.zeros(self.n_labels)

    def scores(self, inputs: Rows, spread: Array) -> Array:
        """Return the scores of all rows."""
        theta = np.empty(inputs.matrix.shape[0] * self.n_labels)
        self.write_scores(inputs, spread, theta.reshape(-1, self.n_labels))
        return theta

    def write_scores(self, inputs: Rows, spread: Array, out: Array) -> None:
        """Write the scores into the matrix (row, label)."""
        pairs, bias = spread[: self.n_listed], spread[self.n_listed : self.n_spread]
        by_label = pairs.reshape(self.n_features, self.n_labels) if self.every_pair else None
        if by_label is not None and not inputs.sparse:
            np.matmul(inputs.matrix, by_label, out=out)
            if self.bias:
                out += bias
            return
        csr = inputs.csr
        out[:] = bias if self.bias else 0.0
        if by_label is not None:
            kernels.scores(csr.indptr, csr.indices, csr.data, by_label, out)
        else:
            kernels.pair_scores(csr.indptr, csr.indices, csr.data, self.starts, self.labels, pairs, out)

    def add_sums(self, inputs: Rows, mean: Array, out: Array) -> None:
        """Add A' mean, where mean is a matrix (row, label) or its flat form."""
        mean = mean.reshape(-1, self.n_labels)
        pairs = out[: self.n_listed]
        by_label = pairs.reshape(self.n_features, self.n_labels) if self.every_pair else None
        if self.bias:
            out[self.n_listed : self.n_spread] += mean.sum(axis=0)
        if by_label is not None and not inputs.sparse:
            by_label += inputs.matrix.T @ mean
            return
        csr = inputs.csr
        if by_label is not None:
            kernels.sums(csr.indptr, csr.indices, csr.data, mean, by_label)
        else:
            kernels.pair_sums(csr.indptr, csr.indices, csr.data, self.starts, self.labels, mean, pairs)

    @property
    def _listed_features(self) -> Ints:
        return np.repeat(np.arange(self.n_features), np.diff(self.starts))

    def part_rows(self, inputs: Rows) -> PartRows:
        """Rows of x, at the weights of one label."""
        bias = self.n_pairs if self.bias else -1
        if self.every_pair and not inputs.sparse and self.n_features:
            none = np.empty(0, dtype=np.int32)
            rows = none, none, np.empty(0)
            return PartRows(
                *rows, inputs.offsets, self.n_labels, self.n_labels, _every(), bias=bias, dense=inputs.matrix
            )
        matrix = inputs.csr
        positions = np.full(0 if self.every_pair else self.n_listed, -1, dtype=self.places.dtype)
        positions[self.places] = np.arange(self.places.size)
        return PartRows(
            matrix.indptr, matrix.indices, matrix.data, inputs.offsets, self.n_labels, self.n_labels, _every(),
            self.starts, self.labels, positions, bias,
        )  # fmt: skip
