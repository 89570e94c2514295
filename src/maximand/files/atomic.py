"""Writing files so that a reader finds the old content or the new one, never a part of it."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # not on every system; there nothing is locked, and so nothing is taken for a leftover
    fcntl = None  # type: ignore[assignment]

FULL = errno.ENOSPC, errno.EDQUOT, errno.EFBIG


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to be written next to the target; when all is on disk it takes the target's place in one step.

    The target stays as it was when writing fails, and keeps its permissions: it may be read all the while. What
    earlier writers of the same target left when they were killed is removed. A device or a pipe is written as it is.
    """
    check_folder(path)
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                yield file
        else:
            with _replacing(Path(os.path.realpath(path))) as file:
                yield file
    except OSError as error:
        if error.filename is None and error.errno in FULL:
            error.filename = os.fspath(path)
        raise


@contextmanager
def new_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a folder to be filled next to the target, which must be new or empty; filled it takes the target's place."""
    check_folder(path)
    target = Path(os.path.realpath(path))
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise FileExistsError(f"{os.fspath(path)} is there already; give a new folder, or an empty one.")
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    part.mkdir()
    try:
        yield part
        if target.exists():
            target.rmdir()
        part.rename(target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a file that cannot be written because its folder is missing."""
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{os.fspath(path)}: there is no folder {folder}; make it first.")


def check_other(path: str | os.PathLike[str], source: str | os.PathLike[str], what: str) -> None:
    """Refuse to write over a file that is something else."""
    if os.path.exists(path) and os.path.exists(source) and os.path.samefile(path, source):
        raise ValueError(f"{os.fspath(path)} is {what}; give another file for the output.")


@contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    _remove_leftovers(target)
    part, file = _new_part(target)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if os.name == "nt":  # where open files cannot be moved
                file.close()
            if target.exists():
                shutil.copymode(target, part)
            os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # not every system lets a folder be synchronised
        _sync_folder(target.parent)


def _new_part(target: Path) -> tuple[Path, BinaryIO]:
    """Open a new file next to the target, locked as long as it is open: this tells it from a leftover."""
    while True:
        part = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
        file = part.open("xb")
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
        if part.exists():
            return part, file
        file.close()  # another writer took it for a leftover before it was locked


def _remove_leftovers(target: Path) -> None:
    """Remove what writers of this very target left when they were killed: files of their form that none has locked."""
    if fcntl is None:
        return
    form = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{12}}\.part")
    for name in filter(form.fullmatch, os.listdir(target.parent)):
        part = target.with_name(name)
        with suppress(OSError), part.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


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
