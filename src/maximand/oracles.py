"""Convex functions of theta, with their gradients: the two sides that every loss is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from maximand.costs import Cost
from maximand.sets import ConvexSet, Hull, check_set
from maximand.spaces import OutputSpace
from maximand.support import Array, Geometry, Guarantee, Support


class Over(Enum):
    """The set of outputs that a maximum ranges over."""

    ALL = "Y"
    ANNOTATED = "Y*"
    OTHER = "Y°"


@dataclass(frozen=True)
class Target:
    """What training knows of the outputs of a batch: the annotation, and what each part would cost.

    `starts` is where iterative oracles leave what they may begin from at the next weights.
    """

    space: OutputSpace
    annotation: Any
    cost: Cost
    starts: dict[Oracle, Array] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def full(self) -> bool:
        """Whether the annotation leaves a single output to every example."""
        return bool(self.annotation.full.all())

    @cached_property
    def psi(self) -> Array:
        """Psi of the known parts."""
        return self.space.encode(self.annotation)

    @cached_property
    def cost_linear(self) -> tuple[Array, Array]:
        """v, c with cost = v @ psi + c."""
        return self.cost.against(self.space, self.annotation)

    def regularizer(self, geometry: Geometry) -> Array:
        """Return Psi(psi(y)) for every example."""
        return self.space.layout.dot(np.ones(self.space.n_parts), geometry.terms(self.psi))


class Oracle(Protocol):
    """A convex function of theta and its gradient."""

    @property
    def smooth(self) -> bool:
        """Whether the function is differentiable."""

    def linear(self, full: bool) -> bool:
        """Whether the function is linear in theta, given whether the annotation is full."""

    def __call__(self, space: OutputSpace, theta: Array, target: Target) -> Support:
        """Return value and gradient."""


class Layer(Protocol):
    """Makes a mean of the parts of the scores, knowing nothing of the outputs."""

    def __call__(self, space: OutputSpace, theta: Array) -> Support:
        """Return the mean, and the value whose gradient it is."""


@dataclass(frozen=True)
class Soft:
    """The soft maximum at a temperature (0: the maximum) of score + cost * Delta over a set of outputs."""

    over: Over = Over.ALL
    cost: float = 0.0
    temperature: float = 0.0

    @property
    def smooth(self) -> bool:
        """Whether the function is differentiable."""
        return self.temperature > 0

    def linear(self, full: bool) -> bool:
        """A maximum over a single output is linear."""
        return self.over is Over.ANNOTATED and full

    def __call__(self, space: OutputSpace, theta: Array, target: Target | None = None) -> Support:
        """Return value and gradient; without a target, over all outputs and without costs."""
        if target is None:
            return space.marginals(theta, self.temperature) if self.temperature else space.argmax(theta)
        constant: Array | float = 0.0
        if self.cost:
            theta, constant = target.cost.augmented(theta, space, target.annotation, self.cost)
        support = self._maximum(space, theta, target)
        if support.guarantee is Guarantee.UNDER and self.over is Over.ALL:
            support = _at_least_annotated(space, theta, target, support)
        return Support(support.value + constant, support.mean, support.guarantee)

    def _maximum(self, space: OutputSpace, theta: Array, target: Target) -> Support:
        if self.over is Over.ANNOTATED and target.full:
            return Support(space.layout.dot(theta, target.psi), target.psi)
        match self.over, self.smooth:
            case Over.ALL, False:
                return space.argmax(theta)
            case Over.ALL, True:
                return space.marginals(theta, self.temperature)
            case Over.ANNOTATED, False:
                return space.argmax_given(theta, target.annotation)
            case Over.ANNOTATED, True:
                return space.marginals_given(theta, target.annotation, self.temperature)
            case Over.OTHER, False:
                return space.argmax_other(theta, target.annotation)
        return space.marginals_other(theta, target.annotation, self.temperature)


def _at_least_annotated(space: OutputSpace, theta: Array, target: Target, found: Support) -> Support:
    """Take the best output that agrees with the annotation where an approximate oracle found a worse one of all.

    Agreement costs nothing, so the reward could exceed the penalty otherwise.
    """
    known = Soft(Over.ANNOTATED)(space, theta, target)
    better = (known.value > found.value).astype(float)
    mean = space.layout.scale(found.mean, 1.0 - better) + space.layout.scale(known.mean, better)
    return Support(np.maximum(known.value, found.value), mean, found.guarantee & known.guarantee)


@dataclass(frozen=True)
class Projection:
    """Regularised maximum: max over u in a convex set of theta @ u - Psi(u); the mean is the projection of theta.

    Over Y* the set is the hull of the outputs that agree with the annotation; for a full one that is psi(y) alone.
    """

    onto: ConvexSet = field(default_factory=Hull)
    over: Over = field(default=Over.ALL, repr=False)

    geometry: ClassVar[Geometry]
    smooth = True

    def __post_init__(self) -> None:
        check_set(self.onto, type(self).__name__)

    @property
    def bounded(self) -> bool:
        """Whether the set is."""
        return self.onto.bounded

    def linear(self, full: bool) -> bool:
        """A maximum over a single output is linear."""
        return self.over is Over.ANNOTATED and full

    def __call__(self, space: OutputSpace, theta: Array, target: Target | None = None) -> Support:
        """Return value and gradient; without a target, over all outputs."""
        if self.over is Over.ANNOTATED and target is not None:
            if target.full:
                return Support(space.layout.dot(theta, target.psi) - target.regularizer(self.geometry), target.psi)
            return space.project_given(theta, target.annotation, self.geometry)
        self.onto.check(space, self.geometry)
        start = None if target is None else target.starts.get(self)
        found = self.onto.project(space, theta, self.geometry, start)
        if target is not None and found.start is not None:
            target.starts[self] = found.start
        return found


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

    def linear(self, full: bool) -> bool:
        """Return False."""
        return False

    def __call__(self, space: OutputSpace, theta: Array, target: Target) -> Support:
        """Return value and gradient, cost(y) * (psi(y) - psi(y*)) at the best y."""
        vector, constant = target.cost_linear
        best = space.argmax_product(vector, constant, theta, 1.0 - space.layout.dot(theta, target.psi))
        costs = np.where(best.value > 0, space.layout.dot(vector, best.mean) + constant, 0.0)
        return Support(best.value, space.layout.scale(best.mean - target.psi, costs), best.guarantee)


@dataclass(frozen=True)
class Larger:
    """The larger of two convex functions. max(0, P - R) = max(P, R) - R, so it makes positive parts."""

    first: Oracle
    second: Oracle

    @property
    def smooth(self) -> bool:
        """Return False: there is a kink where the two meet."""
        return False

    def linear(self, full: bool) -> bool:
        """Return False."""
        return False

    def __call__(self, space: OutputSpace, theta: Array, target: Target) -> Support:
        """Return value and gradient of the larger one; where they are equal, of the second."""
        first, second = self.first(space, theta, target), self.second(space, theta, target)
        wins = (first.value > second.value).astype(float)
        return Support(
            np.maximum(first.value, second.value),
            space.layout.scale(first.mean, wins) + space.layout.scale(second.mean, 1.0 - wins),
            first.guarantee & second.guarantee,
        )
