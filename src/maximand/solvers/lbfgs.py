"""Limited-memory BFGS for smooth objectives."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg.blas import daxpy

from maximand.objective import Objective
from maximand.solvers.base import Iterate, Result, Solver, start_weights
from maximand.support import Array

DECREASE, CURVATURE = 1e-4, 0.9


@dataclass(frozen=True, kw_only=True)
class LBFGS(Solver):
    """L-BFGS with a weak Wolfe line search.

    On a convex objective the regulariser makes |gradient|^2 / (2 regularization) a true bound on the distance to the
    minimum, so the gap is a certificate. It is loose when the regularisation is weak: `stall` ends the run as well,
    once ten iterations together gain less than that share of the value.
    """

    tolerance: float = 1e-4
    memory: int = 6
    stall: float = 1e-6

    requires: ClassVar[frozenset[str]] = frozenset({"smooth"})
    instead: ClassVar[str] = "OneSlack() (CCCP() where it is not convex), or loss crf"

    def iterate(self, objective: Objective, start: Result | None) -> Generator[Iterate, None, str]:
        """Yield one iterate for each line search."""
        weights = start_weights(objective, start)
        pairs: deque[tuple[Array, Array, float]] = deque(maxlen=self.memory)
        value, gradient = objective.value_and_gradient(weights)
        values = [value]
        stall = min(self.stall, self.tolerance)
        while True:
            steepness = float(gradient @ gradient)
            bound = None
            if objective.convex and objective.regularization > 0:
                bound = value - steepness / (2.0 * objective.regularization)
            yield Iterate(weights, value, bound)
            if steepness == 0.0:
                return "the gradient is zero"
            if len(values) > 10 and values[-11] - value <= stall * abs(value):
                return f"ten iterations gained less than {stall:g} of the value"
            direction = _two_loops(gradient, pairs)
            slope = float(direction @ gradient)
            if slope >= 0:
                pairs.clear()
                direction, slope = -gradient, -steepness
            step = 1.0 if pairs else min(1.0, 1.0 / np.sqrt(steepness))
            found = _line_search(objective, weights, value, direction, slope, step)
            if found is None:
                if not pairs:
                    return "no step decreases the objective at the accuracy of the arithmetic"
                pairs.clear()
                continue
            new_weights, new_value, new_gradient = found
            moved, turned = new_weights - weights, np.subtract(new_gradient, gradient, out=gradient)
            curvature = float(moved @ turned)
            if curvature > 1e-12 * float(turned @ turned):
                pairs.append((moved, turned, curvature))
            weights, value, gradient = new_weights, new_value, new_gradient
            values.append(value)


def _two_loops(gradient: Array, pairs: deque[tuple[Array, Array, float]]) -> Array:
    """Return minus the inverse Hessian estimate times the gradient."""
    direction = -gradient
    shares = []
    for moved, turned, curvature in reversed(pairs):
        share = float(moved @ direction) / curvature
        daxpy(turned, direction, a=-share)
        shares.append(share)
    if pairs:
        _, turned, curvature = pairs[-1]
        direction *= curvature / float(turned @ turned)
    for (moved, turned, curvature), share in zip(pairs, reversed(shares), strict=True):
        daxpy(moved, direction, a=share - float(turned @ direction) / curvature)
    return direction


def _line_search(
    objective: Objective, weights: Array, value: float, direction: Array, slope: float, step: float
) -> tuple[Array, float, Array] | None:
    """Bracket and bisect until the step decreases the value enough and the slope has flattened (weak Wolfe)."""
    low, high = 0.0, np.inf
    for _ in range(40):
        trial = daxpy(direction, weights.copy(), a=step)
        trial_value, trial_gradient = objective.value_and_gradient(trial)
        if trial_value > value + DECREASE * step * slope:
            high = step
        elif float(direction @ trial_gradient) < CURVATURE * slope:
            low = step
        else:
            return trial, trial_value, trial_gradient
        step = 2.0 * step if high == np.inf else 0.5 * (low + high)
    return None
