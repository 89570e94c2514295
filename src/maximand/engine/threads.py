"""A pool of threads on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from joblib import cpu_count
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix="maximand")


@cache
def _cores() -> int:
    return int(cpu_count())  # reads files of the system


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@dataclass(frozen=True)
class Threads:
    """The engine that keeps all shards in this process and works on n threads; None means one for each core.

    The pieces of work, and the order in which their answers are put together, do not depend on the number of threads,
    and matrix products run on one thread each: so neither does the answer.
    """

    n_threads: int | None = None

    @property
    def count(self) -> int:
        """The number of threads in use."""
        return self.n_threads or _cores()

    def session(self) -> AbstractContextManager[object]:
        """Keep matrix products on the thread that asks for them, while the context lasts.

        A pool inside BLAS would compete with this one for the cores: its idle threads spin for a while after use.
        """
        return _controller().limit(limits=1, user_api="blas")

    def place(self, shards: Sequence[Any]) -> list[Any]:
        """Let the lanes of each shard run on these threads."""
        return [shard.on(self) for shard in shards]

    def map(self, function: Callable[..., Answer], placed: Sequence[Any], *arguments: Any) -> Iterator[Answer]:
        """Yield function(shard, *arguments) for every shard, one after the other: each uses all threads."""
        for shard in placed:
            yield function(shard, *arguments)

    def each(self, function: Callable[[Item], Answer], items: Sequence[Item]) -> Iterator[Answer]:
        """Yield function(item) for every item, in order, side by side; an answer that was taken is not kept."""
        with self.session():
            if self.count == 1 or len(items) == 1:
                yield from map(function, items)
            else:
                yield from _pool(self.count).map(function, items)
