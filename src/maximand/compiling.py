"""Kernels compile when they are first used, and are kept on disk for the next time: how long it takes is known here.

Numba tells when it begins and ends with a kernel. It compiles one at a time, whichever thread asks, and in between
those that the kernel calls.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

logger = logging.getLogger(__name__)

WORTH_SAYING = 0.5  # seconds
ANNOUNCEMENT = "compiling, once: later runs load what is compiled now"


class Compilations(event.Listener):
    """Adds up the time that our kernels take to compile, and says so where it is long: to the log, and to `audience`.

    Only the last of the audience is told, so that it is said once.
    """

    def __init__(self) -> None:
        self.audience: list[Callable[[str], object]] = []
        self._outermost: Any = None  # what numba said of the kernel that is compiling, if any
        self._spent: tuple[float, float | None] = 0.0, None  # seconds that are over, and when those under way began
        self._announced = False

    def seconds(self) -> float:
        """Return the time that compiling took so far."""
        over, began = self._spent
        return over if began is None else over + time.perf_counter() - began

    def on_start(self, event: event.Event) -> None:
        """Begin to count, unless it is for a kernel that is compiling already."""
        if self._outermost is None and event.data["dispatcher"].py_func.__module__.startswith("maximand."):
            self._outermost, self._spent = event.data, (self._spent[0], time.perf_counter())
        self._announce()

    def on_end(self, event: event.Event) -> None:
        """Stop counting where the kernel is done, and not only one that it calls."""
        self._announce()
        if self._outermost is event.data:
            self._outermost, self._spent = None, (self.seconds(), None)

    def _announce(self) -> None:
        if not self._announced and self.seconds() > WORTH_SAYING:
            self._announced = True
            logger.info(ANNOUNCEMENT)
            for say in self.audience[-1:]:
                say(ANNOUNCEMENT)


class HeldInterrupts(event.Listener):
    """Holds Ctrl-C back while the main thread compiles or loads a kernel: inside of the compiler it would be lost."""

    def __init__(self) -> None:
        self._depth = 0
        self._handler: Any = None
        self._came = False

    def on_start(self, event: event.Event) -> None:
        """Note signals from now on, and do no more."""
        if threading.current_thread() is threading.main_thread():
            self._depth += 1
            if self._depth == 1 and callable(signal.getsignal(signal.SIGINT)):
                self._handler = signal.signal(signal.SIGINT, self._note)

    def on_end(self, event: event.Event) -> None:
        """Deliver a signal that came."""
        if threading.current_thread() is threading.main_thread():
            self._depth -= 1
            if self._depth == 0 and self._handler is not None:
                came, self._came = self._came, False
                signal.signal(signal.SIGINT, self._handler)
                self._handler = None
                if came:
                    signal.raise_signal(signal.SIGINT)

    def _note(self, *_: Any) -> None:
        self._came = True


COMPILATIONS = Compilations()
event.register("numba:compile", COMPILATIONS)
event.register("numba:compiler_lock", HeldInterrupts())


def working_seconds() -> float:
    """Return the time of a clock that stands still while kernels compile; differences of it are meaningful."""
    return time.perf_counter() - COMPILATIONS.seconds()


@contextmanager
def announced(say: Callable[[str], object]) -> Iterator[None]:
    """While the context lasts, have `say` called with a line, once in a process, where compiling takes long."""
    COMPILATIONS.audience.append(say)
    try:
        yield
    finally:
        COMPILATIONS.audience.remove(say)
