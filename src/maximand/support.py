"""The small records that flow between the layers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[Any]
Bools = NDArray[np.bool_]

Temperature = Any  # a number, or a pair (outputs, hidden)

EPSILON = 4 * float(np.finfo(float).eps)  # relative error of a sum of products


class Guarantee(Enum):
    """How the value an oracle reports relates to the true maximum."""

    EXACT = "exact"
    UNDER = "a lower bound"
    OVER = "an upper bound"
    ESTIMATE = "an estimate"

    def __and__(self, other: Guarantee) -> Guarantee:
        """Return what holds for a sum of two values with these guarantees."""
        if self is other or other is Guarantee.EXACT:
            return self
        return other if self is Guarantee.EXACT else Guarantee.ESTIMATE

    def __neg__(self) -> Guarantee:
        """Return what holds for minus a value with this guarantee."""
        return {Guarantee.UNDER: Guarantee.OVER, Guarantee.OVER: Guarantee.UNDER}.get(self, self)

    @property
    def bounds_from_above(self) -> bool:
        """Whether a value with this guarantee is never below the truth: what a certificate needs."""
        return self in (Guarantee.EXACT, Guarantee.OVER)


class Geometry(Enum):
    """What a projection keeps small: Psi(u) = |u|^2 / 2, or Psi(u) = sum of u log u on the nonnegative orthant.

    The projection of theta onto a convex set C is the u in C that maximises theta @ u - Psi(u).
    """

    EUCLIDEAN = "Euclidean"
    ENTROPIC = "entropic"

    def terms(self, mean: Array) -> Array:
        """Return the terms of Psi, one for each part."""
        if self is Geometry.EUCLIDEAN:
            return 0.5 * mean * mean
        return mean * np.log(np.where(mean > 0, mean, 1.0))


class Waiting(ABC):
    """A mean that is made when it is read, from what an oracle found: often nothing but a sum of it is wanted."""

    @abstractmethod
    def array(self) -> Array:
        """Return the mean."""

    @abstractmethod
    def view(self, name: str) -> Array:
        """Return the parts of a kind, as `Layout.view` does: those of some need not wait for the others."""

    @abstractmethod
    def total(self, weight: Array) -> Array:
        """Return its weighted sum, as `Layout.total` does."""

    @abstractmethod
    def dot(self, theta: Array) -> Array:
        """Return theta_i @ mean_i for every example i."""

    @abstractmethod
    def less(self, other: Array | Waiting, examples: Ints) -> tuple[Ints, Ints, Array]:
        """Return the nonzero entries of the mean less another, as `Layout.less` does."""


class _Mean:
    """The field of a `Support` that holds an array, or makes it of what is waiting when it is first read."""

    def __get__(self, support: Any, owner: Any = None) -> Array:
        if support is None:
            raise AttributeError("mean")  # so the field has no default
        held = vars(support)["mean"]
        if isinstance(held, Waiting):
            held = vars(support)["mean"] = held.array()
        return held

    def __set__(self, support: Any, mean: Array | Waiting) -> None:
        vars(support)["mean"] = mean


@dataclass(frozen=True)
class Support:
    """Value and gradient of a convex function of theta, for a batch.

    value[i] belongs to example i; mean is the gradient: for a maximum over outputs, the psi of the best one; for a
    soft maximum, the average of psi under its distribution. Laid out like theta. `bound`, where an approximate oracle
    knows one, is never below the true maximum; `converged` says so of every example where an oracle iterates. `state`
    is what an iterative oracle may begin from when it is asked again at theta nearby (see maximand.states).
    """

    value: Array
    mean: _Mean = _Mean()
    guarantee: Guarantee = Guarantee.EXACT
    bound: Array | None = None
    converged: Bools | None = None
    state: Any = None

    @property
    def upper(self) -> Array | None:
        """A bound on the maximum, where there is one: the value itself may be."""
        return self.value if self.bound is None and self.guarantee.bounds_from_above else self.bound

    @property
    def held(self) -> Array | Waiting:
        """The mean, which may still be waiting to be made."""
        held: Array | Waiting = vars(self)["mean"]
        return held

    def plus(self, constant: Array | float) -> Support:
        """Return the function plus a constant for each example."""
        bound = None if self.bound is None else self.bound + constant
        return self.with_value(self.value + constant, bound)

    def with_value(self, value: Array, bound: Array | None = None) -> Support:
        """Return the same gradient with another value."""
        return Support(value, self.held, self.guarantee, bound, self.converged, self.state)


@dataclass(frozen=True)
class Plane:
    """A linear function of the weights, slope @ w + offset: it touches a convex function and bounds it from below.

    `excess`, where oracles that find too little know it, is how far the function may be above the plane at the most
    where it was asked.
    """

    slope: Array
    offset: float
    guarantee: Guarantee = Guarantee.EXACT
    excess: float | None = None

    def __call__(self, weights: Array) -> float:
        """Return the height of the plane at the given weights."""
        return float(self.slope @ weights) + self.offset
