"""Soft maxima at falling temperatures instead of maxima."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np

from maximand.capabilities import Can
from maximand.compiling import working_seconds
from maximand.objective import Objective
from maximand.oracles import Oracle, Over, Soft
from maximand.passes import limited, unlimited
from maximand.solvers.base import Iterate, Result, Solver, Stuck, start_weights
from maximand.solvers.lbfgs import LBFGS
from maximand.spaces import OutputSpace
from maximand.support import EPSILON, Array, Plane, Support
from maximand.targets import Target

SHARE = 0.25  # of the tolerance: what a temperature may leave, and what the descent at it
COLDEST = 1e-9  # in relation to the value at the start


@dataclass(frozen=True)
class Averaged:
    """Score plus cost at the mean of a soft maximum: a plane that the maximum itself is nowhere below.

    The mean is an average of psi(y)'s, and so is its plane one of theirs.
    """

    soft: Soft

    smooth = polyhedral = False
    bounded = True

    @property
    def needs(self) -> Can:
        """What the soft maximum needs."""
        return self.soft.needs

    @property
    def reads_cost(self) -> bool:
        """Whether the soft maximum does."""
        return self.soft.reads_cost

    def linear(self, full: bool) -> bool:
        """Not in theta."""
        return False

    def least(self, space: OutputSpace, theta: Array, target: Target) -> Array:
        """Nothing is known of averages."""
        return np.full(space.n_examples, -np.inf)

    def __call__(self, space: OutputSpace, theta: Array, target: Target, state: Any = None) -> Support:
        """Return the mean, and what it scores and costs."""
        found = self.soft(space, theta, target, state)
        constant: Array | float = 0.0
        if self.soft.cost:
            theta, constant = target.cost.augmented(theta, space, target.annotation, self.soft.cost)
        return found.with_value(space.layout.dot(theta, found.held) + constant)


def with_penalty(objective: Objective, penalty: Oracle) -> Objective:
    """Return the objective with another penalty; the reward stays as it is frozen."""
    return replace(objective, loss=replace(objective.loss, penalty=penalty))


class Cooling:
    """Where the temperature stands, and the weights."""

    saved = ("begun", "weights", "temperature")

    def __init__(self, weights: Array):
        self.begun, self.weights, self.temperature = False, weights, 0.0


@dataclass(frozen=True, kw_only=True)
class Smoothing(Solver):
    """Minimise a maximum by L-BFGS on soft maxima, at temperatures that fall by `rate` until the gap is small enough.

    A soft maximum exceeds the maximum by at most its temperature times the entropy of its mean. That mean is a point of
    the marginal polytope, so it is dual feasible for the maximum itself: value and gap are those of the objective that
    was asked for, not of a smooth one. Far faster than planes where regularisation is weak and data are noisy.
    """

    rate: float = 0.3

    requires: ClassVar[frozenset[str]] = frozenset({"convex", "polyhedral"})
    instead: ClassVar[str] = "LBFGS() for smooth losses, CCCP() for those that are not convex"
    keeps_signs: ClassVar[bool] = False

    @staticmethod
    def fit(objective: Objective) -> bool:
        """Whether the penalty is a maximum over all outputs, of a space that has soft ones too."""
        penalty = objective.loss.penalty
        return isinstance(penalty, Soft) and penalty.over is Over.ALL and Can.MARGINALS in objective.can

    def check(self, objective: Objective) -> None:
        """Refuse a penalty that has no soft form."""
        super().check(objective)
        if not self.fit(objective):
            raise ValueError(
                f"Smoothing needs a maximum over all outputs, in a space with marginals, and {objective.loss.name} "
                "has none here; use BlockFrankWolfe() or OneSlack()."
            )

    def begin(self, objective: Objective, start: Result | None) -> Cooling:
        """Return the state before the first temperature."""
        return Cooling(start_weights(objective, start))

    def iterate(self, objective: Objective, state: Cooling) -> Generator[Iterate, None, str]:
        """Yield the weights at the end of each temperature."""
        reward, deadline = objective.reward(np.zeros(0)), working_seconds() + self.max_seconds
        last = 0.0  # seconds that it took to evaluate the objective
        if not state.begun:
            began = working_seconds()
            value = objective.value(state.weights)
            last = 2.0 * (working_seconds() - began)
            state.temperature = SHARE * max(self.tolerance, EPSILON) * max(abs(value), np.finfo(float).tiny)
            state.begun = True
            yield Iterate(state.weights.copy(), value)
        coldest = COLDEST * state.temperature
        descent = LBFGS(tolerance=SHARE * self.tolerance, stall=0.0)
        while state.temperature > coldest:
            soft = replace(cast(Soft, objective.loss.penalty), temperature=state.temperature)
            start = Result(state.weights, np.inf, None, False, False, "")
            left = max(0.0, deadline - last - working_seconds())
            with limited(objective, left):
                found = replace(descent, max_seconds=left).minimize(with_penalty(objective, soft), start=start)
            began = working_seconds()
            with unlimited(objective):  # time was left for it
                value = objective.value(found.weights)
                mean = with_penalty(objective, Averaged(soft)).penalty(found.weights)
            last = working_seconds() - began
            state.weights, state.temperature = found.weights, self.rate * state.temperature
            yield Iterate(found.weights.copy(), value, self._bound(objective, mean, reward))
            if found.interrupted:
                raise KeyboardInterrupt
        return Stuck("the temperature is as low as the arithmetic allows")

    def _bound(self, objective: Objective, mean: Plane, reward: Plane) -> float:
        """Return the minimum of the objective with the plane in place of the penalty: no more than its own."""
        rest = reward.slope - mean.slope
        square = float(rest @ rest) / (2.0 * objective.regularization)
        return mean.offset - reward.offset - square - EPSILON * (abs(mean.offset) + square)
