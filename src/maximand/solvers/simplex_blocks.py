"""The dual of a choice among labels, where every block has a closed form."""

from __future__ import annotations

from typing import cast

import numpy as np

from maximand.batch import Batch
from maximand.costs import LabelCost
from maximand.features import PerLabel, Rows
from maximand.numerics import simplex_blocks as kernels
from maximand.objective import Objective
from maximand.oracles import Over, Soft
from maximand.solvers.base import Result, origin, recycled
from maximand.spaces import Choice
from maximand.support import Array, Guarantee, Ints

RECENT = 0.15  # the share of the last sweep in the average of the weights


class SimplexBlocks:
    """Means mu_i on the simplex, one for each example, and w = (b - sum_i share_i A_i' mu_i) / regularization.

    `average` is a moving average of the weights after each sweep: single steps make the weights rattle around the
    minimum, and the objective is several times closer to it at their average.
    """

    saved = ("mean", "violation", "weights", "average", "n_averaged", "guarantee")

    @staticmethod
    def fit(objective: Objective) -> bool:
        """Whether the objective has this form: one label each, a weight for every pair, a maximum as penalty."""
        penalty, features = objective.loss.penalty, objective.features
        return (
            isinstance(objective.batch.space, Choice)
            and isinstance(features, PerLabel)
            and features.every_pair
            and isinstance(penalty, Soft)
            and penalty.over is Over.ALL
            and not penalty.smooth
        )

    def __init__(self, objective: Objective):
        batch = objective.batch
        self.origin = origin(objective)
        self.shape = (batch.n_examples, cast(Choice, batch.space).n_labels)
        self.share = batch.weight
        self.features = cast(PerLabel, objective.features)
        self.examples, self.inputs = batch.examples, cast(Rows, batch.examples.inputs)
        self.costs, self.cost_row = self._costs(batch, cast(Soft, objective.loss.penalty).cost)
        matrix = self.inputs.matrix
        squares = matrix.multiply(matrix) if self.inputs.sparse else np.square(matrix)
        self.squared = np.asarray(squares.sum(axis=1)).ravel() + self.features.bias
        allowed = batch.annotation.allowed_nodes
        self.mean = allowed / allowed.sum(axis=1, keepdims=True)
        self.violation = np.zeros(batch.n_examples)
        self.guarantee = Guarantee.EXACT
        self.aim(objective)
        self.forget()

    def _costs(self, batch: Batch, factor: float) -> tuple[Array, Ints]:
        """Return a table of costs and the row of each example: few rows, where it can be, stay in the cache."""
        if isinstance(batch.cost, LabelCost):
            table, rows, weights = batch.cost.rows(batch.space, batch.annotation)
            if not weights.size:
                return factor * table, rows % len(table)
        vector, constant = batch.target.cost_linear
        return factor * (vector.reshape(self.shape) + constant[:, None]), np.arange(batch.n_examples)

    def aim(self, objective: Objective) -> None:
        """Take another reward or regularisation; also wipes out the rounding of the updates."""
        self.regularization = objective.regularization
        self.reward = objective.reward(np.zeros(0))
        total = np.zeros(self.features.n_weights)
        self.features.add_sums(self.examples, (self.mean * self.share[:, None]).ravel(), total)
        self.weights: Array = (self.reward.slope - total) / self.regularization

    def forget(self) -> None:
        """Start the average of the weights afresh."""
        self.average, self.n_averaged = self.weights.copy(), 0

    @property
    def dual(self) -> float:
        """The dual value: a lower bound on the minimum."""
        linear = float(self.share @ np.einsum("il,il->i", self.mean, self.costs[self.cost_row]))
        return linear - 0.5 * self.regularization * float(self.weights @ self.weights) - self.reward.offset

    def sweep(self, examples: Ints) -> None:
        """Visit the examples once, in the given order."""
        n_pairs = self.features.n_pairs
        weights = self.weights[:n_pairs].reshape(self.features.n_features, self.shape[1])
        tail = (
            self.costs, self.cost_row, self.mean, self.share, self.squared, self.regularization, weights,
            self.weights[n_pairs:], self.violation,
        )  # fmt: skip
        if self.inputs.sparse or self.features.n_features < self.shape[1]:
            matrix = self.inputs.csr
            kernels.ascend_sparse(examples, matrix.indptr, matrix.indices, matrix.data, *tail)
        else:
            kernels.ascend_dense(examples, self.inputs.matrix, *tail)
        self.n_averaged += 1
        self.average += max(RECENT, 2.0 / (self.n_averaged + 1)) * (self.weights - self.average)


class ExactAscent:
    """Where a dual ascent by exact blocks stands."""

    saved = ("begun", "blocks", "rng", "start", "settling", "goal")

    def __init__(self, objective: Objective, start: Result | None, random_state: int):
        self.begun = False
        self.blocks = recycled(objective, start, "blocks", SimplexBlocks) or SimplexBlocks(objective)
        self.blocks.aim(objective)
        self.blocks.forget()
        self.rng = np.random.default_rng(random_state)
        self.start = None if start is None else start.weights  # to be tried first
        self.settling, self.goal = False, np.inf  # whether the gap was measured, and what it should fall to
