"""The means of a choice among labels for each example of a shard: what lives with the shard."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from maximand.costs import LabelCost
from maximand.features import PerLabel, Rows
from maximand.numerics import simplex_blocks as kernels
from maximand.shards import Shard
from maximand.spaces import Choice
from maximand.support import Array, Ints


class Means:
    """A point mu_i on the simplex for each example, and what its block of the dual problem is made of."""

    def __init__(self, shard: Shard, token: str, factor: float):
        batch = shard.batch
        self.token, self.factor, self.batch = token, factor, batch
        self.shape = (batch.n_examples, cast(Choice, batch.space).n_labels)
        self.features, self.inputs = cast(PerLabel, shard.features), cast(Rows, batch.examples.inputs)
        self.n_pairs = self.features.n_pairs
        self.costs, self.cost_row = self._costs()
        matrix = self.inputs.matrix
        squares = matrix.multiply(matrix) if self.inputs.sparse else np.square(matrix)
        self.squared = np.asarray(squares.sum(axis=1)).ravel() + self.features.bias
        allowed = batch.annotation.allowed_nodes
        self.mean = allowed / allowed.sum(axis=1, keepdims=True)

    def _costs(self) -> tuple[Array, Ints]:
        """Return a table of costs and the row of each example: few rows, where it can be, stay in the cache."""
        batch = self.batch
        if isinstance(batch.cost, LabelCost):
            table, rows, weights = batch.cost.rows(batch.space, batch.annotation)
            if not weights.size:
                return self.factor * table, rows % len(table)
        vector, constant = batch.target.cost_linear
        return self.factor * (vector.reshape(self.shape) + constant[:, None]), np.arange(batch.n_examples)

    def belongs_to(self, token: str) -> bool:
        """Whether these means are still those of a run."""
        return self.token == token

    def snapshot(self) -> Any:
        """Return all that must survive an interruption."""
        return self.mean

    def restore(self, mean: Array) -> None:
        """Take up what was saved."""
        self.mean = mean

    def total(self) -> Array:
        """Return the sum of share_i A_i' mu_i."""
        total = np.zeros(self.features.n_weights)
        self.features.add_sums(self.batch.examples, (self.mean * self.batch.weight[:, None]).ravel(), total)
        return total

    def expected_cost(self) -> float:
        """Return the sum of the costs that the means expect."""
        return float(self.batch.weight @ np.einsum("il,il->i", self.mean, self.costs[self.cost_row]))

    def sweep(self, weights: Array, examples: Ints, regularization: float) -> tuple[Array, Array]:
        """Visit the examples once, in the given order; return the weights and the examples' parts in the gap."""
        n_pairs, violation = self.n_pairs, np.empty(examples.size)
        tail = (
            self.costs, self.cost_row, self.mean, self.batch.weight, self.squared, regularization,
            weights[:n_pairs].reshape(self.features.n_features, self.shape[1]), weights[n_pairs:], violation,
        )  # fmt: skip
        if self.inputs.sparse or self.features.n_features < self.shape[1]:
            matrix = self.inputs.csr
            kernels.ascend_sparse(examples, matrix.indptr, matrix.indices, matrix.data, *tail)
        else:
            kernels.ascend_dense(examples, self.inputs.matrix, *tail)
        return weights, violation
