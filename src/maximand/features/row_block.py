"""The block of rows of features: theta[r, l] = sum_f x[r, f] w[f, l] + bias[l]."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from maximand.caching import cached_property
from maximand.features.inputs import Inputs
from maximand.features.rows import Rows
from maximand.numerics import rows as kernels
from maximand.numerics.laid_rows import laid_scores, laid_sums, lay_out
from maximand.numerics.lowering import DENSE, SPARSE, Lowered
from maximand.support import Array, Bools, Ints


def no_indices() -> Ints:
    """Return an empty list of indices."""
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class RowBlock:
    """Rows of features times labels: theta[r, l] = sum_f x[r, f] w[f, l] + bias[l].

    The weights are ordered by feature, then label; the biases come last. Where only some pairs have one, starts and
    labels list them (see numerics.rows) and `places` says which are weights: features with many labels are listed with
    all. Empty starts mean all pairs. Parts of a row have the label that `columns` names, where given; none for -1.
    """

    kind: str
    n_features: int
    n_labels: int
    bias: bool = False
    starts: Ints = field(default_factory=no_indices)
    labels: Ints = field(default_factory=no_indices)
    places: Ints = field(default_factory=no_indices)
    columns: Ints = field(default_factory=no_indices)

    @property
    def every_pair(self) -> bool:
        """Whether all pairs have a weight."""
        return self.starts.size == 0

    @property
    def n_pairs(self) -> int:
        """The number of weights that are not biases."""
        return self.n_features * self.n_labels if self.every_pair else self.places.size

    @property
    def n_weights(self) -> int:
        """Pairs, then biases."""
        return self.n_pairs + self.n_labels * self.bias

    @property
    def n_listed(self) -> int:
        """The number of listed pairs, weights or not."""
        return self.n_pairs if self.every_pair else int(self.starts[-1])

    @property
    def n_expanded(self) -> int:
        """Listed pairs, then biases."""
        return self.n_listed + self.n_labels * self.bias

    def expand(self, weights: Array, out: Array) -> None:
        """Put zeros where listed pairs have no weight."""
        if self.every_pair:
            out[:] = weights
            return
        out[: self.n_listed] = 0.0
        out[self.places] = weights[: self.n_pairs]
        out[self.n_listed :] = weights[self.n_pairs :]

    def reduce(self, sums: Array, out: Array) -> None:
        """Drop listed pairs without a weight."""
        if self.every_pair:
            out[:] = sums
            return
        np.take(sums, self.places, out=out[: self.n_pairs], mode="clip")  # without a copy on the way
        out[self.n_pairs :] = sums[self.n_listed :]

    @cached_property
    def firsts(self) -> Ints:
        """The first weight of each feature, where pairs are listed."""
        seen = np.bincount(self.places + 1, minlength=self.n_listed + 1)
        return np.cumsum(seen, dtype=self.places.dtype)[self.starts]

    @property
    def holes(self) -> Bools:
        """Whether some pair of a feature that is listed has no weight, which only lists of all labels have."""
        return np.diff(self.firsts) < np.diff(self.starts)

    def laid_out(self, inputs: Inputs) -> Inputs:
        """Return the inputs with rows laid out for many passes, where pairs are listed."""
        if self.every_pair or not isinstance(inputs, Rows):
            return inputs
        csr = inputs.csr
        pairs = (self.starts, self.labels, self.holes, self.n_labels)
        return replace(inputs, laid=lay_out(csr.indptr, csr.indices, csr.data, *pairs))

    def write_scores(self, inputs: Inputs, weights: Array, out: Array, add: bool) -> None:
        """Multiply the rows with the weights."""
        rows = inputs.rows(self.kind)
        if self.columns.size:
            by_label = np.empty((rows.matrix.shape[0], self.n_labels))
            self._write(rows, weights, by_label)
            scores = np.where(self.columns >= 0, by_label[:, self.columns], 0.0)
            parts = out.reshape(scores.shape)
            parts[:] = parts + scores if add else scores
        elif add:
            scores = np.empty((rows.matrix.shape[0], self.n_labels))
            self._write(rows, weights, scores)
            out.reshape(scores.shape)[:] += scores
        else:
            self._write(rows, weights, out.reshape(-1, self.n_labels))

    def _write(self, rows: Rows, weights: Array, out: Array) -> None:
        n_pairs = self.n_listed if weights.size == self.n_expanded else self.n_pairs
        pairs, bias = weights[:n_pairs], weights[n_pairs:]
        by_label = pairs.reshape(self.n_features, self.n_labels) if self.every_pair else None
        if by_label is not None and not rows.sparse:
            np.matmul(rows.matrix, by_label, out=out)
            if self.bias:
                out += bias
            return
        csr = rows.csr
        out[:] = bias if self.bias else 0.0
        if rows.laid is not None and n_pairs == self.n_listed:
            laid_scores(rows.laid, pairs, out)
        elif by_label is not None:
            kernels.scores(csr.indptr, csr.indices, csr.data, by_label, out)
        elif n_pairs < self.n_listed:
            kernels.seen_scores(csr.indptr, csr.indices, csr.data, self.firsts, self.places, self.labels, pairs, out)
        else:
            kernels.pair_scores(csr.indptr, csr.indices, csr.data, self.starts, self.labels, pairs, out)

    def add_sums(self, inputs: Inputs, mean: Array, out: Array) -> None:
        """Multiply the transposed rows with the means of their parts."""
        rows = inputs.rows(self.kind)
        if self.columns.size:
            parts, used = mean.reshape(-1, self.columns.size), self.columns >= 0
            mean = np.zeros((len(parts), self.n_labels))
            np.add.at(mean.T, self.columns[used], parts[:, used].T)
        mean, pairs = mean.reshape(-1, self.n_labels), out[: self.n_listed]
        by_label = pairs.reshape(self.n_features, self.n_labels) if self.every_pair else None
        if self.bias:
            out[self.n_listed :] += mean.sum(axis=0)
        if by_label is not None and not rows.sparse:
            by_label += rows.matrix.T @ mean
            return
        csr = rows.csr
        if rows.laid is not None:
            laid_sums(rows.laid, mean, pairs)
        elif by_label is not None:
            kernels.sums(csr.indptr, csr.indices, csr.data, mean, by_label)
        else:
            kernels.pair_sums(csr.indptr, csr.indices, csr.data, self.starts, self.labels, mean, pairs)

    def clear(self, inputs: Inputs, change: Array, expanded: Array) -> None:
        """Clear the features of rows that changed."""
        csr = inputs.rows(self.kind).csr
        kernels.clear(csr.indptr, csr.indices, change, self.starts, self.places, expanded)

    def lowered(self, inputs: Inputs, dense: bool) -> Lowered:
        """The features of a row, at the weights of one label."""
        rows = inputs.rows(self.kind)
        record = Lowered(
            DENSE, self.columns.size or self.n_labels, rows.offsets[:-1], self.n_labels, self.n_features,
            self.n_pairs if self.bias else -1, self.columns,
        )  # fmt: skip
        if dense and self.every_pair and not rows.sparse and self.n_features:
            return record._replace(dense=np.ascontiguousarray(rows.matrix).ravel())
        positions = np.full(0 if self.every_pair else self.n_listed, -1, dtype=self.places.dtype)
        positions[self.places] = np.arange(self.places.size)
        pairs = (self.starts, self.labels, positions)
        return record._replace(source=SPARSE, csr=rows.csr, pairs=None if self.every_pair else pairs)

    def meaning(self, weight: int) -> tuple[int | str, Ints]:
        """A feature or the bias, and a label."""
        feature: int | str = "bias"
        if weight >= self.n_pairs:
            label = weight - self.n_pairs
        elif self.every_pair:
            feature, label = divmod(weight, self.n_labels)
        else:
            listed = int(self.places[weight])
            feature, label = int(np.searchsorted(self.starts, listed, side="right")) - 1, int(self.labels[listed])
        return feature, np.flatnonzero(self.columns == label) if self.columns.size else np.array([label])
