"""The loop that every solver shares: what it requires, when it stops, what it returns."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from maximand.answers import below
from maximand.compiling import working_seconds
from maximand.objective import Objective
from maximand.passes import OutOfTime, limited
from maximand.solvers.approximation import Intervals, Shortfall, in_words
from maximand.solvers.snapshots import restore
from maximand.support import Array, Guarantee

logger = logging.getLogger(__name__)

ASKED = "the callback asked to stop"
INTERRUPTED = "interrupted by the user; these are the best weights so far"
NEAR = 1e-3  # a gap of this share of the value is small


class Stuck(str):
    """Why a solver cannot go on although it may be far from the minimum."""

    __slots__ = ()


class Unfinished(str):
    """Why a solver ended before it was where it was to go."""

    __slots__ = ()


@dataclass(frozen=True)
class Iterate:
    """Where a solver stands: weights, the objective there, and a lower bound on the minimum where there is one.

    `guarantee` is that of the oracles asked so far.
    """

    weights: Array
    value: float
    bound: float | None = None
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
    maximum, or those that did knew by how much at the most: `excess`, which the gap includes. `guarantee` is that of
    all oracles together, n_unconverged the number of examples whose oracle had not converged when last asked, and
    `guarantee_text` says in words what value and gap are worth.
    `state` warm-starts the same solver on an objective with the same penalty.
    """

    weights: Array
    value: float
    gap: float | None
    certified: bool
    converged: bool
    stop_reason: str
    history: list[Record] = field(default_factory=list)
    state: Any = field(default=None, repr=False)
    guarantee: Guarantee = Guarantee.EXACT
    guarantee_text: str = ""
    shortfall: Shortfall | None = None
    excess: float | None = None
    n_unconverged: int = 0

    @classmethod
    def start(cls, weights: Array, state: Any = None) -> Result:
        """Return weights to start from, with what an earlier run knew."""
        return cls(weights, np.inf, None, False, False, "", state=state)

    def intervals(self, rho: float) -> Intervals:
        """Return where slack, objective and risk truly lie if every oracle found at least rho of its maximum."""
        if self.shortfall is None:
            raise ValueError(
                "There are such intervals for the hinge loss on full annotations, trained with oracles that return "
                "lower bounds; elsewhere see result.guarantee_text."
            )
        return self.shortfall.intervals(rho)

    @property
    def wanted(self) -> bool:
        """Whether a callback ended the run."""
        return self.stop_reason == ASKED

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the run."""
        return self.stop_reason == INTERRUPTED

    @property
    def relative_gap(self) -> float | None:
        """The gap as a share of the value."""
        return None if self.gap is None else self.gap / max(abs(self.value), np.finfo(float).tiny)


ROUNDING = 1e-12  # a gap below this is zero, whatever the value


@dataclass
class Run:
    """A run under way: what the solver holds, the best iterate and the best bound so far, and the history.

    Its `saved` attributes are all it takes to go on from here, bit by bit as if nothing had happened.
    """

    state: Any
    weights: Array = field(default_factory=lambda: np.empty(0))
    value: float = np.inf
    bound: float = -np.inf
    guarantee: Guarantee = Guarantee.EXACT
    history: list[Record] = field(default_factory=list)
    states: list[Any] = field(default_factory=list)  # of iterative oracles, shard by shard

    saved: ClassVar[tuple[str, ...]] = ("state", "weights", "value", "bound", "guarantee", "history", "states")

    @property
    def gap(self) -> float | None:
        """The distance between the best value and the best bound; None where the arithmetic left no such thing.

        A bound above a value that is known to be none too small contradicts it, and so does a number that is no number.
        """
        if not (np.isfinite(self.value) and np.isfinite(self.bound)):
            return None
        if self.guarantee.bounds_from_above and below(self.value, self.bound, abs(self.value) + abs(self.bound)):
            return None
        return max(0.0, self.value - self.bound)

    def take(self, iterate: Iterate, keep_last: bool, doubtful: bool) -> None:
        """Note an iterate; one of a doubtful value is not better than others, and leaves no guarantee."""
        self.guarantee = self.guarantee & (Guarantee.ESTIMATE if doubtful else iterate.guarantee)
        if (iterate.value < self.value and not doubtful) or keep_last or not self.weights.size:
            self.weights, self.value = iterate.weights, iterate.value
        if iterate.bound is not None:
            self.bound = max(self.bound, iterate.bound)


Callback = Callable[[Record, Run], bool | None]


@dataclass(frozen=True, kw_only=True)
class Solver(ABC):
    """Minimises an objective until the gap is at most tolerance * value, or a limit is met.

    A callback gets each record with the run so far and stops it by returning True. Ctrl-C stops it too; both keep
    the best weights. So does `max_seconds`, in the middle of an iteration if need be: it is checked between chunks of
    examples, from the first iterate on, without the time that kernels take to compile.
    """

    tolerance: float = 1e-3
    max_iterations: int = 1000
    max_seconds: float = np.inf

    requires: ClassVar[frozenset[str]] = frozenset()
    instead: ClassVar[str] = ""
    keeps_last: ClassVar[bool] = False
    keeps_signs: ClassVar[bool] = True

    @abstractmethod
    def begin(self, objective: Objective, start: Result | None) -> Any:
        """Return what the solver holds before its first iterate: its state.

        All that must survive an interruption is in the attributes that the state lists as `saved`; `begun` is among
        them and says whether there was an iterate yet.
        """

    @abstractmethod
    def iterate(self, objective: Objective, state: Any) -> Generator[Iterate, None, str]:
        """Yield iterates; return in words why there are no more. A solver without gaps ends by itself.

        A state that has begun goes on right after the iterate that it was last saved at.
        """

    def check(self, objective: Objective) -> None:
        """Refuse an objective that this solver cannot minimise."""
        for quality in sorted(self.requires):
            if not getattr(objective, quality):
                raise ValueError(
                    f"{type(self).__name__} needs a {quality} objective and {objective.loss.name} is not"
                    f"{'' if objective.full else ' on partial annotations'}; use {self.instead}."
                )
        if objective.signed and not self.keeps_signs:
            raise ValueError(
                f"{type(self).__name__} lets weights have any sign and associative tables need nonnegative ones; use "
                "OneSlack() for convex losses, Subgradient() for any."
            )

    def minimize(
        self,
        objective: Objective,
        start: Result | None = None,
        callback: Callback | None = None,
        resume: Mapping[str, Any] | None = None,
    ) -> Result:
        """Minimise the objective, from `start` where given; or go on with a run, given its snapshot."""
        self.check(objective)
        with objective.engine.session():
            objective.begin_from([])
            run = Run(self.begin(objective, start))
            if resume is not None:
                restore(run, resume)
                objective.begin_from(run.states)
            return self._go_on(objective, run, callback)

    def _go_on(self, objective: Objective, run: Run, callback: Callback | None) -> Result:
        last = run.history[-1] if run.history else Record(0, 0.0, 0, np.inf, None)
        began, calls = working_seconds() - last.seconds, objective.tally.calls - last.oracle_calls
        reason, converged, late = "", False, f"max_seconds={self.max_seconds:g} was reached"
        iterates = self.iterate(objective, run.state)
        try:
            while not reason:
                left = began + self.max_seconds - working_seconds()
                try:
                    with limited(objective, left) if run.history and left < np.inf else nullcontext():
                        iterate = next(iterates)
                    doubtful = objective.loss.nonnegative and below(iterate.value, 0.0, 0.0)  # it cannot be
                    run.take(iterate, self.keeps_last, doubtful)
                except StopIteration as end:
                    reason, converged = self._ended(run, end.value)
                    break
                run.guarantee = run.guarantee & objective.tally.guarantee
                gap, seconds = run.gap, working_seconds() - began
                record = Record(len(run.history) + 1, seconds, objective.tally.calls - calls, run.value, gap)
                run.history.append(record)
                run.states = objective.states
                logger.debug("%s %s", type(self).__name__, record)
                asked = callback is not None and callback(record, run)
                trusted = objective.tally.contradicted is None
                if trusted and gap is not None and gap <= max(self.tolerance * abs(run.value), ROUNDING):
                    reason, converged = f"the gap fell to the tolerance, {self.tolerance:g} of the value", True
                elif asked:
                    reason = ASKED
                elif record.iteration >= self.max_iterations:
                    reason = f"max_iterations={self.max_iterations} was reached"
                elif seconds >= self.max_seconds:
                    reason = late
        except OutOfTime:
            if not run.history:  # the limit is that of a run around this one
                raise
            reason = late
        except KeyboardInterrupt:
            if not run.history:
                raise
            reason = INTERRUPTED
        logger.info("%s ended after %d iterations: %s", type(self).__name__, len(run.history), reason)
        converged = converged and objective.tally.contradicted is None  # a wrong oracle closes no gap
        gap, guarantee, unconverged = run.gap, run.guarantee, objective.tally.n_unconverged
        certified = gap is not None and objective.convex and guarantee.bounds_from_above
        shortfall, excess = None, None
        if guarantee is Guarantee.UNDER:
            shortfall = Shortfall.at(objective, run.weights)
            if gap is not None and objective.convex:
                excess = objective.penalty(run.weights).excess
            if excess is not None and gap is not None:
                gap, certified = gap + excess, True
        return Result(
            run.weights, run.value, gap, certified, converged, reason, run.history, run.state, guarantee,
            in_words(guarantee, objective.convex, gap, excess, unconverged, objective.tally.contradicted), shortfall,
            excess, unconverged,
        )  # fmt: skip

    def _ended(self, run: Run, reason: str) -> tuple[str, bool]:
        """Return why a solver ended by itself, and whether it is where it was to go."""
        if isinstance(reason, Unfinished):
            return reason, False
        if not isinstance(reason, Stuck) or run.gap is None or run.gap <= max(self.tolerance, NEAR) * abs(run.value):
            return reason, True
        return f"{reason}; features of similar sizes help, see StandardScaler", False
