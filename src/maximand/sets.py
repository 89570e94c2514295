"""Convex sets to project onto: the hull of the outputs, or a larger set that is cheaper."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maximand.spaces import ActiveSet, AwaySteps, Choice, Choices, Matching, OutputSpace, Subset
from maximand.support import Array, Geometry, Support


class ConvexSet(ABC):
    """A convex set that holds psi(y) of all outputs. The smaller it is, the smaller the loss (blondel2019, prop. 1)."""

    bounded = True

    def check(self, space: OutputSpace, geometry: Geometry) -> None:
        """Refuse a space whose outputs are not all in the set, and a geometry that does not reach them."""
        if not self.contains(space):
            raise ValueError(
                f"{self} does not contain all outputs of a {type(space).__name__}; project onto Hull(), the smallest "
                "set that does, or onto Everything()."
            )
        if geometry is Geometry.ENTROPIC and not space.nonnegative:
            raise ValueError(
                f"Entropic projections reach nonnegative numbers only, and a {type(space).__name__} has negative parts "
                "here; use Euclidean()."
            )

    @abstractmethod
    def contains(self, space: OutputSpace) -> bool:
        """Whether psi of all outputs of the space is known to be in the set."""

    @abstractmethod
    def project(self, space: OutputSpace, theta: Array, geometry: Geometry, state: Any = None) -> Support:
        """Return max over u in the set of theta @ u - Psi(u), and the u that attains it."""

    @abstractmethod
    def argmax(self, space: OutputSpace, theta: Array) -> Support:
        """Return max over u in the set of theta @ u, and a vertex that attains it."""


@dataclass(frozen=True)
class Hull(ConvexSet):
    """The hull of the outputs; `by` says how to project where the space is to be asked for argmax alone."""

    by: ActiveSet | AwaySteps | None = field(default=None, repr=False)

    def contains(self, space: OutputSpace) -> bool:
        """Return True."""
        return True

    def project(self, space: OutputSpace, theta: Array, geometry: Geometry, state: Any = None) -> Support:
        """Ask the space."""
        return space.project(theta, geometry, state) if self.by is None else self.by(space, theta, geometry)

    def argmax(self, space: OutputSpace, theta: Array) -> Support:
        """Ask the space."""
        return space.argmax(theta)


@dataclass(frozen=True)
class Cube(ConvexSet):
    """The unit cube, for parts that occur once or not at all."""

    def contains(self, space: OutputSpace) -> bool:
        """Ask the space."""
        return space.binary

    def project(self, space: OutputSpace, theta: Array, geometry: Geometry, state: Any = None) -> Support:
        """Clip every part."""
        theta = space.layout.expand(theta)
        free = theta if geometry is Geometry.EUCLIDEAN else np.exp(np.minimum(theta, 1.0) - 1.0)
        return _separate(space, theta, np.clip(free, 0.0, 1.0), geometry)

    def argmax(self, space: OutputSpace, theta: Array) -> Support:
        """Take every part of positive score."""
        theta = space.layout.expand(theta)
        mean = (theta > 0).astype(float)
        return Support(space.layout.dot(np.where(theta > 0, theta, 0.0), mean), mean)


@dataclass(frozen=True)
class Everything(ConvexSet):
    """All vectors, or in entropic geometry all nonnegative ones: no projection. It generates the squared loss."""

    bounded = False

    def contains(self, space: OutputSpace) -> bool:
        """Return True."""
        return True

    def project(self, space: OutputSpace, theta: Array, geometry: Geometry, state: Any = None) -> Support:
        """Return theta itself, or exp(theta - 1)."""
        theta = space.layout.expand(theta)
        return _separate(space, theta, theta if geometry is Geometry.EUCLIDEAN else np.exp(theta - 1.0), geometry)

    def argmax(self, space: OutputSpace, theta: Array) -> Support:
        """Refuse."""
        raise ValueError("Everything() has no largest element; choose among Hull(), Cube() or RowStochastic().")


@dataclass(frozen=True)
class RowStochastic(ConvexSet):
    """Matrices whose rows are in the simplex: each item has one position, which it may share with others."""

    def contains(self, space: OutputSpace) -> bool:
        """Whether outputs are permutation matrices, or choices."""
        return isinstance(space, (Choice, Choices, Matching))

    def project(self, space: OutputSpace, theta: Array, geometry: Geometry, state: Any = None) -> Support:
        """Project every row."""
        return self._choices(space).project(theta, geometry)

    def argmax(self, space: OutputSpace, theta: Array) -> Support:
        """Take the best of every row."""
        return self._choices(space).argmax(theta)

    def _choices(self, space: OutputSpace) -> Choices:
        assert isinstance(space, (Choice, Choices, Matching))
        return Choices(space.n_examples, space.n_slots, space.n_labels)


@dataclass(frozen=True)
class Sized(ConvexSet):
    """The unit cube cut by bounds on the sum of all parts: at least `least`, at most `most` (None: no bound)."""

    least: int = 0
    most: int | None = None

    def contains(self, space: OutputSpace) -> bool:
        """Compare with the sizes of the outputs, where these are known."""
        match space:
            case Subset():
                low, high = space.min_size, space.most
            case Matching() | Choices():
                low = high = space.n_slots
            case Choice():
                low = high = 1
            case _:
                return False
        return self.least <= low and (self.most is None or self.most >= high)

    def project(self, space: OutputSpace, theta: Array, geometry: Geometry, state: Any = None) -> Support:
        """Project as for sets of bounded size."""
        return self._sets(space).project(theta, geometry)

    def argmax(self, space: OutputSpace, theta: Array) -> Support:
        """Take the best parts."""
        return self._sets(space).argmax(theta)

    def _sets(self, space: OutputSpace) -> Subset:
        k = space.n_parts // max(space.n_examples, 1)
        return Subset(space.n_examples, k, max(self.least, 0), k if self.most is None else min(self.most, k))


def check_set(onto: object, projection: str) -> None:
    """Refuse to project onto something that is no set, such as a way to project."""
    if isinstance(onto, (ActiveSet, AwaySteps)):
        way = type(onto).__name__
        raise ValueError(f"{way}() is a way to project and no set; write {projection}(Hull({way}())).")
    if not isinstance(onto, ConvexSet):
        raise ValueError(f"{projection} projects onto {onto!r}, which is no set; give one such as Hull() or Cube().")


def _separate(space: OutputSpace, theta: Array, mean: Array, geometry: Geometry) -> Support:
    """Return a projection that treats every part by itself."""
    ones = np.ones(space.n_parts)
    return Support(space.layout.dot(ones, np.where(mean != 0, theta, 0.0) * mean - geometry.terms(mean)), mean)
