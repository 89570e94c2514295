"""The convex-concave procedure, with bound recycling and adaptive precision."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maximand.compiling import working_seconds
from maximand.losses import CRF, PERCEPTRON
from maximand.objective import Objective
from maximand.passes import limited, unlimited
from maximand.solvers.base import Iterate, Result, Solver
from maximand.solvers.block_frank_wolfe import BlockFrankWolfe
from maximand.solvers.earlier import start_weights
from maximand.solvers.lbfgs import LBFGS
from maximand.solvers.one_slack import OneSlack
from maximand.solvers.perceptron import Perceptron
from maximand.solvers.race import Race
from maximand.solvers.simplex_blocks import SimplexBlocks
from maximand.solvers.smoothing import Smoothing
from maximand.solvers.subgradient import Subgradient
from maximand.support import Array, Plane

EASIER_ROUNDS = 100  # for the objective that partial annotations begin with, whatever the limit of the real one
EPOCHS, LENGTHS = 10, (10.0, 1.0, 0.1, 0.01)  # of the walk that these begin with where there are no sums
NUDGES, NUDGE = 3, 1e-6  # how often, and how far in relation to the weights, the reward is asked beside them
FEW_WEIGHTS = 50  # up to so many, planes of all examples together close the gap in a few dozen rounds


class Rounds:
    """Where the procedure stands; `inner_state` is what the inner solver knew at the end of the last round."""

    saved = ("begun", "weights", "value", "at_annotation", "precision", "gain", "n_rounds", "nudges", "inner_state")

    def __init__(self, weights: Array, at_annotation: bool, inner: Solver, inner_state: Any):
        self.begun = False
        self.weights, self.value = weights, np.inf
        self.at_annotation = at_annotation  # whether the next round freezes the reward there
        self.inner, self.inner_state = inner, inner_state
        self.precision, self.gain, self.n_rounds = inner.tolerance, np.inf, 0
        self.nudges = 0  # rounds in a row that froze the reward beside the weights


@dataclass(frozen=True, kw_only=True)
class CCCP(Solver):
    """Minimise a difference of convex functions by repeatedly freezing the reward (lou2012, Algorithm 1).

    recycle: each round starts from the planes of the last one. They bound the penalty, which does not change.
    adaptive: rounds are solved to `coarse` first and to `rate` times finer each round, down to the tolerance of
    `inner`. Without a start the first round freezes the reward at the annotation, the convex bound of do2008; on
    partial annotations it begins where an easier loss ends, also from a start where `easier` says so, or never.
    The objective never increases. It ends when a round at full precision gains at most tolerance * value; a reward
    with kinks, where several outputs that agree tie, is then asked beside the weights first, a few times.
    """

    inner: Solver | None = None
    recycle: bool = True
    adaptive: bool = True
    coarse: float = 0.1
    rate: float = 0.3
    easier: bool | None = None
    max_iterations: int = 100

    def check(self, objective: Objective) -> None:
        """Refuse an objective whose rounds the inner solver cannot minimise."""
        super().check(objective)
        if self.inner is not None:
            self.inner.check(_frozen(objective))

    def begin(self, objective: Objective, start: Result | None) -> Rounds:
        """Return the state before the first round."""
        convex = _frozen(objective)
        inner = self.inner or automatic(convex, tolerance=self.tolerance)
        return Rounds(start_weights(objective, start), start is None, inner, inner.begin(convex, None))

    def _start_softly(self, objective: Objective, state: Rounds, deadline: float) -> bool:
        """On partial annotations begin where an easier objective ends; say whether that was interrupted.

        For a reward that ignores the annotation that is the one whose reward does not. For a maximum over the outputs
        that agree, the sum over them: frozen at zero weights, where all of them tie, the maximum would teach nothing.
        Where there are no sums it is the loss of the perceptron.
        """
        easier, start = objective.rewarding_annotation(), self._given(state)
        if easier.loss != objective.loss:
            rounds = replace(self, max_iterations=EASIER_ROUNDS, max_seconds=_seconds_until(deadline))
            found = rounds.minimize(easier, start)
            state.weights, state.value, state.at_annotation = found.weights, objective.value(found.weights), False
            return found.interrupted
        if objective.smooth or objective.loss.homogeneous or objective.signed:
            return False
        if CRF.needs & ~objective.can:
            return self._start_walking(objective, state, deadline)
        found = LBFGS(tolerance=1e-2, max_seconds=_seconds_until(deadline)).minimize(
            replace(objective, loss=CRF, frozen=None), start
        )
        value = objective.value(found.weights)
        if value < state.value:
            state.weights, state.value, state.at_annotation = found.weights, value, False
        return found.interrupted

    @staticmethod
    def _start_walking(objective: Objective, state: Rounds, deadline: float) -> bool:
        """Begin where a perceptron ends, at the best of some lengths, where there are no sums over outputs."""
        walk = Perceptron(max_iterations=EPOCHS, max_seconds=_seconds_until(deadline))
        found = walk.minimize(replace(objective, loss=PERCEPTRON, frozen=None))
        for length in LENGTHS:
            value = objective.value(length * found.weights)
            if value < state.value:
                state.weights, state.value, state.at_annotation = length * found.weights, value, False
        return found.interrupted

    @staticmethod
    def _given(state: Rounds) -> Result | None:
        """Return the start that was given, if any."""
        return None if state.at_annotation else Result.start(state.weights)

    def iterate(self, objective: Objective, state: Rounds) -> Generator[Iterate, None, str]:
        """Yield the weights after each round."""
        inner, deadline = state.inner, working_seconds() + self.max_seconds
        last = 0.0  # seconds that it took to evaluate the objective
        if not state.begun:
            state.value, last = _timed_value(objective, state.weights)
            easier = state.at_annotation if self.easier is None else self.easier
            softly = easier and not objective.full
            interrupted = softly and self._start_softly(objective, state, deadline - last)
            state.precision = max(self.coarse, inner.tolerance) if self.adaptive else inner.tolerance
            state.begun = True
            yield Iterate(state.weights, state.value)
            if interrupted:
                raise KeyboardInterrupt
        while True:
            finest = state.precision <= inner.tolerance
            done = bool(state.n_rounds) and finest and state.gain <= self.tolerance * abs(state.value)  # line 15
            if done and (objective.smooth or objective.full or state.nudges == NUDGES):
                return f"a round gained at most {self.tolerance:g} of the value"
            state.nudges = state.nudges + 1 if done else 0
            if state.n_rounds:
                state.precision = max(state.precision * self.rate, inner.tolerance)  # line 5
            surrogate = objective.annotated() if state.at_annotation else objective.linearized(_beside(state))  # line 4
            start = Result.start(state.weights, state.inner_state if self.recycle else None)
            seconds = _seconds_until(deadline - last)
            solver = replace(inner, tolerance=state.precision, max_seconds=min(inner.max_seconds, seconds))
            with limited(objective, seconds):
                result = solver.minimize(surrogate, start=start)  # lines 6-12
            state.inner_state, state.at_annotation = result.state, False
            with unlimited(objective):  # time was left for it
                value, last = _timed_value(objective, result.weights)
            state.gain = state.value - value
            if state.gain > 0:
                state.weights, state.value = result.weights, value
            state.n_rounds += 1
            yield Iterate(state.weights, state.value)
            if result.interrupted:
                raise KeyboardInterrupt


def _seconds_until(deadline: float) -> float:
    """Return the seconds that are left."""
    return max(0.0, deadline - working_seconds())


def _timed_value(objective: Objective, weights: Array) -> tuple[float, float]:
    """Return the objective, and the seconds that it took."""
    began = working_seconds()
    return objective.value(weights), working_seconds() - began


def _beside(state: Rounds) -> Array:
    """Return the weights, nudged at random where that is due."""
    if not state.nudges:
        return state.weights
    direction = np.random.default_rng(state.nudges).normal(size=state.weights.size)
    length = float(np.linalg.norm(state.weights)) / max(float(np.linalg.norm(direction)), np.finfo(float).tiny)
    return state.weights + NUDGE * length * direction


def _frozen(objective: Objective) -> Objective:
    """Return a convex objective with the penalty of a given one."""
    return replace(objective, frozen=Plane(np.zeros(objective.n_weights), 0.0))


def automatic(objective: Objective, **settings: float) -> Solver:
    """Return a good solver for the objective, with the given settings.

    Homogeneous, as the perceptron's loss: Perceptron. Smooth: LBFGS; where some weights may not be negative, OneSlack
    if it is convex and Subgradient if not. Convex and made of planes: OneSlack for a handful of weights, else
    BlockFrankWolfe, where that can be in a Race with Smoothing, or with OneSlack instead. Anything else: CCCP on one of
    these.
    """
    if objective.loss.homogeneous:
        return Perceptron(**settings)  # type: ignore[arg-type]
    if objective.smooth and objective.signed:
        return (OneSlack if objective.convex else Subgradient)(**settings)  # type: ignore[arg-type]
    if objective.smooth:
        return LBFGS(**settings)  # type: ignore[arg-type]
    if objective.convex and objective.n_weights <= FEW_WEIGHTS and not SimplexBlocks.fit(objective):
        return OneSlack(**settings)  # type: ignore[arg-type]
    if objective.convex and Smoothing.fit(objective) and not objective.signed:
        return Race(**settings)  # type: ignore[arg-type]
    if objective.convex:
        return BlockFrankWolfe(**settings)  # type: ignore[arg-type]
    return CCCP(**settings)  # type: ignore[arg-type]
