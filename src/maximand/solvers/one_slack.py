"""A bundle method on the mean of all examples: one slack variable."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maximand.numerics.simplex_qp import maximize_on_simplex
from maximand.objective import Objective
from maximand.solvers.base import Iterate, Result, Solver, Stuck
from maximand.solvers.earlier import origin, recycled, start_weights
from maximand.support import EPSILON, Array, Guarantee, Plane

PRECISION = 1e-13  # a plane that rises by less above the others tells nothing new


def rounding(plane: Plane, weights: Array) -> float:
    """Return how much too high rounding may have put the offset of a plane that touches at some weights."""
    return EPSILON * (float(np.linalg.norm(plane.slope) * np.linalg.norm(weights)) + abs(plane.offset))


class Bundle:
    """Planes that bound the penalty from below, their Gram matrix, and how long each has been idle.

    The slopes are kept less `center`, the slope of the reward: where the two nearly cancel, no digits are lost.
    """

    saved = ("center", "slopes", "offsets", "gram", "idle", "guarantee", "count")

    def __init__(self, objective: Objective) -> None:
        self.origin = origin(objective)
        self.center = np.zeros(objective.n_weights)
        self.slopes = np.empty((0, objective.n_weights))
        self.offsets = np.empty(0)
        self.gram = np.empty((0, 0))
        self.idle = np.empty(0, dtype=int)
        self.guarantee = Guarantee.EXACT
        self.count = 0
        self.nonnegative = objective.features.nonnegative

    def retarget(self, reward: Plane) -> None:
        """Take another reward."""
        m, turn = self.count, self.center - reward.slope
        if turn.any():
            products = self.slopes[:m] @ turn
            self.gram[:m, :m] += products[:, None] + products + float(turn @ turn)
            self.slopes[:m] += turn
            self.center = reward.slope.copy()

    def add(self, plane: Plane, weights: Array) -> None:
        """Add a plane that touches at some weights, lowered by what rounding may have raised it."""
        m = self.count
        if m == len(self.slopes):
            room = max(16, 2 * m)
            self.slopes = np.concatenate([self.slopes, np.empty((room - m, self.slopes.shape[1]))])
            gram = np.empty((room, room))
            gram[:m, :m] = self.gram[:m, :m]
            self.gram = gram
            self.offsets = np.resize(self.offsets, room)
            self.idle = np.resize(self.idle, room)
        np.subtract(plane.slope, self.center, out=self.slopes[m])
        self.offsets[m], self.idle[m] = plane.offset - rounding(plane, weights), 0
        self.gram[m, : m + 1] = self.gram[: m + 1, m] = self.slopes[: m + 1] @ self.slopes[m]
        self.guarantee = self.guarantee & plane.guarantee
        self.count = m + 1

    def height(self, weights: Array) -> float:
        """Return how high the highest plane is above the linear part of the reward."""
        return float((self.slopes[: self.count] @ weights + self.offsets[: self.count]).max())

    def minimize(self, regularization: float) -> tuple[Array, float]:
        """Minimise regularization / 2 |w|^2 + max_j (slopes_j @ w + offsets_j); return w and the minimum.

        Dual: w = (clipped - sum_j alpha_j slopes_j) / regularization, where `clipped` are the multipliers of weights
        that may not be negative. Any alpha on the simplex and any clipped >= 0 give a lower bound, so what is returned
        bounds the objective from below whatever the accuracy of the program; what rounding may add is taken off.
        """
        m, signed = self.count, self.nonnegative
        slopes, offsets, linear = self.slopes[:m], self.offsets[:m], self.offsets[:m]
        gram, n_clipped = self.gram[:m, :m], signed.stop - signed.start
        if n_clipped:
            gram = np.block([[gram, -slopes[:, signed]], [-slopes[:, signed].T, np.eye(n_clipped)]])
            linear = np.concatenate([linear, np.zeros(n_clipped)])
        alpha = maximize_on_simplex(gram / regularization, linear, n_clipped)[:m]
        self.idle[:m] = np.where(alpha > 1e-10, 0, self.idle[:m] + 1)
        weights = alpha @ slopes / -regularization
        weights[signed] = np.maximum(weights[signed], 0.0)  # what the best multipliers for this alpha do
        size = float(np.linalg.norm(weights))
        lengths = np.sqrt(np.maximum(self.gram[:m, :m].diagonal(), 0.0))
        lost = EPSILON * float(alpha @ (np.abs(offsets) + size * lengths))
        return weights, float(alpha @ offsets) - 0.5 * regularization * size * size - lost

    def drop_idle(self, patience: int) -> None:
        """Remove the planes that took no part in the last `patience` solutions."""
        keep = np.flatnonzero(self.idle[: self.count] <= patience)
        if keep.size < self.count:
            m = keep.size
            self.slopes[:m], self.offsets[:m], self.idle[:m] = (
                self.slopes[keep],
                self.offsets[keep],
                self.idle[keep],
            )
            self.gram[:m, :m] = self.gram[np.ix_(keep, keep)]
            self.count = m


class Search:
    """The planes so far, the best weights and what the last program proposed."""

    saved = ("begun", "bundle", "best", "value", "proposal")

    def __init__(self, bundle: Bundle, best: Array):
        self.begun = False
        self.bundle, self.best, self.value = bundle, best, np.inf
        self.proposal = np.empty(0)


@dataclass(frozen=True, kw_only=True)
class OneSlack(Solver):
    """Cutting planes on the mean penalty (BMRM), with a line search in the manner of OCAS.

    The program over all planes proposes weights and a lower bound. From the best weights so far the search goes
    towards the proposal and stops where the planes, the new one included, say that the objective is least.
    `patience` is how many programs a plane may sit out before it is removed.
    """

    patience: int = 20

    requires: ClassVar[frozenset[str]] = frozenset({"convex"})
    instead: ClassVar[str] = "CCCP(inner=OneSlack())"

    def begin(self, objective: Objective, start: Result | None) -> Search:
        """Return a search with the planes of an earlier run, where they fit."""
        bundle = recycled(objective, start, "bundle", Bundle) or Bundle(objective)
        bundle.retarget(objective.reward(np.zeros(0)))
        return Search(bundle, start_weights(objective, start))

    def iterate(self, objective: Objective, state: Search) -> Generator[Iterate, None, str]:
        """Yield the best weights and the bound after each program."""
        reward, bundle = objective.reward(np.zeros(0)), state.bundle
        fresh = not state.begun
        if fresh:
            plane = objective.penalty(state.best)
            bundle.add(plane, state.best)
            state.value = objective.value_of(state.best, plane, reward)
        while True:
            if fresh:
                state.proposal, bound = bundle.minimize(objective.regularization)
                state.begun = True
                yield Iterate(state.best, state.value, bound - float(reward.offset), bundle.guarantee)
            fresh = True
            bundle.drop_idle(self.patience)
            anchor, proposal = state.best, state.proposal
            for step in (1.0, None):
                if step is None:
                    step = _model_minimum(bundle, objective.regularization, anchor, proposal - anchor)
                    if step > 0.999:
                        break
                trial = anchor + step * (proposal - anchor)
                plane = objective.penalty(trial)
                news = plane(trial) - float(bundle.center @ trial) - bundle.height(trial)
                bundle.add(plane, trial)
                trial_value = objective.value_of(trial, plane, reward)
                if trial_value < state.value:
                    state.best, state.value = trial, trial_value
                if step == 1.0 and news <= max(PRECISION * abs(plane(trial)), 4 * rounding(plane, trial)):
                    yield Iterate(state.best, state.value, None, bundle.guarantee)
                    return Stuck(
                        "the planes agree with the objective where they are least, as precisely as they are known"
                    )


def _model_minimum(bundle: Bundle, regularization: float, anchor: Array, move: Array) -> float:
    """Return the step in [0, 1] along `move` where the regulariser plus the largest plane is least, by bisection."""
    m = bundle.count
    heights = bundle.slopes[:m] @ anchor + bundle.offsets[:m]
    rates = bundle.slopes[:m] @ move
    linear = regularization * float(anchor @ move)
    quadratic = regularization * float(move @ move)
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        top = int(np.argmax(heights + middle * rates))
        if linear + middle * quadratic + rates[top] > 0:
            high = middle
        else:
            low = middle
    return high
