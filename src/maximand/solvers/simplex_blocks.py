"""The dual of choices among labels, where every block has a closed form."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from secrets import token_hex
from typing import Any, ClassVar, cast

import numpy as np
from scipy.linalg.blas import daxpy

from maximand.features import PerLabel
from maximand.objective import Objective
from maximand.oracles import Oracle, Over, Soft
from maximand.shards import Shard
from maximand.solvers.base import Result
from maximand.solvers.earlier import origin, recycled
from maximand.solvers.means_of_shards import Means
from maximand.spaces import Choice, Choices
from maximand.support import EPSILON, Array, Guarantee, Ints

RECENT = 0.15  # the share of the last sweep in the average of the weights
NEGLIGIBLE = 0.05  # sweeps leave out rows whose part in the gap is below this share of the average
FIRST_SWEEPS, MOST_SWEEPS = 4, 30  # between two measurements of the gap
NAME = "means"


def largest_of_all(penalty: Oracle) -> bool:
    """Whether the penalty is a maximum over all outputs."""
    return isinstance(penalty, Soft) and penalty.over is Over.ALL and penalty.polyhedral


class SimplexBlocks:
    """w = (b - sum_i share_i A_i' mu_i) / regularization over the means mu_i of all shards.

    `average` is a moving average of the weights after each sweep: single steps make the weights rattle around the
    minimum where many rows share few features, and the objective is then several times closer to it at their average.
    Elsewhere the average lags behind, and is dropped. Both are in expanded form. `rounding` is how far the updates may
    have led the weights away from what the means make of them, in terms of the dual value.
    """

    saved = ("means", "violation", "expanded", "average", "n_averaged", "guarantee", "rounding", "most")

    kind: ClassVar[type] = Means  # what lives with the shards
    averages: ClassVar[bool] = True

    @staticmethod
    def fit(objective: Objective) -> bool:
        """Whether the objective has this form: independent choices, a maximum as penalty."""
        features = objective.features
        return (
            largest_of_all(objective.loss.penalty)
            and isinstance(features, PerLabel)
            and all(
                isinstance(batch.space, Choice | Choices) and features.n_labels % batch.space.n_labels == 0
                for batch in objective.batches
            )
        )

    def __init__(self, objective: Objective):
        self.origin, self.token = origin(objective), token_hex(8)
        self.objective = objective
        list(objective.ask(Shard.keep, NAME, self.kind, self.token, cast(Soft, objective.loss.penalty).cost))
        self._find_units()
        self.guarantee = Guarantee.EXACT
        linear = objective.loss.reward is not None and objective.loss.reward.linear(objective.full)
        self.target(objective)
        if linear and self.reward.slope.any():  # the means are the annotation, and so is the reward
            self._begin_at(np.zeros(objective.features.n_expanded))
        else:
            self.renew()
        self._average_from_here()

    def _find_units(self) -> None:
        """Count what sweeps visit."""
        self.edges = np.cumsum([0, *self._ask("n_units")])
        self.violation = np.zeros(self.edges[-1])

    def _average_from_here(self) -> None:
        self.average: Array = self.expanded.copy() if self._rattles else np.empty(0)
        self.n_averaged = 0

    @property
    def _rattles(self) -> bool:
        """Whether single steps make the weights rattle around the minimum: many rows share few features."""
        features = self.objective.features
        assert isinstance(features, PerLabel)
        return self.averages and self.violation.size > features.n_features

    @classmethod
    def retargeted(cls, objective: Objective, start: Result | None) -> SimplexBlocks:
        """Return the means of an earlier run, retargeted to this objective, or new ones."""
        blocks = recycled(objective, start, "blocks", cls)
        if blocks is None or not all(blocks._ask("belongs_to", blocks.token)):
            return cls(objective)
        blocks.target(objective)
        blocks.renew()
        blocks._average_from_here()
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

    def target(self, objective: Objective) -> None:
        """Take another reward or regularisation."""
        self.objective, self.regularization = objective, objective.regularization
        self.reward = objective.reward(np.zeros(0))

    def renew(self) -> None:
        """Make the weights of the means again, which wipes out the rounding of the updates."""
        total = reduce(np.add, self._ask("total"))  # ours alone, so it may be overwritten
        np.subtract(self.reward.slope, total, out=total)
        total /= self.regularization
        self._begin_at(self.own(total))

    def _begin_at(self, expanded: Array) -> None:
        """Take weights that the means make; note how large the square of any later ones may be: the dual increases."""
        self.expanded, self.rounding = expanded, 0.0
        self.most = 2.0 * (abs(self._largest_cost) + abs(self.reward.offset) + abs(self.dual))

    @property
    def _largest_cost(self) -> float:
        return float(sum(self._ask("largest_cost")))

    @property
    def value_at_zero(self) -> float:
        """The objective at zero weights, where all outputs tie and the most expensive one counts."""
        return self._largest_cost - self.reward.offset

    @property
    def weights(self) -> Array:
        """A copy of the weights."""
        return self.reduced(self.expanded)

    def own(self, weights: Array) -> Array:
        """Return weights in the form that sweeps work on."""
        return self.objective.features.expand(weights)

    def reduced(self, expanded: Array) -> Array:
        """Return a copy of such weights in the order of the feature map."""
        reduced = self.objective.features.reduce(expanded)
        return reduced.copy() if reduced is expanded else reduced

    @property
    def dual(self) -> float:
        """The dual value: a lower bound on the minimum."""
        linear = float(sum(self._ask("expected_cost")))
        square = 0.5 * self.regularization * float(self.expanded @ self.expanded)
        return linear - square - self.reward.offset - EPSILON * (abs(linear) + square) - self.rounding

    def value(self, weights: Array) -> float:
        """Return the objective at some weights."""
        objective = self.objective
        slacks, annotated = objective.slacks(weights)
        penalty = float(objective.share @ (slacks + annotated))
        return 0.5 * self.regularization * float(weights @ weights) + penalty - self.reward(weights)

    def settle(self, goal: float, rng: np.random.Generator) -> float:
        """Sweep until the gap, as sweeps see it on their way, falls to the goal, a few times at first; return it.

        Shrinking: most sweeps leave out rows whose part in that gap was small.
        """
        everyone = np.arange(self.violation.size)
        active, remaining = everyone, np.inf
        for sweep in range(min(max(self.n_averaged, FIRST_SWEEPS), MOST_SWEEPS)):
            self.sweep(rng.permutation(active))
            remaining = float(self.violation.sum())
            if remaining <= goal:
                break
            threshold = NEGLIGIBLE * remaining / everyone.size
            active = everyone if sweep % 10 == 9 else np.flatnonzero(self.violation > threshold)
        return remaining

    def sweep(self, units: Ints) -> None:
        """Visit what sweeps visit once, in the given order."""
        self._visit(units)
        self.n_averaged += 1
        if self.average.size:
            recent = max(RECENT, 2.0 / (self.n_averaged + 1))
            self.average *= 1.0 - recent
            self.average = daxpy(self.expanded, self.average, a=recent)

    def _visit(self, rows: Ints) -> None:
        """Visit rows, shard after shard."""
        for s, shard in enumerate(self.objective.placed):
            first, stop = self.edges[s], self.edges[s + 1]
            own = rows if len(self.objective.placed) == 1 else rows[(rows >= first) & (rows < stop)] - first
            if own.size:
                self.expanded, violation = next(
                    self.objective.engine.map(
                        Shard.ask, [shard], NAME, "sweep", self.expanded, own, self.regularization
                    )
                )
                self.violation[first + own] = violation
        self.rounding += EPSILON * self.most * rows.size
        self.objective.tally.ascents += rows.size * self.objective.n_examples / self.violation.size


class ExactAscent:
    """Where a dual ascent by exact blocks stands."""

    saved = ("begun", "blocks", "rng", "start", "goal")

    def __init__(self, kind: type[SimplexBlocks], objective: Objective, start: Result | None, random_state: int):
        self.begun = False
        self.blocks = kind.retargeted(objective, start)
        self.rng = np.random.default_rng(random_state)
        self.start = None if start is None else start.weights  # to be tried first
        self.goal = np.inf  # what the gap, as sweeps see it, is to fall to before it is measured
