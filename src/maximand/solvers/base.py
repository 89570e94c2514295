"""The loop that every solver shares: what it requires, when it stops, what it returns."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np

from maximand.objective import Objective
from maximand.support import Array, Guarantee


@dataclass(frozen=True)
class Iterate:
    """Where a solver stands: weights, the objective there, and a lower bound on the minimum where there is one.

    `state` is what the solver needs to go on from here; `guarantee` is that of the oracles asked so far.
    """

    weights: Array
    value: float
    bound: float | None = None
    state: Any = None
    guarantee: Guarantee = Guarantee.EXACT


@dataclass(frozen=True)
class Record:
    """One line of the history."""

    iteration: int
    seconds: float
    oracle_calls: int
    value: float
    gap: float | None


@dataclass(frozen=True)
class Result:
    """The best weights found and how the run ended.

    `value` is the objective at `weights`. `gap` bounds how far it is above the minimum, where the solver has such a
    bound; `certified` says whether it is a proof: the objective is convex and no oracle returned less than the true
    maximum. `state` warm-starts the same solver on an objective with the same penalty.
    """

    weights: Array
    value: float
    gap: float | None
    certified: bool
    converged: bool
    stop_reason: str
    history: list[Record] = field(default_factory=list)
    state: Any = field(default=None, repr=False)

    @property
    def relative_gap(self) -> float | None:
        """The gap as a share of the value."""
        return None if self.gap is None else self.gap / max(abs(self.value), np.finfo(float).tiny)


ROUNDING = 1e-12  # a gap below this is zero, whatever the value
Callback = Callable[[Record, Array], bool | None]


@dataclass(frozen=True, kw_only=True)
class Solver(ABC):
    """Minimises an objective until the gap is at most tolerance * value, or a limit is met.

    A callback gets each record with the best weights so far and stops the run by returning True. Ctrl-C stops it too;
    both keep the best weights.
    """

    tolerance: float = 1e-3
    max_iterations: int = 1000
    max_seconds: float = np.inf

    requires: ClassVar[frozenset[str]] = frozenset()
    instead: ClassVar[str] = ""
    keeps_last: ClassVar[bool] = False

    @abstractmethod
    def iterate(self, objective: Objective, start: Result | None) -> Generator[Iterate, None, str]:
        """Yield iterates; return in words why there are no more. A solver without gaps ends by itself."""

    def check(self, objective: Objective) -> None:
        """Refuse an objective that this solver cannot minimise."""
        for quality in sorted(self.requires):
            if not getattr(objective, quality):
                raise ValueError(
                    f"{type(self).__name__} needs a {quality} objective and {objective.loss.name} is not"
                    f"{'' if objective.full else ' on partial annotations'}; use {self.instead}."
                )

    def minimize(self, objective: Objective, start: Result | None = None, callback: Callback | None = None) -> Result:
        """Minimise the objective, from `start` where given."""
        self.check(objective)
        with objective.engine.session():
            return self._run(objective, start, callback)

    def _run(self, objective: Objective, start: Result | None, callback: Callback | None) -> Result:
        began, calls = time.perf_counter(), objective.lanes.calls
        history: list[Record] = []
        best: Iterate | None = None
        latest: Iterate | None = None
        bound, guarantee = -np.inf, Guarantee.EXACT
        reason, converged = "", False
        run = self.iterate(objective, start)
        try:
            while not reason:
                try:
                    latest = next(run)
                except StopIteration as end:
                    reason, converged = end.value, True
                    break
                guarantee = guarantee & latest.guarantee
                if best is None or latest.value < best.value or self.keeps_last:
                    best = latest
                if latest.bound is not None:
                    bound = max(bound, latest.bound)
                gap = max(0.0, best.value - bound) if bound > -np.inf else None
                seconds = time.perf_counter() - began
                record = Record(len(history) + 1, seconds, objective.lanes.calls - calls, best.value, gap)
                history.append(record)
                if gap is not None and gap <= max(self.tolerance * abs(best.value), ROUNDING):
                    reason, converged = (
                        f"the gap fell to the tolerance, {self.tolerance:g} of the value",
                        True,
                    )
                elif callback is not None and callback(record, best.weights):
                    reason = "the callback asked to stop"
                elif len(history) >= self.max_iterations:
                    reason = f"max_iterations={self.max_iterations} was reached"
                elif seconds >= self.max_seconds:
                    reason = f"max_seconds={self.max_seconds:g} was reached"
        except KeyboardInterrupt:
            if best is None:
                raise
            reason = "interrupted by the user; these are the best weights so far"
        assert best is not None and latest is not None
        gap = max(0.0, best.value - bound) if bound > -np.inf else None
        certified = gap is not None and objective.convex and guarantee.bounds_from_above
        return Result(best.weights, best.value, gap, certified, converged, reason, history, latest.state)


def start_weights(objective: Objective, start: Result | None) -> Array:
    """Return a copy of the weights to start from; zeros by default."""
    return np.zeros(objective.n_weights) if start is None else start.weights.copy()


State = TypeVar("State")


def resumable(objective: Objective, start: Result | None, kind: type[State]) -> State | None:
    """Return the state of an earlier run when it holds planes of the same penalty on the same data."""
    state = None if start is None else start.state
    if isinstance(state, kind) and getattr(state, "origin", None) == origin(objective):
        return state
    return None


def origin(objective: Objective) -> tuple[int, Any]:
    """Say what the planes of an objective belong to: its data and its penalty, but not its reward."""
    return id(objective.batch), objective.loss.penalty
