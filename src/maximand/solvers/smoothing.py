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
from maximand.passes import OutOfTime, limited, unlimited
from maximand.solvers.base import Iterate, Result, Solver, Stuck
from maximand.solvers.earlier import origin, start_weights
from maximand.solvers.lbfgs import LBFGS, Descent, Pairs
from maximand.spaces import OutputSpace
from maximand.support import EPSILON, Array, Geometry, Guarantee, Plane, Support, Waiting
from maximand.targets import Target

FIRST = 2.5  # of the tolerance, times the value at the start: the first temperature
LOWEST = 1e-3  # of that: where a run may begin that goes on from another
SHARE = 0.25  # of the tolerance: what a descent may leave
COLDEST = 1e-9  # in relation to the value at the start
ACCURACY = 1e-9  # of means: how far they may be from an average of outputs
WARMER = 1e-3  # by this share of the temperature soft maxima tell their entropy


@dataclass(frozen=True)
class Regularized:
    """max over u in the hull of score + cost * Delta less temperature * sum of u log u: soft for lack of sums."""

    cost: float
    temperature: float

    smooth = bounded = reads_cost = True
    polyhedral = False
    needs = Can.DIRECT_PROJECTIONS

    def linear(self, full: bool) -> bool:
        """Not in theta."""
        return False

    def least(self, space: OutputSpace, theta: Array, target: Target) -> Array:
        """The annotated output, which costs nothing."""
        return target.where_full(target.score(theta) - self.temperature * target.regularizer(Geometry.ENTROPIC))

    def __call__(self, space: OutputSpace, theta: Array, target: Target, state: Any = None) -> Support:
        """Return value and gradient: the projection of what the temperature divides."""
        theta, constant = target.cost.augmented(theta, space, target.annotation, self.cost)
        found = space.project(theta / self.temperature, Geometry.ENTROPIC)
        bound = None if found.bound is None else self.temperature * found.bound
        return replace(found, value=self.temperature * found.value, bound=bound, state=None).plus(constant)


@dataclass(frozen=True)
class Averaged:
    """Score plus cost at the mean of a soft maximum: a plane that the maximum itself is nowhere below.

    The mean is an average of psi(y)'s, and so is its plane one of theirs; what it may be off is taken from the value,
    which is -inf where it is no average yet.

    Where what is `hidden` has a temperature of its own, at which it stays, outputs y have planes of soft maxima over
    it, and their average is the soft maximum over y less its temperature times the entropy of y. That is the slope of
    the value along the temperature, in which it is convex: a warmer one tells a little too much, and nothing too
    little.
    """

    soft: Soft | Regularized
    hidden: float = 0.0

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
        if isinstance(self.soft, Soft) and self.hidden:
            warmer = replace(self.soft, temperature=((1.0 + WARMER) * self.soft.heats[0], self.hidden))
            size = space.layout.dot(np.abs(theta), found.held) + np.abs(found.value)
            rise = warmer(space, theta, target).value - found.value
            return found.with_value(found.value - rise / WARMER - ACCURACY * size)
        constant: Array | float = 0.0
        if self.soft.cost:
            theta, constant = target.cost.augmented(theta, space, target.annotation, self.soft.cost)
        mean = found.held if isinstance(found.held, Waiting) else np.abs(found.held)
        slip = ACCURACY * space.layout.dot(np.abs(theta), mean)
        value = space.layout.dot(theta, found.held) + constant - slip
        if isinstance(self.soft, Regularized) and found.converged is not None:
            return Support(np.where(found.converged, value, -np.inf), found.mean)
        return found.with_value(value)


def _softened(objective: Objective, temperature: float) -> Soft | Regularized:
    """Return the soft form of the penalty at a temperature."""
    penalty = cast(Soft, objective.loss.penalty)
    if penalty.heats[1]:
        return replace(penalty, temperature=(temperature, penalty.heats[1]))
    if Can.MARGINALS in objective.can:
        return replace(penalty, temperature=temperature)
    return Regularized(penalty.cost, temperature)


def _averaged(objective: Objective, temperature: float) -> Averaged:
    """Return planes of its means."""
    return Averaged(_softened(objective, temperature), cast(Soft, objective.loss.penalty).heats[1])


def with_penalty(objective: Objective, penalty: Oracle) -> Objective:
    """Return the objective with another penalty; the reward stays as it is frozen."""
    return replace(objective, loss=replace(objective.loss, penalty=penalty))


class Cooling:
    """Where the temperature stands, the descent at it, and the best average of planes of the penalty."""

    saved = ("begun", "temperature", "descent", "slope", "offset")

    def __init__(self, objective: Objective, descent: Descent):
        self.origin = origin(objective)
        self.begun, self.temperature, self.descent = False, np.inf, descent
        self.slope, self.offset = np.empty(0), -np.inf


@dataclass(frozen=True, kw_only=True)
class Smoothing(Solver):
    """Minimise a maximum by L-BFGS on soft maxima, at temperatures that fall until the gap is small enough.

    A soft maximum exceeds the maximum by at most its temperature times the entropy of its mean; spaces without sums
    take the entropy of the parts, which makes it a projection. That mean is a point of the marginal polytope, so it is
    dual feasible for the maximum itself: value and gap are those of the objective that was asked for, not of a smooth
    one. Far faster than planes where regularisation is weak and data are noisy. What is hidden may have a temperature
    above 0, which stays as it is.

    Each iteration takes `steps` of L-BFGS, or fewer where these settle; then the temperature falls by `rate`.
    """

    rate: float = 0.3
    steps: int = 25
    memory: int = 8

    requires: ClassVar[frozenset[str]] = frozenset({"convex", "nonsmooth"})
    instead: ClassVar[str] = "LBFGS() for smooth losses, CCCP() for those that are not convex"
    keeps_signs: ClassVar[bool] = False

    @staticmethod
    def fit(objective: Objective) -> bool:
        """Whether the penalty is a maximum over all outputs, of a space that has soft ones too."""
        penalty = objective.loss.penalty
        if not isinstance(penalty, Soft) or penalty.over is not Over.ALL or penalty.heats[0]:
            return False
        return bool(objective.can & (Can.MIXED if penalty.heats[1] else Can.MARGINALS | Can.DIRECT_PROJECTIONS))

    def check(self, objective: Objective) -> None:
        """Refuse a penalty that has no soft form."""
        super().check(objective)
        if not self.fit(objective):
            raise ValueError(
                f"Smoothing needs a maximum over all outputs, in a space with marginals or projections of its own, and "
                f"{objective.loss.name} has none here; use BlockFrankWolfe() or OneSlack()."
            )

    def begin(self, objective: Objective, start: Result | None) -> Cooling:
        """Return the state before the first temperature: after a run with the same penalty, not above its last."""
        cooling = Cooling(objective, self._descent_from(start_weights(objective, start)))
        earlier = start and start.state
        if isinstance(earlier, Cooling) and earlier.origin == cooling.origin:
            cooling.temperature, cooling.slope, cooling.offset = earlier.temperature, earlier.slope, earlier.offset
        return cooling

    def _descent_from(self, weights: Array) -> Descent:
        return Descent(weights, Pairs(self.memory, weights.size))

    def iterate(self, objective: Objective, state: Cooling) -> Generator[Iterate, None, str]:
        """Yield the weights after so many steps, or where the descent at a temperature has settled."""
        reward, deadline = objective.reward(np.zeros(0)), working_seconds() + self.max_seconds
        last = 0.0  # seconds that it took to evaluate the objective
        if not state.begun:
            weights, began = state.descent.weights, working_seconds()
            value = objective.value(weights)
            first = FIRST * max(self.tolerance, EPSILON) * max(abs(value), np.finfo(float).tiny)
            state.temperature = min(max(state.temperature, LOWEST * first), first)
            mean = with_penalty(objective, _averaged(objective, state.temperature)).penalty(weights)
            last = working_seconds() - began
            state.begun = True
            yield Iterate(weights, value, self._bound(objective, state, mean, reward))
        coldest = COLDEST * state.temperature
        while state.temperature > coldest:
            soft = _softened(objective, state.temperature)
            settled = interrupted = False
            try:
                settled = self._descend(with_penalty(objective, soft), state.descent, deadline - last)
            except KeyboardInterrupt:
                interrupted = True
            weights, began = state.descent.weights, working_seconds()
            with unlimited(objective):  # time was left for it
                value = objective.value(weights)
                mean = with_penalty(objective, _averaged(objective, state.temperature)).penalty(weights)
            last = working_seconds() - began
            bound = self._bound(objective, state, mean, reward)
            if settled:
                state.temperature *= self.rate
                state.descent = self._descent_from(weights)
            yield Iterate(weights, value, bound)
            if interrupted:
                raise KeyboardInterrupt
        return Stuck("the temperature is as low as the arithmetic allows")

    def _descend(self, smooth: Objective, descent: Descent, deadline: float) -> bool:
        """Take so many steps, or fewer where time is short, one at least; say whether they have settled."""
        iterates, taken = LBFGS(stall=0.0, memory=self.memory).iterate(smooth, descent), 0
        with limited(smooth, max(0.0, deadline - working_seconds())):
            try:
                while taken < self.steps:
                    reached = next(iterates, None)
                    if reached is None:
                        return True
                    gap = np.inf if reached.bound is None else reached.value - reached.bound
                    if gap <= SHARE * self.tolerance * abs(reached.value):
                        return True
                    taken += 1
            except OutOfTime:
                if not taken:
                    raise
        return False

    def _bound(self, objective: Objective, state: Cooling, mean: Plane, reward: Plane) -> float | None:
        """Return the minimum of the objective with a plane in place of the penalty: no more than its own.

        The plane is the best average of the mean's and those before, which begin with that of the annotation.
        Estimates of means, such as those of belief propagation in cycles, may be no averages of outputs: None.
        """
        if mean.guarantee is not Guarantee.EXACT:
            return None
        if not state.slope.size:
            if objective.full:
                state.slope, state.offset = objective.annotated_score().slope, 0.0
            else:
                state.slope, state.offset = mean.slope, mean.offset
        strength = objective.regularization
        rest, move, rise = reward.slope - state.slope, mean.slope - state.slope, mean.offset - state.offset
        square = float(move @ move)
        step = 0.0 if square == 0.0 else min(max((strength * rise + float(rest @ move)) / square, 0.0), 1.0)
        state.slope, state.offset = state.slope + step * move, state.offset + step * rise
        rest = reward.slope - state.slope
        square = float(rest @ rest) / (2.0 * strength)
        return state.offset - reward.offset - square - EPSILON * (abs(state.offset) + square)
