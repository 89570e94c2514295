"""Convex functions of theta, with their gradients: the two sides that every loss is made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from maximand.capabilities import NOTHING, Can
from maximand.sets import ConvexSet, Hull, check_set
from maximand.spaces import OutputSpace
from maximand.spaces.contradictions import over_contradictions
from maximand.states import Several, again, members
from maximand.support import Array, Geometry, Guarantee, Support, Temperature
from maximand.targets import Over, Target


class Oracle(Protocol):
    """A convex function of theta and its gradient."""

    @property
    def smooth(self) -> bool:
        """Whether the function is differentiable."""

    @property
    def polyhedral(self) -> bool:
        """Whether it is the largest of finitely many planes."""

    @property
    def bounded(self) -> bool:
        """Whether its gradients are, whatever theta."""

    @property
    def needs(self) -> Can:
        """What it asks of a space beyond what every space can."""

    @property
    def reads_cost(self) -> bool:
        """Whether it depends on what mistakes cost."""

    def linear(self, full: bool) -> bool:
        """Whether the function is linear on examples whose annotation is full, or on any."""

    def least(self, space: OutputSpace, theta: Array, target: Target) -> Array:
        """Return a lower bound on each value that the annotation alone makes, -inf where it makes none."""

    def __call__(self, space: OutputSpace, theta: Array, target: Target, state: Any = None) -> Support:
        """Return value and gradient, from the state of an earlier answer where there is one."""


@dataclass(frozen=True)
class Soft:
    """The soft maximum at a temperature (0: the maximum) of score + cost * Delta over a set of outputs.

    A pair of temperatures (visible, hidden) is a soft maximum over visible slots of one over those that the annotation
    leaves open or that always are hidden.
    """

    over: Over = Over.ALL
    cost: float = 0.0
    temperature: Temperature = 0.0

    @property
    def heats(self) -> tuple[float, float]:
        """The temperatures of outputs and of hidden slots."""
        return self.temperature if isinstance(self.temperature, tuple) else (self.temperature, self.temperature)

    @property
    def _heat(self) -> Temperature:
        """The temperature, a number where two are equal."""
        return self.heats if self.heats[0] != self.heats[1] else self.heats[0]

    @property
    def smooth(self) -> bool:
        """Whether no temperature is 0."""
        return min(self.heats) > 0

    @property
    def polyhedral(self) -> bool:
        """Whether all temperatures are 0."""
        return max(self.heats) == 0

    @property
    def bounded(self) -> bool:
        """Outputs are finitely many."""
        return True

    @property
    def needs(self) -> Can:
        """Marginals where a temperature is above 0."""
        soft = NOTHING if self.polyhedral else Can.MIXED if isinstance(self._heat, tuple) else Can.MARGINALS
        return soft | (Can.OTHER if self.over is Over.OTHER else NOTHING)

    @property
    def reads_cost(self) -> bool:
        """Whether the cost has a factor."""
        return self.cost != 0

    def linear(self, full: bool) -> bool:
        """A maximum over a single output is linear."""
        return self.over is Over.ANNOTATED and full

    def least(self, space: OutputSpace, theta: Array, target: Target) -> Array:
        """The score of the annotated output, which is one of all and costs nothing."""
        return target.where_full(target.score(theta) if self.over is Over.ALL else -np.inf)

    def __call__(self, space: OutputSpace, theta: Array, target: Target | None = None, state: Any = None) -> Support:
        """Return value and gradient; without a target, over all outputs and without costs."""
        if target is None:
            return self._over_all(space, theta, None, state)
        constant: Array | float = 0.0
        if self.cost:
            theta, constant = target.cost.augmented(theta, space, target.annotation, self.cost)
        own, known = members(state, 2) if self.over is Over.ALL else (state, None)
        support = self._maximum(space, theta, target, own)
        if self.over is Over.ALL:
            support = self._at_least_annotated(space, theta, target, support, known)
        return support.plus(constant)

    def _over_all(self, space: OutputSpace, theta: Array, hidden: Any, state: Any) -> Support:
        heat = self._heat
        if isinstance(heat, tuple):
            return space.mixed(theta, heat, hidden, **again(state))
        return space.marginals(theta, heat, **again(state)) if heat else space.argmax(theta, state)

    def _maximum(self, space: OutputSpace, theta: Array, target: Target, state: Any) -> Support:
        if self.over is Over.ANNOTATED and target.full:
            return Support(space.layout.dot(theta, target.known), target.known)
        heat, annotation = self._heat, target.annotation
        match self.over:
            case Over.ALL:
                return self._over_all(space, theta, target.open if isinstance(heat, tuple) else None, state)
            case Over.ANNOTATED if isinstance(heat, tuple):
                return space.mixed_given(theta, annotation, heat, **again(state))
            case Over.ANNOTATED if heat:
                return space.marginals_given(theta, annotation, heat, **again(state))
            case Over.ANNOTATED:
                return space.argmax_given(theta, annotation, state)
            case _ if isinstance(heat, tuple):
                return over_contradictions(space, theta, annotation, heat)
            case _ if heat:
                return space.marginals_other(theta, annotation, heat)
        return space.argmax_other(theta, annotation, **again(state))

    def _at_least_annotated(self, space: Any, theta: Array, target: Target, found: Support, state: Any) -> Support:
        """Take the best output that agrees with the annotation where an approximate oracle found a worse one of all.

        Agreement costs nothing, so the reward could exceed the penalty otherwise. The state is that of both.
        """
        maximised = self.heats[0] == 0.0 < self.heats[1]
        if found.guarantee is not Guarantee.UNDER and not (maximised and found.guarantee is Guarantee.ESTIMATE):
            return found if found.state is None else replace(found, state=Several((found.state, None)))
        known = Soft(Over.ANNOTATED, temperature=self.heats[1])(space, theta, target, state)
        better = (known.value > found.value).astype(float)
        mean = space.layout.scale(found.mean, 1.0 - better) + space.layout.scale(known.mean, better)
        bound = None if found.bound is None else np.maximum(found.bound, known.value)
        value, guarantee = np.maximum(known.value, found.value), found.guarantee & known.guarantee
        return Support(value, mean, guarantee, bound, found.converged, Several.of(found.state, known.state))


@dataclass(frozen=True)
class Projection:
    """Regularised maximum: max over u in a convex set of theta @ u - Psi(u); the mean is the projection of theta.

    Over Y* the set is the hull of the outputs that agree with the annotation; for a full one that is psi(y) alone.
    """

    onto: ConvexSet = field(default_factory=Hull)
    over: Over = field(default=Over.ALL, repr=False)

    geometry: ClassVar[Geometry]
    smooth = True
    polyhedral = False
    reads_cost = False

    def __post_init__(self) -> None:
        check_set(self.onto, type(self).__name__)

    @property
    def bounded(self) -> bool:
        """Whether the set is."""
        return self.onto.bounded

    @property
    def needs(self) -> Can:
        """Projections, where the set is the hull of the outputs."""
        return Can.PROJECTIONS if isinstance(self.onto, Hull) or self.over is Over.ANNOTATED else NOTHING

    def linear(self, full: bool) -> bool:
        """A maximum over a single output is linear."""
        return self.over is Over.ANNOTATED and full

    def least(self, space: OutputSpace, theta: Array, target: Target) -> Array:
        """The regularised score of the annotated output, which is in the set."""
        if self.over is not Over.ALL:
            return target.where_full(-np.inf)
        return target.where_full(target.score(theta) - target.regularizer(self.geometry))

    def __call__(self, space: OutputSpace, theta: Array, target: Target | None = None, state: Any = None) -> Support:
        """Return value and gradient; without a target, over all outputs."""
        if self.over is Over.ANNOTATED and target is not None:
            if target.full:
                return Support(space.layout.dot(theta, target.known) - target.regularizer(self.geometry), target.known)
            return space.project_given(theta, target.annotation, self.geometry)
        self.onto.check(space, self.geometry)
        return self.onto.project(space, theta, self.geometry, state)


@dataclass(frozen=True)
class Euclidean(Projection):
    """Project by least squares: Psi(u) = |u|^2 / 2. Means are sparse."""

    geometry = Geometry.EUCLIDEAN


@dataclass(frozen=True)
class Entropic(Projection):
    """Project exp(theta - 1) by Kullback-Leibler divergence: Psi(u) = sum of u log u."""

    geometry = Geometry.ENTROPIC


@dataclass(frozen=True)
class Rescaled:
    """Slack rescaling: max over Y of cost * (1 + score - score of the annotated output)."""

    smooth = False
    polyhedral = True
    bounded = True
    needs = NOTHING
    reads_cost = True

    def linear(self, full: bool) -> bool:
        """Return False."""
        return False

    def least(self, space: OutputSpace, theta: Array, target: Target) -> Array:
        """The annotated output costs nothing."""
        return target.where_full(0.0)

    def __call__(self, space: OutputSpace, theta: Array, target: Target, state: Any = None) -> Support:
        """Return value and gradient, cost(y) * (psi(y) - psi(y*)) at the best y."""
        vector, constant = target.cost_linear
        best = space.argmax_product(vector, constant, theta, 1.0 - space.layout.dot(theta, target.psi))
        costs = np.where(best.value > 0, space.layout.dot(vector, best.mean) + constant, 0.0)
        return Support(best.value, space.layout.scale(best.mean - target.psi, costs), best.guarantee)


@dataclass(frozen=True)
class Larger:
    """The larger of first + margin and second. max(0, P - R) = max(P, R) - R, so it makes positive parts."""

    first: Oracle
    second: Oracle
    margin: float = 0.0

    smooth = False  # there is a kink where the two meet

    @property
    def polyhedral(self) -> bool:
        """Whether both are."""
        return self.first.polyhedral and self.second.polyhedral

    @property
    def bounded(self) -> bool:
        """Whether both are."""
        return self.first.bounded and self.second.bounded

    @property
    def needs(self) -> Can:
        """What both need."""
        return self.first.needs | self.second.needs

    @property
    def reads_cost(self) -> bool:
        """Whether one of them does."""
        return self.first.reads_cost or self.second.reads_cost

    def linear(self, full: bool) -> bool:
        """Return False."""
        return False

    def least(self, space: OutputSpace, theta: Array, target: Target) -> Array:
        """The larger of two bounds."""
        return np.maximum(self.first.least(space, theta, target) + self.margin, self.second.least(space, theta, target))

    def __call__(self, space: OutputSpace, theta: Array, target: Target, state: Any = None) -> Support:
        """Return value and gradient of the larger one; where they are equal, of the second."""
        one, two = members(state, 2)
        first, second = self.first(space, theta, target, one).plus(self.margin), self.second(space, theta, target, two)
        wins = (first.value > second.value).astype(float)
        converged = [support.converged for support in (first, second) if support.converged is not None]
        mean = space.layout.scale(first.mean, wins) + space.layout.scale(second.mean, 1.0 - wins)
        return Support(
            np.maximum(first.value, second.value), mean, first.guarantee & second.guarantee,
            None if first.upper is None or second.upper is None else np.maximum(first.upper, second.upper),
            np.logical_and.reduce(converged) if converged else None, Several.of(first.state, second.state),
        )  # fmt: skip
