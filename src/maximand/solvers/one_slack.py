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
from maximand.solvers.simplex_blocks import largest_of_all
from maximand.support import EPSILON, Array, Guarantee, Plane

PRECISION = 1e-13  # a plane that rises by less above the others tells nothing new
LEVELS = 0.5, 0.8  # of the gap: between them, above the bound, is what the planes are to promise
NEAR = 0.01  # of the gap: how precise the program is
STEPS = 20  # programs to find it with


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

    def minimize(self, regularization: float, near: float) -> tuple[Array, float]:
        """Minimise regularization / 2 |w|^2 + max_j (slopes_j @ w + offsets_j); return w and the minimum.

        `near` says how precisely. Any alpha on the simplex and any clipped >= 0 give a lower bound, so what is returned
        bounds the objective from below whatever the accuracy of the program; what rounding may add is taken off.
        """
        alpha, weights = self._nearest(regularization, None, near)
        size = float(np.linalg.norm(weights))
        lengths = np.sqrt(np.maximum(self.gram[: self.count, : self.count].diagonal(), 0.0))
        offsets = self.offsets[: self.count]
        lost = EPSILON * float(alpha @ (np.abs(offsets) + size * lengths))
        return weights, float(alpha @ offsets) - 0.5 * regularization * size * size - lost

    def near(self, regularization: float, pull: float, best: Array) -> Array:
        """Return where the same plus pull / 2 |w - best|^2 is least."""
        strength = regularization + pull
        return self._nearest(strength, pull / strength * best, np.inf)[1]

    def _nearest(self, strength: float, middle: Array | None, near: float) -> tuple[Array, Array]:
        """Return alpha and w where strength / 2 |w - middle|^2 + max_j (slopes_j @ w + offsets_j) is least.

        Dual: w = middle + (clipped - sum_j alpha_j slopes_j) / strength, where `clipped` are the multipliers of weights
        that may not be negative.
        """
        m, signed = self.count, self.nonnegative
        slopes, linear = self.slopes[:m], self.offsets[:m]
        gram, n_clipped = self.gram[:m, :m], signed.stop - signed.start
        if middle is not None:
            linear = linear + slopes @ middle
        if n_clipped:
            gram = np.block([[gram, -slopes[:, signed]], [-slopes[:, signed].T, np.eye(n_clipped)]])
            linear = np.concatenate([linear, np.zeros(n_clipped) if middle is None else -middle[signed]])
        alpha = maximize_on_simplex(gram / strength, linear, n_clipped, near)[:m]
        self.idle[:m] = np.where(alpha > 1e-10, 0, self.idle[:m] + (middle is None))
        weights = alpha @ slopes / -strength
        if middle is not None:
            weights += middle
        weights[signed] = np.maximum(weights[signed], 0.0)  # what the best multipliers for this alpha do
        return alpha, weights

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
    """The planes so far, the best weights, what the program proposed, and how hard the best weights pull.

    `close`: the planes know the objective near the best weights, so that the proposal itself is due.
    """

    saved = ("begun", "bundle", "best", "value", "proposal", "bound", "pull", "close")

    def __init__(self, bundle: Bundle, best: Array):
        self.begun = False
        self.bundle, self.best, self.value = bundle, best, np.inf
        self.proposal, self.bound, self.pull, self.close = np.empty(0), -np.inf, 0.0, False


@dataclass(frozen=True, kw_only=True)
class OneSlack(Solver):
    """Cutting planes on the mean penalty (BMRM), each found near the best weights so far: a level bundle method.

    The program over all planes gives a lower bound. The next plane touches where the weights are nearest to the best so
    far among those at which the planes promise to close about half of the gap: minima of few planes are far off, and
    what the objective is there tells little. `patience` is how many programs a plane may sit out before it is removed.
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
            if objective.full and largest_of_all(objective.loss.penalty) and not bundle.count:
                bundle.add(objective.annotated_score(), np.zeros(objective.n_weights))
            plane = objective.penalty(state.best)
            bundle.add(plane, state.best)
            state.value = objective.value_of(state.best, plane, reward)
        while True:
            if fresh:
                state.proposal, bound = bundle.minimize(
                    objective.regularization, NEAR * max(state.value - state.bound, 0.0)
                )
                state.bound = bound - float(reward.offset)
                state.begun = True
                yield Iterate(state.best, state.value, state.bound, bundle.guarantee)
            fresh = True
            bundle.drop_idle(self.patience)
            trial = state.proposal if state.close else self._trial(objective, state, float(reward.offset))
            plane = objective.penalty(trial)
            news = plane(trial) - float(bundle.center @ trial) - bundle.height(trial)
            bundle.add(plane, trial)
            trial_value = objective.value_of(trial, plane, reward)
            known = news <= max(PRECISION * abs(plane(trial)), 4 * rounding(plane, trial))
            state.close = known and trial_value >= state.value
            if trial_value < state.value:
                state.best, state.value = trial, trial_value
            if known and trial is state.proposal:
                yield Iterate(state.best, state.value, None, bundle.guarantee)
                return Stuck("the planes agree with the objective where they are least, as precisely as they are known")

    @staticmethod
    def _trial(objective: Objective, state: Search, constant: float) -> Array:
        """Return weights at which the planes promise about the level, near the best; the proposal where none are."""
        bundle, strength = state.bundle, objective.regularization
        gap, pull, least, most = state.value - state.bound, state.pull or strength, 0.0, np.inf
        for _ in range(STEPS):
            trial = bundle.near(strength, pull, state.best)
            promise = 0.5 * strength * float(trial @ trial) + bundle.height(trial) - constant
            if promise < state.bound + LEVELS[0] * gap:
                least = pull
            elif promise > state.bound + LEVELS[1] * gap:
                most = pull
            else:
                state.pull = pull
                return trial
            if most == np.inf:
                pull *= 4.0
            elif least == 0.0:
                pull /= 4.0
            else:
                pull = float(np.sqrt(least * most))
        return state.proposal
