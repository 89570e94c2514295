"""Who becomes whom: events that fill the history and the fate of every detection exactly once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from maximand.caching import cached_property
from maximand.inference.highs import new_solver
from maximand.inference.partition import Cut, Partition, Partitioning, Rows
from maximand.layout import Kind, Layout, take_runs
from maximand.spaces.base import OutputSpace
from maximand.spaces.oracle import Parts
from maximand.states import Numbers
from maximand.support import Array, Bools, Guarantee, Ints, Support


@dataclass(frozen=True)
class Events(Parts):
    """What is known of the events of a `Tracking`: 1 takes place, 0 does not, -1 is not known."""

    @property
    def n_annotated(self) -> Ints:
        """Per example: of how many events it is known whether they take place."""
        return np.add.reduceat((self.psi >= 0).astype(np.int64), self.offsets[:-1]) * (np.diff(self.offsets) > 0)

    def take(self, examples: Ints | slice) -> Events:
        """Return the annotation of some examples."""
        places, offsets = take_runs(self.offsets, examples)
        return Events(self.psi[places], offsets)


@dataclass(frozen=True)
class Incidence:
    """Example i has the events offsets[i]:offsets[i+1] and n_slots[i] slots.

    Event e fills slots[pointers[e]:pointers[e+1]], which are numbered within its example.
    """

    offsets: Ints
    pointers: Ints
    slots: Ints
    n_slots: Ints

    @classmethod
    def of(cls, examples: list[list[list[int]]], n_slots: list[int]) -> Incidence:
        """Return the incidence of events that are listed by their slots, example by example."""
        events = [slots for events in examples for slots in events]
        sizes, lengths = [len(events) for events in examples], [len(slots) for slots in events]
        flat = np.array([slot for slots in events for slot in slots], dtype=np.int64)
        return cls(np.cumsum([0, *sizes]), np.cumsum([0, *lengths]), flat, np.array(n_slots))

    def take(self, examples: Ints | slice) -> Incidence:
        """Return the events of some examples."""
        events, offsets = take_runs(self.offsets, examples)
        if isinstance(events, slice):
            events = np.arange(events.start, events.stop)
        filled, pointers = take_runs(self.pointers, events)
        return Incidence(offsets, pointers, self.slots[filled], self.n_slots[examples])

    def rows(self, example: int) -> Rows:
        """Return the events of an example as columns that cover its slots."""
        pointers = self.pointers[self.offsets[example] : self.offsets[example + 1] + 1]
        return Rows(int(self.n_slots[example]), pointers - pointers[0], self.slots[pointers[0] : pointers[-1]])


class _Bases(NamedTuple):
    """The bases of the last programs of an example, without and with a cut; None where there was none yet."""

    free: Ints | None
    cut: Ints | None

    @classmethod
    def of(cls, rows: Rows, state: Any, example: int) -> _Bases:
        """Return those that a state has, where a basis of -1 is none."""
        if state is None:
            return cls(None, None)
        both = np.split(state.take(slice(example, example + 1)).values, [rows.n_rows])
        return cls(*(basis if basis.size and basis[0] >= 0 else None for basis in both))

    def joined(self, rows: Rows) -> Ints:
        """Return both as they are stored."""
        sizes = (rows.n_rows, rows.n_rows + 1)
        return np.concatenate(
            [np.full(size, -1) if basis is None else basis for size, basis in zip(sizes, self, strict=True)]
        )


def _cut(known: Array) -> Cut:
    """Say that an output contradicts: an event takes place that is known not to, or one does not that is known to."""
    return Cut(np.where(known < 0, 0.0, 1.0 - 2.0 * known), 1.0 - float((known > 0).sum()))


class Tracking(OutputSpace):
    """Sets of events that fill every slot exactly once; the parts are the events.

    A slot is the history or the fate of a detection. A move fills the fate of one detection and the history of
    another, a division that of one and of two others, an appearance a history, a disappearance a fate, a detection that
    is false both of its own. An example is two frames or all of them: where no event has slots in more than two frames,
    the best output for all is that of each pair.

    With divisions the best set is hard to find: the linear program comes first and an integer program where its answer
    is fractional. `Partitioning(relaxed=True)` keeps that, an upper bound; with `max_seconds`, a limit for each
    example, `bound` says how good a set can be at most. The state has the basis of the last linear program: with it an
    answer to scores nearby takes a part of the time. Where several sets are best, which is found may depend on it.
    """

    def __init__(self, incidence: Incidence, inference: Partitioning | None = None):
        self.incidence, self.inference = incidence, inference or Partitioning()
        self.n_examples = incidence.n_slots.size

    @property
    def offsets(self) -> Ints:
        """The events of each example."""
        return self.incidence.offsets

    @cached_property
    def layout(self) -> Layout:
        """A part for each event."""
        return Layout((Kind("parts", self.offsets),))

    @property
    def binary(self) -> bool:
        """An event takes place or not."""
        return True

    @property
    def remedy(self) -> str:
        """What to do where no output agrees with an annotation."""
        return "correct the annotation, or let detections appear, disappear and be false"

    def take(self, examples: Ints | slice) -> Tracking:
        """Return the batch of some of the examples."""
        return Tracking(self.incidence.take(examples), self.inference)

    def using(self, inference: Any) -> Tracking:
        """Return the same outputs, found by another inference."""
        if not isinstance(inference, Partitioning):
            raise ValueError(f"Tracking finds its outputs by Partitioning(), not by {type(inference).__name__}().")
        return Tracking(self.incidence, inference)

    def encode(self, annotation: Events) -> Array:
        """Return 1 for events that are known to take place."""
        return np.maximum(annotation.psi, 0.0)

    def decode(self, psi: Array) -> list[Array]:
        """Return for each example which events take place."""
        return np.split(psi, self.offsets[1:-1])

    def restricted(self, theta: Array, annotation: Events) -> Array:
        """Forbid events that do not take place, and those that fill a slot which a known event fills."""
        theta = theta.copy()
        theta[(annotation.psi == 0) | self._crowded_out(annotation)] = -np.inf
        return theta

    def _crowded_out(self, annotation: Events) -> Bools:
        """Events beside which one that takes place fills a slot."""
        incidence, known = self.incidence, annotation.psi > 0
        firsts = np.cumsum(incidence.n_slots) - incidence.n_slots
        of_slot = np.repeat(np.arange(known.size), np.diff(incidence.pointers))
        example = np.searchsorted(self.offsets, of_slot, side="right") - 1
        slots = incidence.slots + firsts[example]
        filled = np.bincount(slots[known[of_slot]], minlength=int(incidence.n_slots.sum()))
        most = np.maximum.reduceat(np.append(filled[slots], 0), incidence.pointers[:-1])
        return np.asarray(most > known)

    def argmax(self, theta: Array, state: Any = None) -> Support:
        """Best set of events."""
        return self._answer(theta, None, state)

    def argmax_other(self, theta: Array, annotation: Events, state: Any = None) -> Support:
        """Best set that contradicts the annotation.

        Where the best of all does, that is it. Else an event that is known must change: one more row of the program.
        """
        return self._answer(theta, annotation, state)

    def _answer(self, theta: Array, contradicted: Events | None, state: Any) -> Support:
        solver, mean = new_solver(), np.zeros(self.n_parts)
        found, states = list[Partition](), list[Ints]()
        for i, (start, stop) in enumerate(pairwise(self.offsets)):
            rows, scores = self.incidence.rows(i), theta[start:stop]
            bases = _Bases.of(rows, state, i)
            best = self.inference(solver, rows, scores, bases.free, example=i)
            bases = bases._replace(free=best.basis)
            if contradicted is not None:
                known = contradicted.psi[start:stop]
                if not (known >= 0).any():
                    best = best._replace(shares=np.zeros(stop - start), value=-np.inf, bound=-np.inf)
                elif not (best.shares != known)[known >= 0].any():
                    best = self.inference(solver, rows, scores, bases.cut, _cut(known), i)
                    bases = bases._replace(cut=best.basis)
            found.append(best)
            mean[start:stop] = best.shares
            states.append(bases.joined(rows))
        value, bound = (np.array(column) for column in zip(*((p.value, p.bound) for p in found), strict=True))
        guarantee = Guarantee.EXACT
        if not all(p.whole for p in found):
            guarantee = Guarantee.OVER
        elif not all(p.best for p in found):
            guarantee = Guarantee.UNDER
        return Support(value, mean, guarantee, bound, state=Numbers.of(states))

    def rounded(self, mean: Array) -> Array:
        """Return the set of events that is nearest to fractional ones."""
        if ((mean == 0.0) | (mean == 1.0)).all():
            return mean
        return Tracking(self.incidence).argmax(mean).mean

    def outputs(self) -> Array:
        """Return every set of events of a batch of one that fills all slots once."""
        rows = self.incidence.rows(0)
        by_event = [set(rows.rows[a:b].tolist()) for a, b in zip(rows.pointers[:-1], rows.pointers[1:], strict=True)]
        found = list[Array]()

        def extend(open_slots: set[int], chosen: list[int]) -> None:
            if not open_slots:
                found.append(np.isin(np.arange(rows.n_columns), chosen).astype(float))
                return
            first = min(open_slots)
            for event, slots in enumerate(by_event):
                if first in slots and slots <= open_slots:
                    extend(open_slots - slots, [*chosen, event])

        extend(set(range(rows.n_rows)), [])
        return np.array(found).reshape(-1, rows.n_columns)
