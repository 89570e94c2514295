"""What an iterative oracle knows at the end of a call and may begin the next one from, at theta nearby.

A state is passed in and returned, never kept inside: it has something for every example, and those of some examples can
be taken out and put back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from maximand.layout import take_runs
from maximand.support import Ints


class State(Protocol):
    """What is known of each example of a batch."""

    def take(self, examples: Ints | slice) -> Self:
        """Return the state of some examples."""

    def put(self, examples: Ints, state: Self) -> Self:
        """Return this state with that of some examples replaced; they must be as large."""

    @classmethod
    def joined(cls, states: Sequence[Any]) -> Self:
        """Return the state of consecutive pieces of a batch as one."""


@dataclass(frozen=True)
class Numbers:
    """Example i has values[offsets[i]:offsets[i+1]]."""

    values: np.ndarray
    offsets: Ints

    @classmethod
    def equal(cls, matrix: np.ndarray) -> Numbers:
        """Return the state in which every example has equally many numbers: a line of a matrix."""
        return cls(matrix.ravel(), np.arange(len(matrix) + 1) * matrix.shape[1])

    @classmethod
    def of(cls, runs: Sequence[np.ndarray]) -> Numbers:
        """Return the state in which every example has numbers of its own."""
        return cls(np.concatenate(runs), np.cumsum([0] + [run.size for run in runs]))

    def take(self, examples: Ints | slice) -> Numbers:
        """Return the numbers of some examples."""
        places, offsets = take_runs(self.offsets, examples)
        return Numbers(self.values[places], offsets)

    def put(self, examples: Ints, state: Numbers) -> Numbers:
        """Return these numbers with those of some examples replaced."""
        places, offsets = take_runs(self.offsets, examples)
        if not np.array_equal(offsets, state.offsets):
            raise ValueError("The state of an example may not change its size.")
        values = self.values.copy()
        values[places] = state.values
        return replace(self, values=values)

    @classmethod
    def joined(cls, states: Sequence[Numbers]) -> Numbers:
        """Put pieces one after the other."""
        lengths = np.concatenate([np.diff(state.offsets) for state in states])
        return cls(np.concatenate([state.values for state in states]), np.concatenate([[0], np.cumsum(lengths)]))


@dataclass(frozen=True)
class Several:
    """The states of several oracles that are asked together; None for those without."""

    members: tuple[Any, ...]

    def take(self, examples: Ints | slice) -> Several:
        """Take from each."""
        return Several(tuple(None if state is None else state.take(examples) for state in self.members))

    def put(self, examples: Ints, state: Several) -> Several:
        """Put into each."""
        pairs = zip(self.members, state.members, strict=True)
        return Several(tuple(None if old is None or new is None else old.put(examples, new) for old, new in pairs))

    @classmethod
    def joined(cls, states: Sequence[Several]) -> Several:
        """Join each."""
        columns = zip(*(state.members for state in states), strict=True)
        return cls(tuple(None if None in column else type(column[0]).joined(column) for column in columns))

    @classmethod
    def of(cls, *members: Any) -> Several | None:
        """Return the states of several oracles; None where none has one."""
        return cls(members) if any(member is not None for member in members) else None


def again(state: Any) -> dict[str, Any]:
    """Return the argument that a state makes: none where there is none, for functions that never return one."""
    return {} if state is None else {"state": state}


def members(state: Several | None, count: int) -> tuple[Any, ...]:
    """Return the states of several oracles, None for each where there is nothing yet."""
    return (None,) * count if state is None else state.members
