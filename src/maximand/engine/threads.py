"""Threads on this machine."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from queue import SimpleQueue
from threading import RLock, Thread
from typing import Any, TypeVar

from joblib import cpu_count
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@cache
def _cores() -> int:
    return int(cpu_count())  # reads files of the system


@cache
def _blas() -> tuple[list[Any], ThreadpoolController]:
    """Return the controllers of the BLAS libraries, and one of no library."""
    every = ThreadpoolController()
    return every.select(user_api="blas").lib_controllers, every.select(user_api=[])


def _set_blas(n_threads: Iterable[int]) -> list[int]:
    """Set the number of threads of each BLAS library; return what it was.

    threadpoolctl lets no other thread set them until a context of the first one ends: here one of no library at all.
    """
    libraries, none = _blas()
    before = []
    with none.limit(limits=None):
        for library, count in zip(libraries, n_threads, strict=False):
            before.append(library.num_threads)
            library.set_num_threads(count)
    return before


class _Process:
    """What all fits and predictions of a process share: threads that help, and the limit on BLAS.

    The limit is one number for the whole process. The first session sets it to 1 and the last one to end sets it back
    to what the first had found, in whatever order they end.
    """

    def __init__(self) -> None:
        self.lock = RLock()  # a generator may be closed, and its session end, at any time
        self._queues: dict[int, SimpleQueue[Callable[[], object]]] = {}  # of as many helpers
        self._sessions = 0
        self._found: list[int] = []  # threads of BLAS before the first session

    def helpers(self, count: int) -> SimpleQueue[Callable[[], object]]:
        """Return the queue from which so many threads take what they do.

        They do not keep the process from ending; an executor would, and would refuse work once the main thread is over.
        """
        with self.lock:
            if count not in self._queues:
                self._queues[count] = SimpleQueue()
                for _ in range(count):
                    Thread(target=_serve, args=(self._queues[count],), name="maximand", daemon=True).start()
            return self._queues[count]

    @contextmanager
    def session(self) -> Iterator[None]:
        with self.lock:
            if not self._sessions:
                self._found = _set_blas(repeat(1))
            self._sessions += 1
        try:
            yield
        finally:
            with self.lock:
                self._sessions -= 1
                if not self._sessions:
                    self.restore()

    def restore(self) -> None:
        """Set BLAS back to what the first session found."""
        _set_blas(self._found)
        self._found = []


def _serve(queue: SimpleQueue[Callable[[], object]]) -> None:
    while True:
        queue.get()()


_process = _Process()


def _wait() -> None:
    """Fork only while no thread talks to BLAS: a child would wait for its locks for ever."""
    _process.lock.acquire()


def _go_on() -> None:
    _process.lock.release()


def _begin_anew() -> None:
    """Forget what a forked child inherits: queues without their threads, sessions of threads that it lacks."""
    global _process
    inherited, _process = _process, _Process()
    inherited.restore()


if hasattr(os, "register_at_fork"):  # where processes can fork
    os.register_at_fork(before=_wait, after_in_parent=_go_on, after_in_child=_begin_anew)


@dataclass(frozen=True)
class Threads:
    """The engine that keeps all shards in this process and works on n threads; None means one for each core.

    The pieces of work, and the order in which their answers are put together, do not depend on the number of threads,
    and matrix products run on one thread each: so neither does the answer. It may be used from several threads at
    once, inside of its own work, and after a fork.
    """

    n_threads: int | None = None

    @property
    def count(self) -> int:
        """The number of threads in use."""
        return self.n_threads or _cores()

    def session(self) -> AbstractContextManager[object]:
        """Keep matrix products on the thread that asks for them, in all of the process, while the context lasts.

        A pool inside BLAS would compete with this one for the cores: its idle threads spin for a while after use.
        """
        return _process.session()

    def place(self, shards: Sequence[Any]) -> list[Any]:
        """Let the lanes of each shard run on these threads."""
        return [shard.on(self) for shard in shards]

    def map(self, function: Callable[..., Answer], placed: Sequence[Any], *arguments: Any) -> Iterator[Answer]:
        """Yield function(shard, *arguments) for every shard, one after the other: each uses all threads."""
        for shard in placed:
            yield function(shard, *arguments)

    def each(self, function: Callable[[Item], Answer], items: Sequence[Item]) -> Iterator[Answer]:
        """Yield function(item) for every item, in order, side by side; an answer that was taken is not kept."""
        n_helpers = min(self.count, len(items)) - 1
        with self.session():
            if n_helpers:
                yield from _side_by_side(function, items, [_process.helpers(self.count - 1)] * n_helpers)
            else:
                yield from map(function, items)


def _side_by_side(
    function: Callable[[Item], Answer], items: Sequence[Item], helpers: Sequence[SimpleQueue[Callable[[], object]]]
) -> Iterator[Answer]:
    """Yield function(item) for every item, in order, while helpers take items too.

    The caller works as well, and waits for an answer only where some thread is at it: whoever waits, waits for work
    that goes on. So work inside of work cannot block, however few helpers are free.
    """
    answers = deque(Future[Answer]() for _ in items)
    left = deque(zip(answers, items, strict=True))

    def work() -> bool:
        """Do what is next; say whether there was anything."""
        try:
            answer, item = left.popleft()
        except IndexError:
            return False
        try:
            answer.set_result(function(item))
        except BaseException as error:
            answer.set_exception(error)
            if not isinstance(error, Exception):  # Ctrl-C ends the caller's work at once
                raise
        return True

    def help_out() -> None:
        with suppress(BaseException):  # it is with the answer
            while work():
                pass

    for queue in helpers:
        queue.put(help_out)
    try:
        while answers:
            while not answers[0].done() and work():
                pass
            yield answers.popleft().result()
    finally:
        left.clear()
