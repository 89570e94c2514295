"""Limited-memory BFGS for smooth objectives."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg.blas import daxpy

from maximand.numerics.quasi_newton import combine, products
from maximand.objective import PENALTY, Objective
from maximand.oracles import Soft
from maximand.shards import LARGE_MODEL, Shard
from maximand.solvers.base import Iterate, Result, Solver, Stuck
from maximand.solvers.earlier import start_weights
from maximand.support import EPSILON, Array

DECREASE, CURVATURE = 1e-4, 0.9
FLAT = 1e-12  # pairs with less curvature than this are of no use
ROOT = 6  # of the inverse curvatures: the units of the weights
FIRST = 0.1  # the share of the first step: features occur together, so the curvature is larger than that along each
WINDOW = 10  # iterations that must gain something together


class Pairs:
    """The last moves of the weights with the turns of the gradient they caused: what is known of the curvature.

    Those of large models are kept in single precision, which halves the memory and changes the direction only slightly;
    with them the products that the two loops of L-BFGS need, so that these run on a few numbers.
    """

    def __init__(self, memory: int, n_weights: int):
        kind = np.float32 if n_weights > LARGE_MODEL else np.float64
        self.moved, self.turned = np.zeros((memory, n_weights), dtype=kind), np.zeros((memory, n_weights), dtype=kind)
        self.of_moved_turned = np.zeros((memory, memory))  # moved[i] @ turned[j]
        self.of_turned = np.zeros((memory, memory))
        self.order: list[int] = []  # slots in use, oldest first
        self.newest: int | None = None  # the slot whose products are not known yet

    saved = ("moved", "turned", "of_moved_turned", "of_turned", "order", "newest")

    def add(self, moved: Array, turned: Array) -> None:
        """Keep a pair, in place of the oldest when there is no room."""
        free = [slot for slot in range(len(self.moved)) if slot not in self.order]
        self.newest = free[0] if free else self.order.pop(0)
        self.moved[self.newest], self.turned[self.newest] = moved, turned

    def clear(self) -> None:
        """Forget all pairs."""
        self.order, self.newest = [], None

    def direction(self, gradient: Array) -> Array:
        """Return minus the inverse Hessian estimate times the gradient."""
        if self.newest is None:
            return -gradient
        new, self.newest = self.newest, None
        found = products(self.moved, self.turned, new, gradient)
        self.of_moved_turned[:, new], self.of_moved_turned[new] = found[2], found[3]
        self.of_turned[:, new] = self.of_turned[new] = found[4]
        if found[2, new] > FLAT * found[4, new]:
            self.order.append(new)
        return self._two_loops(gradient, found[0], found[1])

    def _two_loops(self, gradient: Array, moved_slope: Array, turned_slope: Array) -> Array:
        curvature = np.diag(self.of_moved_turned)
        of_moved, of_turned = np.zeros(len(self.moved)), np.zeros(len(self.moved))
        for i in reversed(self.order):
            of_turned[i] = -(moved_slope[i] + self.of_moved_turned[i] @ of_turned) / curvature[i]
        last = self.order[-1] if self.order else None
        scale = 1.0 if last is None else curvature[last] / self.of_turned[last, last]
        of_turned *= scale
        for i in self.order:
            height = scale * turned_slope[i] + self.of_turned[i] @ of_turned + of_moved @ self.of_moved_turned[:, i]
            of_moved[i] = -of_turned[i] / scale - height / curvature[i]
        return combine(self.moved, self.turned, -of_moved, -of_turned, gradient, -scale)


class Descent:
    """Where a descent stands."""

    saved = ("begun", "weights", "value", "gradient", "values", "units", "pairs")

    def __init__(self, weights: Array, pairs: Pairs):
        self.begun = False
        self.weights, self.pairs = weights, pairs
        self.units = np.empty(0)  # of the weights
        self.value, self.gradient = np.inf, np.empty(0)
        self.values: list[float] = []  # the last ones, oldest first

    def move(self, weights: Array, value: float, gradient: Array) -> None:
        """Go to other weights."""
        self.weights, self.value, self.gradient = weights, value, gradient
        self.values = [*self.values[-WINDOW:], value]


@dataclass(frozen=True, kw_only=True)
class LBFGS(Solver):
    """L-BFGS with a weak Wolfe line search, on weights in units of their own.

    The unit of a weight is the sixth root of the inverse of the curvature along it: a third of the way, on a
    logarithmic scale, from gradients to Newton steps on single weights. All the way would be too far, as the curvature
    along frequent features falls while the fit gets sure of them, and features occur together.

    On a convex objective the regulariser makes |gradient|^2 / (2 regularization) a true bound on the distance to the
    minimum, so the gap is a certificate. It is loose when the regularisation is weak: `stall` ends the run as well,
    once ten iterations together gain less than that share of the value. Where the bound is further away than the
    arithmetic can tell, the run is stuck.

    `memory` is how many moves are remembered, of large models half as many.
    """

    tolerance: float = 1e-4
    memory: int = 16
    stall: float = 1e-6

    requires: ClassVar[frozenset[str]] = frozenset({"smooth"})
    instead: ClassVar[str] = "OneSlack() (CCCP() where it is not convex), or loss crf"
    keeps_signs: ClassVar[bool] = False

    def begin(self, objective: Objective, start: Result | None) -> Descent:
        """Return the start of a descent."""
        memory = self.memory if objective.n_weights <= LARGE_MODEL else max(1, self.memory // 2)
        return Descent(start_weights(objective, start), Pairs(memory, objective.n_weights))

    def iterate(self, objective: Objective, state: Descent) -> Generator[Iterate, None, str]:
        """Yield one iterate for each line search."""
        pairs, fresh = state.pairs, not state.begun
        if fresh:
            state.move(state.weights, *objective.value_and_gradient(state.weights))
            state.units = curvature(objective, state.weights) ** (-1.0 / ROOT)
        units = state.units
        stall = min(self.stall, self.tolerance)
        while True:
            value, gradient = state.value, state.gradient
            steepness = float(gradient @ gradient)
            bound = None
            if objective.convex and objective.regularization > 0:
                bound = value - steepness / (2.0 * objective.regularization)
            if fresh:
                state.begun = True
                yield Iterate(state.weights, value, bound)
            fresh = True
            if steepness == 0.0:
                return "the gradient is zero"
            if len(state.values) > WINDOW and state.values[0] - value <= stall * abs(value):
                reason = f"ten iterations gained less than {stall:g} of the value"
                hopeless = bound is not None and EPSILON * (value - bound) > abs(value)
                return Stuck(reason) if hopeless else reason
            direction = pairs.direction(units * gradient)
            direction *= units
            slope = float(direction @ gradient)
            if slope >= 0:
                pairs.clear()
                direction = -np.square(units) * gradient
                slope = float(direction @ gradient)
            step = 1.0 if pairs.order else -FIRST * slope / float(np.square(direction) @ units**-ROOT)
            found = _line_search(objective, state.weights, value, direction, slope, step)
            if found is None:
                if not pairs.order:
                    return Stuck("no step decreases the objective at the accuracy of the arithmetic")
                pairs.clear()
                continue
            weights, value, new_gradient = found
            np.subtract(weights, state.weights, out=direction)
            pairs.add(direction / units, (new_gradient - gradient) * units)  # unnamed, so that they do not stay
            state.move(weights, value, new_gradient)


def curvature(objective: Objective, weights: Array) -> Array:
    """Estimate the diagonal of the Hessian of the objective, but for its reward: never zero."""
    penalty, total = objective.loss.penalty, np.zeros(objective.n_weights)
    for sums in objective.ask(Shard.sums, penalty, objective.state_key(penalty, PENALTY), weights, None, None, True):
        total += sums.slope
        objective.tally.note(sums.answered)
    if isinstance(penalty, Soft):
        total /= max(penalty.heats)
    total += objective.regularization
    return np.maximum(total, np.finfo(float).tiny)


def _line_search(
    objective: Objective, weights: Array, value: float, direction: Array, slope: float, step: float
) -> tuple[Array, float, Array] | None:
    """Bracket and bisect until the step decreases the value enough and the slope has flattened (weak Wolfe).

    A step that is too long is shortened to where a parabola would be least, to a tenth at most.
    """
    low, high = 0.0, np.inf
    for _ in range(40):
        trial = daxpy(direction, weights.copy(), a=step)
        trial_value, trial_gradient = objective.value_and_gradient(trial)
        if not trial_value <= value + DECREASE * step * slope:
            high = step
            rise = trial_value - value - step * slope  # of the parabola above its tangent
            share = -0.5 * step * slope / rise if low == 0.0 and np.isfinite(rise) else 0.5
            step = low + min(max(share, 0.1), 0.5) * (high - low)
            continue
        if float(direction @ trial_gradient) < CURVATURE * slope:
            low = step
            step = 2.0 * step if high == np.inf else 0.5 * (low + high)
            continue
        return trial, trial_value, trial_gradient
    return None
