"""The contract of an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol


class Engine(Protocol):
    """Runs pure functions over shards, wherever these live: in this process, in others, on a cluster.

    The answers, and so the bits of a fit, do not depend on the engine.
    """

    def place(self, shards: Sequence[Any]) -> list[Any]:
        """Bring shards to where they will live; return what `map` knows them by."""

    def map(self, function: Callable[..., Any], placed: Sequence[Any], *arguments: Any) -> Iterator[Any]:
        """Yield function(shard, *arguments) for every shard, in order. Function and arguments can be pickled."""

    def session(self) -> AbstractContextManager[object]:
        """Return a context for a whole run."""
