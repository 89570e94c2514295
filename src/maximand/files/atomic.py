"""Writing files so that a reader finds the old content or the new one, never a part of it."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to be written next to the target; when all is on disk it takes the target's place in one step.

    The target stays as it was when writing fails, and keeps its permissions.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {target.parent}; make it first.")
    part = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, part)
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # not every system lets a folder be synchronised
        _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Replace the content of a file in one step."""
    with replacing(path) as file:
        file.write(content)
