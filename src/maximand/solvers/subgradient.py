"""Stochastic subgradient descent: the solver that asks nothing of the loss."""

from __future__ import annotations

from collections.abc import Generator
from copy import copy, deepcopy
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from maximand.objective import Objective
from maximand.passes import OutOfTime, unlimited
from maximand.solvers.base import Iterate, Result, Solver
from maximand.solvers.earlier import start_weights
from maximand.support import Array


class Steps(Protocol):
    """Chooses step lengths; `begin` is called once, `epoch` with the value after each epoch.

    `saved` names the attributes that change during a run.
    """

    saved: ClassVar[tuple[str, ...]]

    def begin(self, objective: Objective, steps_per_epoch: int, value: float) -> None:
        """Start a run."""

    def epoch(self, value: float) -> None:
        """Take note of the value after an epoch."""

    def length(self, value: float, gradient: Array) -> float:
        """Return the next step length."""

    def finished(self, tolerance: float) -> bool:
        """Whether further steps are too small to matter."""


def settled(values: list[float], tolerance: float) -> bool:
    """Whether all values of the later half of a run, of 40 epochs at least, are within the tolerance of the best.

    Gains come ever more slowly, like 1 / t or its root, so that what the later half gained is about what is left; a run
    that is still above its best has gone too far and is on its way back.
    """
    best = min(values, default=0.0)
    return len(values) >= 40 and max(values[len(values) // 2 :]) - best <= tolerance * abs(best)


@dataclass
class Distance:
    """The largest distance from the start so far, over the root of the sum of all |gradient|^2 (DoG, Ivgi 2023).

    It asks for no scale: the first step would take a share `first` of the value away if the objective were linear, and
    steps grow with the way that they have made. They are never longer than 1 / (regularization * t), the best ones in
    the end. The run is finished when values settle.
    """

    first: float = 0.1

    saved: ClassVar[tuple[str, ...]] = ("rate", "time", "moved", "distance", "squares", "values")

    def __post_init__(self) -> None:
        self.rate, self.time = 0.0, 0
        self.moved, self.distance, self.squares = np.empty(0), 0.0, 0.0
        self.values: list[float] = []

    def begin(self, objective: Objective, steps_per_epoch: int, value: float) -> None:
        """Start a run."""
        self.rate, self.time = 1.0 / max(objective.regularization, 1e-12), 0
        self.moved, self.distance, self.squares, self.values = np.zeros(objective.n_weights), 0.0, 0.0, []

    def epoch(self, value: float) -> None:
        """Take note of the value."""
        self.values.append(value)

    def length(self, value: float, gradient: Array) -> float:
        """Return the next step length."""
        squared = float(gradient @ gradient)
        if squared == 0.0:
            return 0.0
        self.time += 1
        self.squares += squared
        least = self.first * abs(value) / float(np.sqrt(squared)) if self.distance == 0.0 else self.distance
        self.distance = max(least, float(np.linalg.norm(self.moved)))
        length = min(self.distance / float(np.sqrt(self.squares)), self.rate / self.time)
        self.moved += length * gradient
        return length

    def finished(self, tolerance: float) -> bool:
        """Whether the values have settled."""
        return settled(self.values, tolerance)


@dataclass
class Decreasing:
    """scale / (regularization * (t + t0)), where t0 is the number of steps in an epoch; finished when values settle.

    The first steps are far too long where the regularisation is weak: `scale` takes some care.
    """

    scale: float = 1.0

    saved: ClassVar[tuple[str, ...]] = ("rate", "time", "values")

    def __post_init__(self) -> None:
        self.rate, self.time = 0.0, 0
        self.values: list[float] = []

    def begin(self, objective: Objective, steps_per_epoch: int, value: float) -> None:
        """Start a run."""
        self.rate = self.scale / max(objective.regularization, 1e-12)
        self.time, self.values = steps_per_epoch, []

    def epoch(self, value: float) -> None:
        """Take note of the value."""
        self.values.append(value)

    def length(self, value: float, gradient: Array) -> float:
        """Return the next step length."""
        self.time += 1
        return self.rate / self.time

    def finished(self, tolerance: float) -> bool:
        """Whether the values have settled."""
        return settled(self.values, tolerance)


@dataclass
class Polyak:
    """(value - goal) / |gradient|^2 with an adaptive goal: a little below the best value so far.

    The hoped-for gain starts at a share `hope` of the value, is halved after `trials` epochs that fall short of half
    of it and grows again when it is met. The run is finished when it falls below the tolerance.
    """

    hope: float = 0.5
    trials: int = 20

    saved: ClassVar[tuple[str, ...]] = ("best", "gain", "failures")

    def __post_init__(self) -> None:
        self.best, self.gain, self.failures = np.inf, np.inf, 0

    def begin(self, objective: Objective, steps_per_epoch: int, value: float) -> None:
        """Start a run."""
        self.best, self.gain, self.failures = value, self.hope * abs(value), 0

    def epoch(self, value: float) -> None:
        """Raise or lower the hoped-for gain."""
        if value < self.best - 0.5 * self.gain:
            self.gain, self.failures = 1.5 * self.gain, 0
        else:
            self.failures += 1
            if self.failures >= self.trials:
                self.gain, self.failures = 0.5 * self.gain, 0
        self.best = min(self.best, value)

    def length(self, value: float, gradient: Array) -> float:
        """Return the next step length."""
        squared = float(gradient @ gradient)
        return max(0.0, value - (self.best - self.gain)) / squared if squared > 0 else 0.0

    def finished(self, tolerance: float) -> bool:
        """Whether the hoped-for gain is within the tolerance."""
        return self.gain <= tolerance * abs(self.best)


class Walk:
    """Where a walk stands; `time` counts its steps."""

    saved = ("begun", "weights", "average", "time", "steps", "rng")

    def __init__(self, weights: Array, steps: Steps, rng: np.random.Generator):
        self.begun = False
        self.weights, self.average, self.time = weights, weights.copy(), 0
        self.steps, self.rng = steps, rng


@dataclass(frozen=True, kw_only=True)
class Subgradient(Solver):
    """Subgradient descent on mini-batches (batch_size None: on all examples at once).

    An iteration is an epoch; at its end the objective is evaluated at the weights, or with `averaging` at an average
    of all weights so far in which later ones count more. There is no lower bound, hence no gap: the rule for the
    steps says when the run is finished.
    """

    steps: Steps = field(default_factory=Distance)
    batch_size: int | None = 32
    averaging: bool = True
    random_state: int = 0

    def check(self, objective: Objective) -> None:
        """Refuse steps that gradients without bound would carry away."""
        super().check(objective)
        if isinstance(self.steps, Decreasing) and not objective.bounded:
            raise ValueError(
                f"Decreasing() steps need bounded gradients and those of {objective.loss.name} are not; use LBFGS(), "
                "or Subgradient()."
            )

    def begin(self, objective: Objective, start: Result | None) -> Walk:
        """Return the start of a walk, with a step rule of its own."""
        return Walk(start_weights(objective, start), copy(self.steps), np.random.default_rng(self.random_state))

    def iterate(self, objective: Objective, state: Walk) -> Generator[Iterate, None, str]:
        """Yield the weights after each epoch."""
        if not state.begun:
            value = objective.value(state.weights)
            state.steps.begin(objective, -(-objective.n_examples // self._size(objective)), value)
            state.begun = True
            yield Iterate(state.weights.copy(), value)
        while True:
            if state.time and state.steps.finished(self.tolerance):
                return f"the steps no longer gain {self.tolerance:g} of the value, which bounds nothing"
            before, late = deepcopy(state), False
            try:
                self._walk(objective, state)
            except OutOfTime:  # an epoch that is cut short counts, and is begun again by a run that goes on later
                if state.time == before.time:
                    raise
                late = True
            chosen = (state.average if self.averaging else state.weights).copy()
            with unlimited(objective):
                value = objective.value(chosen)
            state.steps.epoch(value)
            if late:
                vars(state).update(vars(before))
            yield Iterate(chosen, value)

    def _size(self, objective: Objective) -> int:
        """Return the number of examples in a mini-batch."""
        return min(self.batch_size or objective.n_examples, objective.n_examples)

    def _walk(self, objective: Objective, state: Walk) -> None:
        """Take the steps of an epoch."""
        n, size, share = objective.n_examples, self._size(objective), objective.share
        weights, average = state.weights, state.average
        counting = np.flatnonzero(share) if share.any() else np.arange(n)
        even = np.ptp(share[counting]) == 0
        order = state.rng.permutation(counting) if even else state.rng.choice(n, n, p=share / share.sum())
        for first in range(0, order.size, size):
            if size == n:
                value, gradient = objective.value_and_gradient(weights)
            else:
                value, gradient = objective.sampled_gradient(weights, order[first : first + size])
            weights -= state.steps.length(value, gradient) * gradient
            objective.clip(weights)
            average += 2.0 / (state.time + 2.0) * (weights - average)
            state.time += 1
