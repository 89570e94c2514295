"""Where text comes from and goes to: paths, gzip, standard input and output, open files."""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import IO, Any, TextIO, cast

from maximand.files.atomic import replacing
from maximand.formats.errors import FormatError

Source = str | os.PathLike[str] | IO[Any]
Target = Source
MAX_LINE = 64 << 20
MAX_BYTES = 1 << 30
_BYTE_ORDER_MARKS = re.compile(rb"^(?:\xef\xbb\xbf)+")


class Lines:
    """The lines of a text with the number of the present one: the place where a reader complains.

    Refused are damaged gzip streams, NUL bytes, carriage returns inside a line, text in another encoding, lines above
    MAX_LINE bytes, and compressed text of which more than max_bytes must be held at once. A reader that streams calls
    `forget` after each record. A byte order mark at the beginning is dropped.
    """

    def __init__(self, raw: IO[Any], name: str, max_bytes: int, encoding: str) -> None:
        self.name, self.number = name, 0
        self._raw, self._max_bytes, self._encoding, self._held = raw, max_bytes, encoding, 0

    def error(self, problem: str, line: int | None = None) -> FormatError:
        """Return the error to raise about the present line, or another one."""
        return FormatError(self.name, line or self.number or None, problem)

    def forget(self) -> None:
        """Count what is held anew: the lines so far were handed on."""
        self._held = 0

    def binary(self) -> Iterator[bytes]:
        """Iterate over lines as they are, line ends included."""
        try:
            stream = io.BufferedReader(_Bytes(self._raw))
            compressed = stream.peek(2)[:2] == b"\x1f\x8b"
            reader = cast("io.BufferedReader", gzip.GzipFile(fileobj=stream)) if compressed else stream
            while line := reader.readline(MAX_LINE + 1):
                self.number += 1
                self._held += len(line)
                if len(line) > MAX_LINE:
                    raise self.error(f"more than {MAX_LINE} bytes without a line end; is this a text file?")
                if compressed and self._held > self._max_bytes:
                    raise self.error(f"more than {self._max_bytes} bytes of decompressed text; raise max_bytes.")
                if b"\0" in line or b"\r" in line.rstrip(b"\r\n"):
                    raise self.error("a NUL byte or a lone carriage return; is this a text file with \\n at line ends?")
                yield _BYTE_ORDER_MARKS.sub(b"", line) if self.number == 1 else line
        except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
            raise self.error(f"damaged gzip data ({problem}); fetch the file again.", self.number + 1) from None
        except UnicodeError as problem:
            raise self.error(f"wrong encoding ({problem}).", self.number + 1) from None

    def __iter__(self) -> Iterator[str]:
        """Iterate over lines as text, without line ends."""
        for line in self.binary():
            yield self.decode(line).rstrip("\r\n")

    def rows(self) -> Iterator[str]:
        """Iterate over the rows of a table: blank lines may follow them but not part them."""
        blank = 0
        for line in self:
            if not line.strip():
                blank = blank or self.number
            elif blank:
                raise self.error("a blank line between rows; delete it.", blank)
            else:
                yield line

    def decode(self, piece: bytes) -> str:
        """Return a piece of the present line as text."""
        try:
            return piece.decode(self._encoding)
        except UnicodeDecodeError as problem:
            byte, at = piece[problem.start], problem.start + 1
            raise self.error(
                f"byte 0x{byte:02x} at position {at} is not {self._encoding}; convert the file to UTF-8."
            ) from None


class _Bytes(io.RawIOBase):
    """Any open file as a stream of bytes; closing the stream leaves the file open."""

    def __init__(self, source: IO[Any]) -> None:
        self._source = source
        self._waiting = self._next()
        if len(self._waiting) == 1:  # both bytes of a gzip signature must be seen at once
            self._waiting += self._next()

    def _next(self) -> bytes:
        piece = self._source.read(1 << 16)
        return piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else bytes(piece or b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._waiting = self._waiting or self._next()
        size = min(len(buffer), len(self._waiting))
        buffer[:size], self._waiting = self._waiting[:size], self._waiting[size:]
        return size


def name_of(source: Source) -> str:
    """Return what messages call a source."""
    if isinstance(source, (str, os.PathLike)):
        return "standard input" if source == "-" else os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "input"


@contextmanager
def open_lines(source: Source, *, max_bytes: int = MAX_BYTES, encoding: str = "utf-8") -> Iterator[Lines]:
    """Open a path, "-" (standard input) or an open file, text or binary, gzip-compressed or not, to read its lines."""
    if source == "-":
        yield Lines(getattr(sys.stdin, "buffer", sys.stdin), name_of(source), max_bytes, encoding)
    elif isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            yield Lines(file, name_of(source), max_bytes, encoding)
    else:
        yield Lines(source, name_of(source), max_bytes, encoding)


@contextmanager
def open_writer(target: Target) -> Iterator[TextIO]:
    """Open a path, "-" (standard output) or an open file, text or binary, to write text.

    A path is replaced in one step when all is written, and left as it was when writing fails; .gz compresses.
    """
    if not isinstance(target, (str, os.PathLike)):
        if isinstance(target, io.TextIOBase) or isinstance(getattr(target, "encoding", None), str):
            yield cast("TextIO", target)
        else:
            wrapper = io.TextIOWrapper(target, encoding="utf-8", newline="\n")
            try:
                yield wrapper
            finally:
                wrapper.detach()
    elif target == "-":
        yield sys.stdout
        sys.stdout.flush()
    else:
        with _replacing_text(os.fspath(target)) as file:
            yield file


@contextmanager
def _replacing_text(path: str) -> Iterator[TextIO]:
    with (
        replacing(path) as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) if path.endswith(".gz") else nullcontext(file) as binary,
    ):
        text = io.TextIOWrapper(cast("IO[bytes]", binary), encoding="utf-8", newline="\n")
        yield text
        text.flush()
        text.detach()
