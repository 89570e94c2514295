"""Several runs of a solver from different starts, of which the best is kept."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from maximand.compiling import working_seconds
from maximand.objective import Objective
from maximand.solvers.base import Iterate, Result, Solver, Unfinished
from maximand.solvers.lbfgs import LBFGS

SPREAD = 0.3  # standard deviation of the scores that random weights make


def scattered(objective: Objective, rng: np.random.Generator) -> Result:
    """Return random weights that make scores of standard deviation SPREAD, to start from."""
    weights = rng.normal(size=objective.n_weights)
    features, examples = objective.features, objective.batches[0].examples
    scores = features.scores(examples, features.prepared(weights, examples.inputs))
    size = float(np.std(scores[np.isfinite(scores)]))
    return Result.start(weights * (SPREAD / size if size > 0.0 else SPREAD))


class Attempts:
    """Which attempt is under way and how far it is; how the best one so far ended."""

    saved = ("begun", "number", "state", "count", "value", "best", "reason", "converged")

    def __init__(self, state: Any):
        self.begun = False
        self.number, self.best, self.reason, self.converged = 0, np.inf, "", False
        self.begin(state)

    def begin(self, state: Any) -> None:
        """Begin an attempt."""
        self.state, self.count, self.value = state, 0, np.inf

    def end(self, reason: str) -> None:
        """End it."""
        self.number += 1
        if self.value < self.best or not self.reason:
            self.best, self.reason, self.converged = self.value, reason, not isinstance(reason, Unfinished)


@dataclass(frozen=True, kw_only=True)
class Restarts(Solver):
    """Run a solver from the start given, then from random weights, `n_attempts` in all; keep the best.

    Each may take as many iterations as the others, and the time is that of all.
    """

    inner: Solver = field(default_factory=LBFGS)
    n_attempts: int = 1
    random_state: int = 0

    @classmethod
    def of(cls, solver: Solver, n_attempts: int, random_state: int) -> Restarts:
        """Return attempts each of which has the iterations of a solver, in the time of that."""
        return cls(
            inner=replace(solver, max_iterations=0, max_seconds=0.0),
            n_attempts=n_attempts,
            random_state=random_state,
            tolerance=solver.tolerance,
            max_iterations=n_attempts * solver.max_iterations + 1,  # the last attempt ends by itself
            max_seconds=solver.max_seconds,
        )

    def check(self, objective: Objective) -> None:
        """Refuse an objective that the solver cannot minimise."""
        self.inner.check(objective)

    def begin(self, objective: Objective, start: Result | None) -> Attempts:
        """Begin the first attempt."""
        return Attempts(self.inner.begin(objective, start))

    def iterate(self, objective: Objective, state: Attempts) -> Generator[Iterate, None, str]:
        """Yield what the attempts yield, one after the other."""
        deadline, limit = working_seconds() + self.max_seconds, (self.max_iterations - 1) // self.n_attempts
        while True:
            seconds = max(0.0, deadline - working_seconds())
            solver = replace(self.inner, max_iterations=limit, max_seconds=seconds)
            iterates = solver.iterate(objective, state.state)
            reason: str = Unfinished(f"max_iterations={limit} was reached")
            while state.count < limit:
                try:
                    iterate = next(iterates)
                except StopIteration as end:
                    reason = end.value
                    break
                state.begun, state.count, state.value = True, state.count + 1, min(state.value, iterate.value)
                yield iterate
            state.end(reason)
            if state.number == self.n_attempts:
                return state.reason if state.converged else Unfinished(state.reason)
            objective.begin_from([])
            rng = np.random.default_rng((self.random_state, state.number))
            state.begin(self.inner.begin(objective, scattered(objective, rng)))
