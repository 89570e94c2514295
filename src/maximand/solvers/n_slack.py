"""Cutting planes with one slack variable for each example."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maximand.objective import Objective
from maximand.solvers.base import Iterate, Result, Solver
from maximand.solvers.working_sets import Ascent


@dataclass(frozen=True, kw_only=True)
class NSlack(Solver):
    """A working set of planes for each example; the dual over all of them by sweeps of exact pairwise steps.

    Each round asks every oracle at the same weights, so value and gap are true ones, adds the planes that rise above
    the working sets, and sweeps until the gap over the working sets is `inner` of the whole gap. Shrinking: most sweeps
    leave out examples that have little part in that gap.
    """

    inner: float = 0.5
    max_sweeps: int = 100
    patience: int = 1
    random_state: int = 0

    requires: ClassVar[frozenset[str]] = frozenset({"convex", "nonsmooth"})
    instead: ClassVar[str] = "LBFGS() for smooth losses, CCCP(inner=NSlack()) for those that are not convex"

    def begin(self, objective: Objective, start: Result | None) -> Ascent:
        """Return the working sets of an earlier run, where they fit."""
        return Ascent(objective, start, self.patience, self.random_state)

    def iterate(self, objective: Objective, state: Ascent) -> Generator[Iterate, None, str]:
        """Yield the weights of the dual solution after each round."""
        sets = state.sets
        if state.start is not None and not state.begun:
            state.begun = True
            yield Iterate(state.start, objective.value(state.start), None, sets.guarantee)
            state.start = None
        while True:
            if not state.settling:
                weights, dual = sets.weights.copy(), sets.dual if sets.count else None
                grown = sets.grow()
                value = sets.value(weights, np.maximum(grown.values, grown.known))
                state.gap = np.inf if dual is None else value - dual
                state.settling = state.begun = True
                yield Iterate(weights, value, dual, sets.guarantee)
            sets.settle(self.inner * state.gap, self.max_sweeps, state.rng)
            state.settling = False
