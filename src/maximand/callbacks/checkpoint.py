"""Saving a run now and then, to go on with it after an interruption."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path
from typing import Any

from maximand.callbacks.base import Callback, last_record, warn_unwritten
from maximand.files.atomic import check_folder, write_atomically
from maximand.files.container import from_bytes, read, to_bytes
from maximand.files.errors import ModelFileError
from maximand.files.packing import Packer, Unpacker
from maximand.solvers.base import Record
from maximand.solvers.snapshots import snapshot
from maximand.states import Numbers, Several
from maximand.support import Guarantee

logger = logging.getLogger(__name__)

CLASSES = (Guarantee, Record, Numbers, Several)


class Checkpoint(Callback):
    """Writes all that a run needs to go on, at most every so many seconds; a later fit of the same problem goes on.

    The weights come out bit by bit as if there had been no interruption. A checkpoint of another problem (other data,
    loss, regularisation or solver) is refused. Each file belongs to one fit: give every fit its own path. Where a
    checkpoint cannot be written, as on a full disk, a warning says so, the one before is left, and the fit goes on.
    """

    def __init__(self, path: str | os.PathLike[str], seconds: float = 60.0):
        self.path, self.seconds = Path(path), seconds

    def setup(self, estimator: Any, context: Any) -> None:
        """Refuse a path that can never be written, before anything is trained."""
        self._written, self._problem = time.perf_counter(), ""
        check_folder(self.path)

    def resume(self, problem: str) -> dict[str, Any] | None:
        """Return the snapshot of the run on a problem, named by its fingerprint; None when there is none yet."""
        self._problem = problem
        if not self.path.exists():
            return None
        header, arrays = from_bytes(read(self.path), "checkpoint")
        if header.get("problem") != problem:
            raise ModelFileError(
                f"{self.path} is the checkpoint of another problem: the data, the loss, the regularization or the "
                "solver differ. Delete it to start afresh, or give this fit a path of its own."
            )
        try:
            found: dict[str, Any] = Unpacker(CLASSES, arrays).unpack(header["run"])
            logger.info("resuming from %s at iteration %d", self.path, found["history"][-1].iteration)
        except (ModelFileError, KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise ModelFileError(f"{self.path} is damaged ({error}); delete it to start afresh.") from None
        return found

    def on_fit_task_end(self, estimator: Any, context: Any, *, metadata: Any = None) -> None:
        """Write a checkpoint when it is time."""
        if last_record(metadata) is not None and time.perf_counter() - self._written >= self.seconds:
            try:
                self.write(metadata["run"])
            except OSError as error:
                warn_unwritten(self.path, error)
            self._written = time.perf_counter()

    def write(self, run: Any) -> None:
        """Write a checkpoint now."""
        packer = Packer(CLASSES)
        header = {"problem": self._problem, "run": packer.pack(snapshot(run), "run")}
        write_atomically(self.path, to_bytes("checkpoint", header, packer.arrays))
