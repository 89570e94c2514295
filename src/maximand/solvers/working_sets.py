"""Dual ascent on the planes found so far for each example, wherever these live."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from secrets import token_hex
from typing import Any

import numpy as np

from maximand.numerics.lowering import by_feature, by_label
from maximand.objective import PENALTY, Objective
from maximand.shards import Shard
from maximand.solvers.base import Result
from maximand.solvers.earlier import origin, recycled
from maximand.solvers.planes_of_shards import Grown, Planes
from maximand.solvers.simplex_blocks import largest_of_all
from maximand.support import EPSILON, Array, Guarantee, Ints, Plane

SHRINK = 0.5  # sweeps leave out examples whose part in the gap is below this share of the average
NAME = "planes"


class WorkingSets:
    """w = (b - sum_i share_i sum_p alpha_p z_p) / regularization over the planes of all shards.

    Sweeps hand w on from shard to shard. Weights that may not be negative have multipliers `clipped`, part of b, which
    are just large enough. The weights are in the order of the stencils.
    """

    saved = ("planes", "ordered", "clipped", "count", "guarantee", "rounding", "violation")

    def __init__(self, objective: Objective, patience: int):
        self.origin, self.token = origin(objective), token_hex(8)
        self.objective, self.share = objective, objective.share
        annotated = largest_of_all(objective.loss.penalty)
        list(objective.ask(Shard.keep, NAME, Planes, self.token, patience, annotated))
        self.blocks = next(self._ask("blocks"))
        self.ordered: Array = np.zeros(objective.n_weights)
        self.count = 0  # of rounds that added planes
        self.guarantee, self.rounding = Guarantee.EXACT, 0.0
        self.violation = np.zeros(objective.n_examples)
        self.nonnegative = objective.features.nonnegative
        self.clipped = np.zeros(self.nonnegative.stop - self.nonnegative.start)

    @classmethod
    def retargeted(cls, objective: Objective, start: Result | None, patience: int) -> WorkingSets:
        """Return the working sets of an earlier run, retargeted to this objective, or empty ones."""
        reward, left_out = objective.reward(np.zeros(0)), objective.annotated_score()
        sets = recycled(objective, start, "sets", cls)
        if sets is None or not all(sets._ask("belongs_to", sets.token)):
            sets = cls(objective, patience)
        sets.objective = objective
        sets.retarget(objective.regularization, Plane(reward.slope - left_out.slope, reward.offset))
        return sets

    def _ask(self, method: str, *arguments: Any) -> Iterator[Any]:
        return self.objective.ask(Shard.ask, NAME, method, *arguments)

    @property
    def planes(self) -> list[dict[str, Any]]:
        """What the shards hold, to be saved."""
        return list(self._ask("snapshot"))

    @planes.setter
    def planes(self, saved: list[dict[str, Any]]) -> None:
        for shard, values in zip(self.objective.placed, saved, strict=True):
            list(self.objective.engine.map(Shard.ask, [shard], NAME, "restore", values))

    def retarget(self, regularization: float, reward: Plane) -> None:
        """Take another linear part or regularisation; the planes stay valid, as they bound the penalty alone.

        Where there are none yet, the weights stay zero: nothing balances the linear part.
        """
        self.regularization, self.reward = regularization, reward
        if self.count:
            self._renew()

    def _renew(self) -> None:
        """Make the weights of alpha again, which wipes out the rounding of the updates."""
        total = reduce(np.add, self._ask("total"))  # ours alone, so it may be overwritten
        self.ordered = np.subtract(by_label(self.blocks, self.reward.slope), total, out=total)
        self.ordered /= self.regularization
        self.ordered[self.nonnegative] += self.clipped / self.regularization
        self._clip()

    @property
    def weights(self) -> Array:
        """The weights in the order of the feature map."""
        return by_feature(self.blocks, self.ordered)

    def _clip(self) -> None:
        """Choose the multipliers that raise negative weights to zero: the dual increases."""
        if self.clipped.size:
            free = self.ordered[self.nonnegative] - self.clipped / self.regularization
            self.clipped = np.maximum(-self.regularization * free, 0.0)
            self.ordered[self.nonnegative] = np.maximum(free, 0.0)

    @property
    def dual(self) -> float:
        """The dual value: a lower bound on the minimum."""
        linear = float(sum(self._ask("offset")))
        square = 0.5 * self.regularization * float(self.ordered @ self.ordered)
        return linear - square - self.reward.offset - self.rounding - EPSILON * (abs(linear) + square)

    def value(self, weights: Array, penalties: Array) -> float:
        """Return the objective at some weights, given the penalty of every example there."""
        squared = float(weights @ weights)
        return 0.5 * self.regularization * squared + float(self.share @ penalties) - self.reward(weights)

    def grow(self, examples: Ints | None = None) -> Grown:
        """Ask the oracles of some examples (None: of all) and add the planes that rise above those known."""
        objective, oracle, weights = self.objective, self.objective.loss.penalty, self.weights
        key = objective.state_key(oracle, PENALTY)
        if examples is None:
            found = list(self._ask("grow", oracle, key, weights, None))
        else:
            found = [
                next(objective.engine.map(Shard.ask, [shard], NAME, "grow", oracle, key, weights, own))
                for _, shard, own in objective.of_shards(examples)
            ]
        grown = reduce(Grown.joined, found)
        objective.tally.note(grown.answered)
        self.guarantee = self.guarantee & grown.answered.guarantee
        self.rounding = max(self.rounding, grown.rounding)
        self.count += 1
        if grown.first or self.count == 1:
            self._renew()
        return grown

    def sweep(self, examples: Ints) -> None:
        """Visit the examples once, in the given order, shard after shard."""
        objective = self.objective
        for s, shard, own in objective.of_shards(examples):
            self.ordered, violation, work = next(
                objective.engine.map(Shard.ask, [shard], NAME, "sweep", self.ordered, own, self.regularization)
            )
            objective.tally.ascents += work
            self.violation[objective.edges[s] + own] = violation
        self._clip()

    def settle(self, goal: float, max_sweeps: int, rng: np.random.Generator) -> None:
        """Sweep until the gap over the known planes falls to the goal.

        Shrinking: a sweep leaves out examples whose part in that gap was small; every fifth visits all.
        """
        everyone = np.arange(self.share.size)
        active = everyone
        for count in range(max_sweeps):
            self.sweep(rng.permutation(active))
            remaining = float(self.violation[active].sum())
            whole = active.size == everyone.size
            if whole and remaining <= goal:
                break
            shrink = count % 5 != 4 and remaining > goal
            active = np.flatnonzero(self.violation > SHRINK * remaining / active.size) if shrink else everyone
        list(self._ask("refresh"))
        self._renew()


class Ascent:
    """Where a dual ascent on working sets stands."""

    saved = ("begun", "sets", "rng", "start", "settling", "gap", "gaps", "average", "epoch")

    def __init__(self, objective: Objective, start: Result | None, patience: int, random_state: int):
        self.begun = False
        self.sets = WorkingSets.retargeted(objective, start, patience)
        self.rng = np.random.default_rng(random_state)
        self.start = None if start is None else start.weights  # to be tried first
        self.settling, self.gap = False, np.inf  # whether the planes of this round are in, and their gap
        self.gaps = np.full(objective.n_examples, np.inf)  # of each example
        self.average: Array = np.empty(0)  # of the weights after each epoch
        self.epoch = 0
