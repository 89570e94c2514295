"""Keeping the records of a fit."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from maximand.callbacks.base import Callback, last_record, warn_unwritten
from maximand.files.atomic import check_folder


class History(Callback):
    """Keeps the records of the last fit in `records`; with a path it also adds each as a line of JSON there.

    Where a line cannot be written, as on a full disk, a warning says so and the fit goes on.
    """

    def __init__(self, path: str | Path | None = None):
        self.path = path
        self.records: list[Any] = []

    def setup(self, estimator: Any, context: Any) -> None:
        """Forget an earlier fit."""
        self.records = []
        if self.path is not None:
            check_folder(self.path)

    def on_fit_task_end(self, estimator: Any, context: Any, *, metadata: Any = None) -> None:
        """Keep the record."""
        record = last_record(metadata)
        if record is None:
            return
        self.records.append(record)
        if self.path is not None:
            try:
                with Path(self.path).open("a") as file:
                    print(json.dumps(asdict(record)), file=file)
            except OSError as error:
                warn_unwritten(self.path, error)
