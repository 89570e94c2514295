"""The small records that flow between the layers."""

from __future__ import annotations

from dataclasses import dataclass, replace
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


@dataclass(frozen=True)
class Support:
    """Value and gradient of a convex function of theta, for a batch.

    value[i] belongs to example i; mean is the gradient: for a maximum over outputs, the psi of the best one; for a
    soft maximum, the average of psi under its distribution. Laid out like theta. `bound`, where an approximate oracle
    knows one, is never below the true maximum; `converged` says so of every example where an oracle iterates. `state`
    is what an iterative oracle may begin from when it is asked again at theta nearby (see maximand.states).
    """

    value: Array
    mean: Array
    guarantee: Guarantee = Guarantee.EXACT
    bound: Array | None = None
    converged: Bools | None = None
    state: Any = None

    @property
    def upper(self) -> Array | None:
        """A bound on the maximum, where there is one: the value itself may be."""
        return self.value if self.bound is None and self.guarantee.bounds_from_above else self.bound

    def plus(self, constant: Array | float) -> Support:
        """Return the function plus a constant for each example."""
        bound = None if self.bound is None else self.bound + constant
        return replace(self, value=self.value + constant, bound=bound)


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
