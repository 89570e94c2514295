"""A progress bar."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from maximand.callbacks.base import Callback, last_record
from maximand.compiling import announced

TREND = 20  # records that the trend of the gap is taken from


class Progress(Callback):
    """Shows iteration, value, gap, oracle calls and the time left, in terminals and notebooks.

    The time left is that until the gap meets the tolerance, if it goes on falling as it did; where there is no gap the
    bar counts iterations. Where kernels compile first, a line says so, and that time is not counted.
    """

    def __init__(self, console: Console | None = None):
        self.console = console

    def setup(self, estimator: Any, context: Any) -> None:
        """Open the bar."""
        self._bars = Bars(
            TextColumn("{task.description}"), BarColumn(bar_width=24), TextColumn("{task.fields[shown]}"),
            console=self.console or Console(stderr=True), transient=False,
        )  # fmt: skip
        self._records: list[Any] = []
        total = context.max_subtasks
        self._task = self._bars.add_task(type(estimator).__name__, total=total, shown="")
        self._bars.start()
        self._announced = announced(self._bars.console.print)
        self._announced.__enter__()

    def on_fit_task_end(self, estimator: Any, context: Any, *, metadata: Any = None) -> None:
        """Show the iteration."""
        record = last_record(metadata)
        if record is None:
            self._bars.advance(self._task, 1 if context.parent is not None else 0)
            return
        self._records.append(record)
        tolerance = metadata["tolerance"]
        shown = f"iteration {record.iteration}  value {record.value:.6g}"
        if record.gap is not None:
            shown += f"  gap {record.gap / max(abs(record.value), 1e-300):.1e}"
        shown += f"  oracle calls {record.oracle_calls:,}  {record.seconds:.0f} s"
        left = seconds_left(self._records, tolerance)
        if left is not None:
            shown += f", about {left:.0f} s left"
            done, total = record.seconds, record.seconds + left
            self._bars.update(self._task, completed=done, total=max(total, 1e-9), shown=shown)
        else:
            self._bars.update(self._task, completed=record.iteration, shown=shown)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Say how it ended and close the bar."""
        reason = getattr(estimator, "stop_reason_", None)
        if reason:
            self._bars.update(self._task, shown=f"{self._bars.tasks[0].fields['shown']}: {reason}")
        self._bars.stop()
        self._announced.__exit__(None, None, None)


def seconds_left(records: list[Any], tolerance: float) -> float | None:
    """Return when the relative gap meets the tolerance if its logarithm goes on along a line; None if it does not."""
    recent = [record for record in records[-TREND:] if record.gap]
    if len(recent) < 3:
        return None
    seconds = np.array([record.seconds for record in recent])
    heights = np.log([record.gap / max(abs(record.value), 1e-300) for record in recent])
    if np.ptp(seconds) <= 0:
        return None
    slope, _ = np.polyfit(seconds - seconds.mean(), heights, 1)
    if not slope < 0:
        return None
    return max(0.0, float((np.log(tolerance) - heights[-1]) / slope))
