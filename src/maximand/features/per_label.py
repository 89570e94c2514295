"""One weight for every (feature, label) pair, or only for the pairs seen in training."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from maximand.features.base import FeatureMap
from maximand.features.rows import Rows
from maximand.numerics import rows as kernels
from maximand.support import Array, Bools, Ints

def _every() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class PerLabel(FeatureMap):
    """Scores of a row: theta[r, l] = sum_f x[r, f] w[f, l] + bias[l].

    starts, labels: the pairs that have a weight (see numerics.rows); empty starts mean all pairs. The weights are
    ordered by feature, then label; the biases come last.
    """

    n_features: int
    n_labels: int
    bias: bool = True
    starts: Ints = field(default_factory=_every)
    labels: Ints = field(default_factory=_every)

    @classmethod
    def seen(cls, matrix: csr_array, allowed: Bools, bias: bool = True) -> PerLabel:
        """Give weights to the pairs of a feature and an annotated label that occur together in a row."""
        starts, labels = kernels.seen_pairs(matrix.indptr, matrix.indices, allowed, matrix.shape[1])
        return cls(matrix.shape[1], allowed.shape[1], bias, starts, labels)

    @property
    def every_pair(self) -> bool:
        """Whether all pairs have a weight."""
        return self.starts.size == 0

    @property
    def n_pairs(self) -> int:
        """The number of weights that are not biases."""
        return self.n_features * self.n_labels if self.every_pair else int(self.starts[-1])

    @property
    def n_weights(self) -> int:  # type: ignore[override]
        """The number of weights."""
        return self.n_pairs + self.n_labels * self.bias

    def coefficients(self, weights: Array) -> Array:
        """Return the weights as a matrix (feature, label); pairs without a weight are zero."""
        if self.every_pair:
            return weights[: self.n_pairs].reshape(self.n_features, self.n_labels)
        dense = np.zeros((self.n_features, self.n_labels))
        dense[self._pair_features, self.labels] = weights[: self.n_pairs]
        return dense

    def biases(self, weights: Array) -> Array:
        """Return the bias of every label."""
        return weights[self.n_pairs : self.n_weights] if self.bias else np.zeros(self.n_labels)

    def scores(self, inputs: Rows, weights: Array) -> Array:
        """Return the scores of all rows."""
        theta = np.empty(inputs.matrix.shape[0] * self.n_labels)
        self.write_scores(inputs, weights, theta.reshape(-1, self.n_labels))
        return theta

    def write_scores(self, inputs: Rows, weights: Array, out: Array) -> None:
        """Write the scores into the matrix (row, label)."""
        matrix = inputs.matrix
        pairs = weights[: self.n_pairs]
        if not inputs.sparse:
            np.matmul(matrix, self.coefficients(weights), out=out)
            out += self.biases(weights)
            return
        out[:] = self.biases(weights)
        if self.every_pair:
            kernels.scores(
                matrix.indptr, matrix.indices, matrix.data, pairs.reshape(self.n_features, self.n_labels), out
            )
        else:
            kernels.pair_scores(
                matrix.indptr, matrix.indices, matrix.data, self.starts, self.labels, pairs, out
            )

    def add_sums(self, inputs: Rows, mean: Array, out: Array) -> None:
        """Add A' mean, where mean is a matrix (row, label) or its flat form."""
        matrix, mean = inputs.matrix, mean.reshape(-1, self.n_labels)
        pairs = out[: self.n_pairs]
        if not inputs.sparse:
            total = matrix.T @ mean
            pairs += total.ravel() if self.every_pair else total[self._pair_features, self.labels]
        elif self.every_pair:
            kernels.sums(
                matrix.indptr, matrix.indices, matrix.data, mean, pairs.reshape(self.n_features, self.n_labels)
            )
        else:
            kernels.pair_sums(matrix.indptr, matrix.indices, matrix.data, self.starts, self.labels, mean, pairs)
        if self.bias:
            out[self.n_pairs : self.n_weights] += mean.sum(axis=0)

    @property
    def _pair_features(self) -> Ints:
        return np.repeat(np.arange(self.n_features), np.diff(self.starts))

    def slopes(self, inputs: Rows, mean: Array, extra: Array | None = None) -> csr_array:
        """Return A_i' mean_i for every example i, followed by row i of `extra`."""
        mean = mean.reshape(-1, self.n_labels)
        matrix = inputs.csr
        columns = [np.add.reduceat(mean, inputs.offsets[:-1])] if self.bias else []
        columns += [] if extra is None else [extra]
        tail = np.hstack(columns) if columns else np.empty((inputs.offsets.size - 1, 0))
        pointers, places, values = kernels.outer_rows(
            matrix.indptr, matrix.indices, matrix.data, mean, inputs.offsets, self.starts, self.labels, self.n_pairs,
            tail,
        )  # fmt: skip
        slopes = csr_array((values, places, pointers), shape=(pointers.size - 1, self.n_pairs + tail.shape[1]))
        slopes.sum_duplicates()
        return slopes
