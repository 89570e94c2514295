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

AFRESH = "Delete it to start afresh, or give this fit a path of its own."
CLASSES = (Guarantee, Record, Numbers, Several)


class Checkpoint(Callback):
    """Writes all that a run needs to go on, at most every so many seconds; a later fit of the same problem goes on.

    The weights come out bit by bit as if there had been no interruption. A checkpoint of another problem (other data,
    loss, regularisation or solver, another argmax of the user's) is refused, with what differs. Each file belongs to
    one fit: give every fit its own path. Where a checkpoint cannot be written, as on a full disk, a warning says so,
    the one before is left, and the fit goes on.
    """

    def __init__(self, path: str | os.PathLike[str], seconds: float = 60.0):
        self.path, self.seconds = Path(path), seconds

    def setup(self, estimator: Any, context: Any) -> None:
        """Refuse a path that can never be written, before anything is trained."""
        self._written, self._problem = time.perf_counter(), dict[str, str]()
        check_folder(self.path)

    def resume(self, problem: dict[str, str]) -> dict[str, Any] | None:
        """Return the snapshot of the run on a problem, given by its fingerprint; None when there is none yet."""
        self._problem = problem
        if not self.path.exists():
            return None
        try:
            header, arrays = from_bytes(read(self.path), "checkpoint")
        except ModelFileError as error:
            raise ModelFileError(f"{self.path}: {error} Delete it to start afresh.") from None
        self._compare(header.get("problem"))
        try:
            found: dict[str, Any] = Unpacker(CLASSES, arrays).unpack(header["run"])
            logger.info("resuming from %s at iteration %d", self.path, found["history"][-1].iteration)
        except (ModelFileError, KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise ModelFileError(f"{self.path} is damaged ({error}); delete it to start afresh.") from None
        return found

    def _compare(self, saved: Any) -> None:
        """Refuse to go on with another problem, or with one that may be another; say what differs."""
        present, saved = self._problem, saved if isinstance(saved, dict) else {}
        names = sorted({*present, *saved})
        differing = [name for name in names if present.get(name) != saved.get(name)]
        if differing:
            raise ModelFileError(
                f"{self.path} is the checkpoint of another problem: the {listed(differing)} "
                f"{'differs' if len(differing) == 1 else 'differ'}. {AFRESH}"
            )
        for name in names:
            if present[name].startswith("?"):
                raise ModelFileError(
                    f"{self.path} may be the checkpoint of another problem: the {name} holds an object of the type "
                    f"{present[name][1:]}, which cannot be compared. {AFRESH}"
                )

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


def listed(names: list[str]) -> str:
    """Return names as in a sentence."""
    return ", the ".join(names[:-1]) + " and the " + names[-1] if len(names) > 1 else names[0]
