"""The dual of a choice among labels, where every block has a closed form."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from secrets import token_hex
from typing import Any, cast

import numpy as np

from maximand.features import PerLabel
from maximand.objective import Objective
from maximand.oracles import Over, Soft
from maximand.shards import Shard
from maximand.solvers.base import Result, origin, recycled
from maximand.solvers.means_of_shards import Means
from maximand.spaces import Choice
from maximand.support import EPSILON, Array, Guarantee, Ints

RECENT = 0.15  # the share of the last sweep in the average of the weights
NAME = "means"


class SimplexBlocks:
    """w = (b - sum_i share_i A_i' mu_i) / regularization over the means mu_i of all shards.

    `average` is a moving average of the weights after each sweep: single steps make the weights rattle around the
    minimum, and the objective is several times closer to it at their average.
    """

    saved = ("means", "violation", "weights", "average", "n_averaged", "guarantee")

    @staticmethod
    def fit(objective: Objective) -> bool:
        """Whether the objective has this form: one label each, a weight for every pair, a maximum as penalty."""
        penalty, features = objective.loss.penalty, objective.features
        return (
            all(isinstance(batch.space, Choice) for batch in objective.batches)
            and isinstance(features, PerLabel)
            and features.every_pair
            and isinstance(penalty, Soft)
            and penalty.over is Over.ALL
            and penalty.polyhedral
        )

    def __init__(self, objective: Objective):
        self.origin, self.token = origin(objective), token_hex(8)
        self.objective = objective
        list(objective.ask(Shard.keep, NAME, Means, self.token, cast(Soft, objective.loss.penalty).cost))
        self.violation = np.zeros(objective.n_examples)
        self.guarantee = Guarantee.EXACT
        self.average: Array = np.zeros(objective.n_weights)  # what the means make of weights may be all rounding
        self.n_averaged = 0

    @classmethod
    def retargeted(cls, objective: Objective, start: Result | None) -> SimplexBlocks:
        """Return the means of an earlier run, retargeted to this objective, or new ones."""
        blocks = recycled(objective, start, "blocks", cls)
        if blocks is None or not all(blocks._ask("belongs_to", blocks.token)):
            blocks = cls(objective)
            blocks.retarget(objective)
        else:
            blocks.retarget(objective)
            blocks.average, blocks.n_averaged = blocks.weights.copy(), 0
        return blocks

    def _ask(self, method: str, *arguments: Any) -> Iterator[Any]:
        return self.objective.ask(Shard.ask, NAME, method, *arguments)

    @property
    def means(self) -> list[Any]:
        """What the shards hold, to be saved."""
        return list(self._ask("snapshot"))

    @means.setter
    def means(self, saved: list[Any]) -> None:
        for shard, mean in zip(self.objective.placed, saved, strict=True):
            list(self.objective.engine.map(Shard.ask, [shard], NAME, "restore", mean))

    def retarget(self, objective: Objective) -> None:
        """Take another reward or regularisation; also wipes out the rounding of the updates."""
        self.objective, self.regularization = objective, objective.regularization
        self.reward = objective.reward(np.zeros(0))
        self.weights: Array = (self.reward.slope - reduce(np.add, self._ask("total"))) / self.regularization

    @property
    def dual(self) -> float:
        """The dual value: a lower bound on the minimum."""
        linear = float(sum(self._ask("expected_cost")))
        square = 0.5 * self.regularization * float(self.weights @ self.weights)
        return linear - square - self.reward.offset - EPSILON * (abs(linear) + square)

    def sweep(self, examples: Ints) -> None:
        """Visit the examples once, in the given order, shard after shard."""
        objective = self.objective
        for s, shard, own in objective.of_shards(examples):
            self.weights, violation = next(
                objective.engine.map(Shard.ask, [shard], NAME, "sweep", self.weights, own, self.regularization)
            )
            self.violation[objective.edges[s] + own] = violation
        self.n_averaged += 1
        self.average += max(RECENT, 2.0 / (self.n_averaged + 1)) * (self.weights - self.average)


class ExactAscent:
    """Where a dual ascent by exact blocks stands."""

    saved = ("begun", "blocks", "rng", "start", "settling", "goal")

    def __init__(self, objective: Objective, start: Result | None, random_state: int):
        self.begun = False
        self.blocks = SimplexBlocks.retargeted(objective, start)
        self.rng = np.random.default_rng(random_state)
        self.start = None if start is None else start.weights  # to be tried first
        self.settling, self.goal = False, np.inf  # whether the gap was measured, and what it should fall to
