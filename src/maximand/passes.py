"""Passes over the examples of a shard, and how long they may take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from maximand.compiling import working_seconds
from maximand.engine import Threads


class OutOfTime(Exception):
    """There was no time to finish an answer."""


class Pass:
    """A question to a shard: the time until which its answer is wanted, by the clock of `working_seconds`.

    `states` are those that oracles returned, by the first example of each chunk.
    """

    def __init__(self, deadline: float):
        self.deadline = deadline
        self.states: dict[int, Any] = {}

    def check(self) -> None:
        """Raise OutOfTime where the answer is no longer wanted."""
        if working_seconds() > self.deadline:
            raise OutOfTime

    def side_by_side(self, threads: Threads, function: Callable[[Any], Any], lanes: Sequence[Any]) -> Iterator[Any]:
        """Yield what the lanes find; those that still run when one fails, or Ctrl-C comes, end at their next check."""
        try:
            yield from threads.each(function, lanes)
        finally:
            self.deadline = -np.inf


@contextmanager
def limited(objective: Any, seconds: float) -> Iterator[None]:
    """Have the shards of an objective raise OutOfTime, between chunks, after so many seconds, or sooner as before."""
    list(objective.ask(_limit, seconds))
    try:
        yield
    finally:
        list(objective.ask(_end_limit))


@contextmanager
def unlimited(objective: Any) -> Iterator[None]:
    """Let the shards of an objective take what time they need."""
    list(objective.ask(_no_limit))
    try:
        yield
    finally:
        list(objective.ask(_end_limit))


def _limit(shard: Any, seconds: float) -> None:
    shard.deadlines.append(min(shard.deadlines[-1], working_seconds() + seconds))


def _no_limit(shard: Any) -> None:
    shard.deadlines.append(np.inf)


def _end_limit(shard: Any) -> None:
    shard.deadlines.pop()
