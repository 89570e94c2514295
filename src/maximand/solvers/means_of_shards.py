"""The means of choices among labels for the examples of a shard: what lives with the shard."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from maximand.costs import LabelCost
from maximand.features import PerLabel, Rows
from maximand.numerics import simplex_blocks as kernels
from maximand.numerics.pair_blocks import ascend_pairs, flags, inverse_lengths
from maximand.shards import Shard
from maximand.spaces import Choice, Choices
from maximand.support import Array, Ints


class Means:
    """A point on the simplex for each choice, and what its block of the dual problem is made of.

    A choice is a slot; a row of features scores one of them, or several. Weights come and go in expanded form.
    """

    def __init__(self, shard: Shard, token: str, factor: float):
        batch = shard.batch
        self.token, self.factor, self.batch = token, factor, batch
        self.features, self.inputs = cast(PerLabel, shard.features), cast(Rows, shard.laid_out.examples.inputs)
        self.n_labels = cast(Choice | Choices, batch.space).n_labels
        self.share = np.repeat(batch.weight, np.diff(self.inputs.offsets))
        self.there: Ints = np.empty(0, dtype=np.uint8)  # which of the pairs listed have a weight
        self.size: Array  # |x|^2 of each row; where pairs are listed, 1 / |x_l|^2 (row, label)
        if self.inputs.laid is None:
            squares = self.inputs.squared().matrix
            self.size = np.asarray(squares.sum(axis=1)).ravel() + self.features.bias
        else:
            self.there = flags(self.features.places, self.features.labels.size)
            self.size = inverse_lengths(self.inputs.laid, self.there, self.features.n_labels, float(self.features.bias))
        allowed = batch.annotation.allowed_nodes
        self.mean = allowed / allowed.sum(axis=1, keepdims=True)
        self.slot_share = np.repeat(batch.weight, len(self.mean) // max(batch.n_examples, 1))
        self.costs, self.cost_row = self._costs()

    def _costs(self) -> tuple[Array, Ints]:
        """Return a table of costs and the line of each slot: few lines, where it can be, stay in the cache."""
        batch = self.batch
        if isinstance(batch.cost, LabelCost):
            table, lines, weights = batch.cost.of_slots(batch.space, batch.annotation)
            if not weights.size:
                return self.factor * table, lines % len(table)
        vector, constant = batch.target.cost_linear
        per_example = len(self.mean) // max(batch.n_examples, 1)
        spread = np.repeat(constant / per_example, per_example)
        return self.factor * (vector.reshape(self.mean.shape) + spread[:, None]), np.arange(len(self.mean))

    def belongs_to(self, token: str) -> bool:
        """Whether these means are still those of a run."""
        return self.token == token

    def n_units(self) -> int:
        """Return how many rows there are: a sweep visits some of them."""
        return self.share.size

    def snapshot(self) -> Any:
        """Return all that must survive an interruption."""
        return self.mean

    def restore(self, mean: Array) -> None:
        """Take up what was saved."""
        self.mean = mean

    def total(self) -> Array:
        """Return the sum of share_i A_i' mu_i."""
        total = np.zeros(self.features.n_expanded)
        self.features.add_sums(self.batch.examples, (self.mean * self.slot_share[:, None]).ravel(), total)
        return self.features.reduce(total)

    def expected_cost(self) -> float:
        """Return the sum of the costs that the means expect."""
        return float(self.slot_share @ np.einsum("il,il->i", self.mean, self.costs[self.cost_row]))

    def largest_cost(self) -> float:
        """Return what they may expect at the most."""
        return float(self.slot_share @ self.costs.max(axis=1)[self.cost_row])

    def sweep(self, weights: Array, rows: Ints, regularization: float) -> tuple[Array, Array]:
        """Visit rows once, in the given order; return the weights and the rows' parts in the gap."""
        n_listed, violation = self.features.blocks[0].n_listed, np.empty(rows.size)
        listed, bias = weights[:n_listed], weights[n_listed:]
        by_feature = listed if self.inputs.laid else listed.reshape(self.features.n_features, -1)
        blocks: tuple[Any, ...] = (
            self.costs, self.cost_row, self.mean, self.share, self.size, regularization, by_feature, bias, violation,
        )  # fmt: skip
        if self.inputs.laid:
            ascend_pairs(rows, self.inputs.laid, self.there, *blocks)
        elif self.inputs.sparse or self.features.n_features < self.features.n_labels:
            kernels.ascend_sparse(rows, *self._csr, *blocks)
        else:
            kernels.ascend_dense(rows, self.inputs.matrix, *blocks)
        return weights, violation

    @property
    def _csr(self) -> tuple[Ints, Ints, Array]:
        matrix = self.inputs.csr
        return matrix.indptr, matrix.indices, matrix.data
