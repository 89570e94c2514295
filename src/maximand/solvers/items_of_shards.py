"""The means of items for the examples of a shard: what lives with the shard."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from maximand.features import PerLabel, Rows
from maximand.numerics import item_blocks as kernels
from maximand.numerics import rows as row_kernels
from maximand.passes import Pass
from maximand.shards import Shard
from maximand.support import Array, Ints

TOGETHER = 32  # items whose scores are made together


class Items:
    """The chance of each item to be there, (item, example), and what it costs.

    Weights come and go item by item, biases last. An item changes its own alone, so items run side by side.
    """

    def __init__(self, shard: Shard, token: str, factor: float):
        batch = shard.batch
        self.shard, self.token, self.share = shard, token, batch.weight
        self.features, inputs = cast(PerLabel, shard.features), cast(Rows, batch.examples.inputs)
        shape = batch.n_examples, self.features.n_labels
        matrix = inputs.matrix
        if inputs.sparse:
            squares, dense = matrix.multiply(matrix), np.empty((0, 0))
            self.matrix = kernels.Matrix(dense, matrix.indptr, matrix.indices, matrix.data)
        else:
            squares, none = np.square(matrix), np.empty(0, dtype=np.int64)
            self.matrix = kernels.Matrix(np.ascontiguousarray(matrix), none, none, np.empty(0))
        self.squared = np.asarray(squares.sum(axis=1)).ravel() + self.features.bias
        allowed = batch.annotation.allowed_nodes
        self.mean = (allowed[:, 1] / allowed.sum(axis=1)).reshape(shape).T.copy()
        vector, constant = batch.target.cost_linear
        self.costs, self.constant = factor * vector.reshape(shape).T, factor * float(self.share @ constant)
        self.costs = np.ascontiguousarray(self.costs)

    def belongs_to(self, token: str) -> bool:
        """Whether these means are still those of a run."""
        return self.token == token

    def n_units(self) -> int:
        """Return how many items there are: a sweep visits some of them."""
        return len(self.mean)

    def n_visits(self) -> int:
        """Return how often a sweep may change the weights of an item."""
        return kernels.PASSES * self.share.size

    def snapshot(self) -> Any:
        """Return all that must survive an interruption."""
        return self.mean

    def restore(self, mean: Array) -> None:
        """Take up what was saved."""
        self.mean = mean

    def total(self) -> Array:
        """Return the sum of share_i A_i' mu_i."""
        total = np.zeros(self.features.n_weights)
        self.features.add_sums(self.shard.batch.examples, (self.mean * self.share).T.ravel(), total)
        return total

    def expected_cost(self) -> float:
        """Return the sum of the costs that the means expect."""
        return self.constant + float(np.einsum("li,li->i", self.mean, self.costs) @ self.share)

    def largest_cost(self) -> float:
        """Return what they may expect at the most."""
        return self.constant + float(np.maximum(self.costs, 0.0).sum(axis=0) @ self.share)

    def sweep(self, weights: Array, items: Ints, regularization: float, seed: int) -> tuple[Array, Array]:
        """Visit items once; return the weights and the items' parts in the gap."""
        n_pairs, violation = self.features.n_pairs, np.empty(items.size)
        by_item, bias = weights[:n_pairs].reshape(len(self.mean), -1), weights[n_pairs:]
        asked = Pass(self.shard.deadlines[-1])

        def visit(begin: int) -> None:
            asked.check()
            some = slice(begin, begin + TOGETHER)
            kernels.ascend_items(
                items[some], self._scores(items[some], by_item, bias), self.matrix, self.costs, self.mean, self.share,
                self.squared, regularization, by_item, bias, seed, violation[some],
            )  # fmt: skip

        list(asked.side_by_side(self.shard.threads, visit, range(0, items.size, TOGETHER)))
        return weights, violation

    def _scores(self, items: Ints, by_item: Array, bias: Array) -> Array:
        """Return the scores (row, item) of some items."""
        own = by_item[items].T
        if self.matrix.dense.size:
            scores = self.matrix.dense @ own
        else:
            scores = np.zeros((self.share.size, items.size))
            row_kernels.scores(*self.matrix[1:], np.ascontiguousarray(own), scores)
        return scores + bias[items] if bias.size else scores
