"""Solvers that are chosen by the data, or take turns, because none is good at everything."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from maximand.compiling import working_seconds
from maximand.objective import Objective
from maximand.shards import LARGE_MODEL
from maximand.solvers.base import Iterate, Result, Solver
from maximand.solvers.block_frank_wolfe import BlockFrankWolfe
from maximand.solvers.one_slack import OneSlack
from maximand.solvers.simplex_blocks import ExactAscent
from maximand.solvers.smoothing import Smoothing

FIRST_TURN = 10  # work for each example, in oracle calls
LEAD = 1.5  # times the work of the other that a solver may have had and still go on
BEHIND = 0.5  # of the work so far: the turn of the one whose gap is larger
FITTED = 0.03  # of the value at the start: below it the data are fitted, and hardly the work of soft maxima
FITTED_PATIENCE = 8.0
MOVING = 0.4  # of the value at zero, for each row: up to there, no row by itself moves the weights far
SHARED = 5.0  # the same for each example, where there are at most `TELLING` weights for each row
TELLING = 3.0


class Runner:
    """What one of the solvers holds, the best value and bound that are its own, and the work that it took."""

    saved = ("state", "value", "bound", "work", "ended")

    def __init__(self, state: Any):
        self.state, self.value, self.bound = state, np.inf, -np.inf
        self.work = 0.0
        self.ended = ""  # why it could not go on

    @property
    def gap(self) -> float:
        """The distance between its value and its bound."""
        return self.value - self.bound

    def take(self, iterate: Iterate) -> None:
        """Note an iterate."""
        self.value = min(self.value, iterate.value)
        if iterate.bound is not None:
            self.bound = max(self.bound, iterate.bound)


class Turns:
    """Whose turn it is, and what the gap and the work of the runner were when it began."""

    saved = (
        "begun", "first", "second", "together", "apart", "is_second", "turn_gap", "turn_work", "budget", "start_value"
    )  # fmt: skip

    def __init__(self, first: Any, second: Any, together: Any):
        self.begun = False
        self.together = together
        self.apart: bool | None = None  # whether there is a race, once that is known
        self.first, self.second = Runner(first), Runner(second)
        self.is_second, self.turn_gap, self.turn_work, self.budget = False, np.inf, 0.0, 0.0
        self.start_value = np.inf

    @property
    def runner(self) -> Runner:
        """The one whose turn it is."""
        return self.second if self.is_second else self.first

    @property
    def other(self) -> Runner:
        """The one that waits."""
        return self.first if self.is_second else self.second

    @property
    def fitted(self) -> bool:
        """Whether it is the first's turn and its value is small beside that at the start."""
        return not self.is_second and self.first.value <= FITTED * self.start_value

    def extend(self, budget: float) -> None:
        """Begin another turn of the same."""
        self.budget, self.turn_gap, self.turn_work = budget, self.runner.gap, self.runner.work

    def switch(self, budget: float) -> None:
        """Give the turn to the other."""
        self.is_second = not self.is_second
        self.extend(budget)


@dataclass(frozen=True, kw_only=True)
class Race(Solver):
    """Minimise by turns with two solvers, whose best value and best bound make the gap together, or with a third alone.

    Planes of all examples together (`together`) need few rounds where no single row of features matters much: where
    what the slope at zero weights promises, |slope|^2 / (2 regularization), is less than `MOVING` of the value there
    for each row; or less than `SHARED` times that for each example, where rows are not much fewer than weights. There
    is no race then, unless the weights are many or the blocks are solved exactly.

    Planes of single examples (`first`) are quick where a few outputs of each example matter: where the data can be
    fitted, or the regularisation is strong. Soft maxima (`second`) are quick where the data are noisy and many outputs
    nearly tie. Which it is shows in how the gap falls. A solver whose turn is over keeps it where it would close the
    gap, at the rate of this turn, with less work than it has had so far. Otherwise the other one has a turn, and turns
    grow with all the work that was done: so the race takes at most about twice the work of the better one. Who has no
    bound on the minimum by the end of a turn gets no other, and the second leaves as soon as it begins without one.

    Work is counted in calls of oracles and visits of examples, so that the answer does not depend on the machine.
    """

    first: Solver = field(default_factory=BlockFrankWolfe)
    second: Solver = field(default_factory=Smoothing)
    together: Solver = field(default_factory=OneSlack)

    requires: ClassVar[frozenset[str]] = BlockFrankWolfe.requires
    instead: ClassVar[str] = BlockFrankWolfe.instead

    def check(self, objective: Objective) -> None:
        """Refuse an objective that one of them cannot minimise."""
        super().check(objective)
        self.first.check(objective)
        self.second.check(objective)

    def begin(self, objective: Objective, start: Result | None) -> Turns:
        """Begin with both, or after an earlier race with the one that came closer; each gets back what it knew."""
        earlier = getattr(start, "state", None)
        if start is None or not isinstance(earlier, Turns):
            return Turns(*(solver.begin(objective, start) for solver in (self.first, self.second, self.together)))
        first, second = (replace(start, state=runner.state) for runner in (earlier.first, earlier.second))
        together = self.together.begin(objective, replace(start, state=earlier.together))
        turns = Turns(self.first.begin(objective, first), self.second.begin(objective, second), together)
        turns.apart = earlier.apart
        turns.is_second, turns.start_value = earlier.second.gap < earlier.first.gap, earlier.start_value
        return turns

    def iterate(self, objective: Objective, state: Turns) -> Generator[Iterate, None, str]:
        """Yield what the one whose turn it is yields."""
        deadline, runs = working_seconds() + self.max_seconds, dict[bool, Generator[Iterate, None, str]]()
        if not state.begun:
            state.budget, state.begun = FIRST_TURN * objective.n_examples, True
            state.apart = self._apart(objective, state) if state.apart is None else state.apart
        if not state.apart:
            alone = replace(self.together, tolerance=self.tolerance, max_seconds=self.max_seconds)
            return (yield from alone.iterate(objective, state.together))
        while True:
            runner, before = state.runner, objective.tally.work
            if state.is_second not in runs:
                solver = self.second if state.is_second else self.first
                seconds = max(0.0, deadline - working_seconds())
                solver = replace(solver, tolerance=self.tolerance, max_seconds=seconds)
                runs[state.is_second] = solver.iterate(objective, runner.state)
            try:
                iterate = next(runs[state.is_second])
            except StopIteration as end:
                runner.ended = end.value
                if state.other.ended:
                    return runner.ended
                state.switch(state.budget)
                continue
            runner.take(iterate)
            if not np.isfinite(state.start_value):
                state.start_value = iterate.value
            runner.work += objective.tally.work - before
            if not np.isfinite(state.turn_gap):
                state.turn_gap, state.turn_work = runner.gap, runner.work
            unbounded = state.is_second and np.isneginf(runner.bound)
            if (unbounded or runner.work - state.turn_work >= state.budget) and not state.other.ended:
                if np.isneginf(runner.bound):
                    runner.ended = "it has no bound on the minimum"
                left, patience = self._work_left(state), FITTED_PATIENCE if state.fitted else 1.0
                most = LEAD * max(state.other.work, FIRST_TURN * objective.n_examples)
                if left <= patience * min(runner.work, most):
                    state.extend(min(left, runner.work))
                else:
                    behind = state.other.gap > runner.gap
                    state.switch(max(runner.work, state.other.work) * (BEHIND if behind else 1.0))
            yield iterate

    @staticmethod
    def _apart(objective: Objective, state: Turns) -> bool:
        """Whether single rows of features matter, so that planes of single examples are worth it."""
        if isinstance(state.first.state, ExactAscent) or objective.n_weights > LARGE_MODEL:
            return True
        value, slope = objective.value_and_gradient(np.zeros(objective.n_weights))
        promised, n_rows = float(slope @ slope) / (2.0 * objective.regularization), 1.0 / float(objective.share.mean())
        if promised <= MOVING * n_rows * value:
            return False
        return promised > SHARED * objective.n_examples * value or objective.n_weights > TELLING * n_rows

    def _work_left(self, state: Turns) -> float:
        """Return the work that the gap of the runner would take at the rate at which it fell in this turn."""
        runner, goal = state.runner, self.tolerance * abs(state.runner.value)
        if not np.isfinite(state.turn_gap) or not 0.0 < goal < runner.gap < state.turn_gap:
            return np.inf
        rate = np.log(state.turn_gap / runner.gap) / (runner.work - state.turn_work)
        return float(np.log(runner.gap / goal) / rate)
