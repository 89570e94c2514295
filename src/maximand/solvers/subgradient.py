"""Stochastic subgradient descent: the solver that asks nothing of the loss."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from maximand.objective import Objective
from maximand.solvers.base import Iterate, Result, Solver, start_weights
from maximand.support import Array


class Steps(Protocol):
    """Chooses step lengths; `begin` is called once, `epoch` with the value after each epoch."""

    def begin(self, objective: Objective, steps_per_epoch: int, value: float) -> None:
        """Start a run."""

    def epoch(self, value: float) -> None:
        """Take note of the value after an epoch."""

    def length(self, value: float, gradient: Array) -> float:
        """Return the next step length."""

    def finished(self, tolerance: float) -> bool:
        """Whether further steps are too small to matter."""


@dataclass
class Decreasing:
    """scale / (regularization * (t + t0)), where t0 is the number of steps in an epoch.

    The run is finished when the best of the last ten epochs gains less than the tolerance on the ten before.
    """

    scale: float = 1.0

    def begin(self, objective: Objective, steps_per_epoch: int, value: float) -> None:
        """Start a run."""
        self._rate = self.scale / max(objective.regularization, 1e-12)
        self._time = steps_per_epoch
        self._values: list[float] = []

    def epoch(self, value: float) -> None:
        """Take note of the value."""
        self._values.append(value)

    def length(self, value: float, gradient: Array) -> float:
        """Return the next step length."""
        self._time += 1
        return self._rate / self._time

    def finished(self, tolerance: float) -> bool:
        """Whether the last ten epochs gained less than the tolerance."""
        if len(self._values) < 20:
            return False
        earlier, later = min(self._values[-20:-10]), min(self._values[-10:])
        return earlier - later <= tolerance * abs(later)


@dataclass
class Polyak:
    """(value - goal) / |gradient|^2 with an adaptive goal: a little below the best value so far.

    The hoped-for gain starts at a share `hope` of the value, is halved after `trials` epochs that fall short of half
    of it and grows again when it is met. The run is finished when it falls below the tolerance.
    """

    hope: float = 0.5
    trials: int = 20

    def begin(self, objective: Objective, steps_per_epoch: int, value: float) -> None:
        """Start a run."""
        self._best, self._gain, self._failures = value, self.hope * abs(value), 0

    def epoch(self, value: float) -> None:
        """Raise or lower the hoped-for gain."""
        if value < self._best - 0.5 * self._gain:
            self._gain, self._failures = 1.5 * self._gain, 0
        else:
            self._failures += 1
            if self._failures >= self.trials:
                self._gain, self._failures = 0.5 * self._gain, 0
        self._best = min(self._best, value)

    def length(self, value: float, gradient: Array) -> float:
        """Return the next step length."""
        squared = float(gradient @ gradient)
        return max(0.0, value - (self._best - self._gain)) / squared if squared > 0 else 0.0

    def finished(self, tolerance: float) -> bool:
        """Whether the hoped-for gain is within the tolerance."""
        return self._gain <= tolerance * abs(self._best)


@dataclass(frozen=True, kw_only=True)
class Subgradient(Solver):
    """Subgradient descent on mini-batches (batch_size None: on all examples at once).

    An iteration is an epoch; at its end the objective is evaluated at the weights, or with `averaging` at an average
    of all weights so far in which later ones count more. There is no lower bound, hence no gap: the rule for the
    steps says when the run is finished.
    """

    steps: Steps = field(default_factory=Decreasing)
    batch_size: int | None = 32
    averaging: bool = True
    random_state: int = 0

    def iterate(self, objective: Objective, start: Result | None) -> Generator[Iterate, None, str]:
        """Yield the weights after each epoch."""
        rng = np.random.default_rng(self.random_state)
        n = objective.n_examples
        size = min(self.batch_size or n, n)
        share = objective.batch.weight
        weights = start_weights(objective, start)
        average, time = weights.copy(), 0
        value = objective.value(weights)
        self.steps.begin(objective, -(-n // size), value)
        yield Iterate(weights.copy(), value)
        while True:
            order = rng.permutation(n) if share.min() == share.max() else rng.choice(n, n, p=share)
            for first in range(0, n, size):
                if size == n:
                    value, gradient = objective.value_and_gradient(weights)
                else:
                    value, gradient = objective.sampled_gradient(weights, order[first : first + size])
                weights -= self.steps.length(value, gradient) * gradient
                average += 2.0 / (time + 2.0) * (weights - average)
                time += 1
            chosen = average if self.averaging else weights
            value = objective.value(chosen)
            self.steps.epoch(value)
            yield Iterate(chosen.copy(), value)
            if self.steps.finished(self.tolerance):
                return f"the step rule expects no more than {self.tolerance:g} of the value from further epochs"


@dataclass(frozen=True, kw_only=True)
class Perceptron(Subgradient):
    """Subgradient descent that keeps the last (averaged) weights instead of the best.

    The perceptron loss is least at zero weights, where it says nothing; what learns is the path away from there.
    """

    max_iterations: int = 20
    keeps_last: ClassVar[bool] = True
