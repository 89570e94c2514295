"""Alignments of sequences: aligned FASTA, MSF, and tables of aligned pairs. A gap is written `-` in all records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from maximand.formats.errors import show
from maximand.formats.fields import integer, one_line, trimmed
from maximand.formats.sources import MAX_BYTES, Lines, Source, Target, open_lines, open_writer
from maximand.support import Ints

_ROW = re.compile(r"[A-Za-z*-]+")
_GAPS = str.maketrans(".~", "--")
_LISTED = re.compile(r"Name:\s*+(\S++).*?\bLen:\s*+(\S++).*", re.IGNORECASE)
_PAIR_COLUMNS = ("sid1", "sid2", "aln1", "aln2")


@dataclass(frozen=True)
class Alignment:
    """Rows of one length, each with a name."""

    names: tuple[str, ...]
    rows: tuple[str, ...]

    @property
    def sequences(self) -> tuple[str, ...]:
        """The rows without their gaps."""
        return tuple(row.replace("-", "") for row in self.rows)

    def aligned(self, first: int = 0, second: int = 1) -> Ints:
        """Return the positions (i, j), counted from 0 without gaps, that two rows align."""
        present = np.array([[symbol != "-" for symbol in self.rows[row]] for row in (first, second)], dtype=bool)
        return (np.cumsum(present, axis=1) - 1)[:, present.all(axis=0)].T


@dataclass(frozen=True)
class AlignedPair(Alignment):
    """Two aligned sequences and what a table says of them."""

    metadata: dict[str, str] = field(default_factory=dict)


def read_aligned_fasta(source: Source, *, max_bytes: int = MAX_BYTES) -> Alignment:
    """Read `>name` lines, each followed by its row on any number of lines."""
    names, pieces, starts = list[str](), list[list[str]](), list[int]()
    with open_lines(source, max_bytes=max_bytes) as lines:
        for line in lines:
            line = line.strip()
            if line.startswith(">"):
                names.append(line[1:].strip())
                pieces.append([])
                starts.append(lines.number)
            elif line and pieces:
                pieces[-1].append(_symbols(lines, line))
            elif line:
                raise lines.error("a sequence before the first >name line.")
        rows = tuple(map("".join, pieces))
        _check_rows(lines, names, rows, starts)
    return Alignment(tuple(names), rows)


def write_aligned_fasta(alignment: Alignment, target: Target, *, width: int = 60) -> None:
    """Write rows in lines of the given width."""
    with open_writer(target) as file:
        for name, row in zip(alignment.names, alignment.rows, strict=True):
            file.write(f">{trimmed(name, 'A name')}\n")
            file.writelines(row[start : start + width] + "\n" for start in range(0, len(row), width))


def read_msf(source: Source, *, max_bytes: int = MAX_BYTES) -> Alignment:
    """Read GCG's multiple sequence format; checksums and weights are not read."""
    lengths, starts, pieces = dict[str, int](), list[int](), dict[str, list[str]]()
    with open_lines(source, max_bytes=max_bytes) as lines:
        text = (stripped for line in lines if (stripped := line.strip()))
        for line in text:
            if line == "//":
                break
            if line.lower().startswith("name:"):
                match = _LISTED.fullmatch(line)
                if not match or match[1] in lengths:
                    raise lines.error("`Name: ... Len: ...` is incomplete, or a name is there twice.")
                lengths[match[1]] = integer(lines, match[2], "the length", 1)
                starts.append(lines.number)
        else:
            raise lines.error("no // line; the file is not MSF or is cut off.")
        pieces = {name: [] for name in lengths}
        for line in text:
            name, *columns = line.split()
            if name in pieces:
                pieces[name].append(_symbols(lines, "".join(columns)))
            elif not line.replace(" ", "").isdigit():  # a line of digits counts columns
                raise lines.error(f"the sequence {show(name)} is not listed above //.")
        rows = tuple(map("".join, pieces.values()))
        _check_rows(lines, list(pieces), rows, starts)
        for row, (name, length), start in zip(rows, lengths.items(), starts, strict=True):
            if len(row) != length:
                raise lines.error(f"{show(name)} is said to have {length} columns but has {len(row)}.", start)
    return Alignment(tuple(pieces), rows)


def write_msf(alignment: Alignment, target: Target) -> None:
    """Write blocks of 50 columns."""
    names = [trimmed(name, "A name", " \t") for name in alignment.names]
    rows = [row.replace("-", ".") for row in alignment.rows]
    if len(set(names)) < len(names):
        raise ValueError("A name is there twice; MSF tells sequences apart by name.")
    length, widest = len(rows[0]), max(map(len, names))
    with open_writer(target) as file:
        total = sum(map(_checksum, rows)) % 10000
        file.write(f"PileUp\n\n   MSF: {length}  Type: P  Check: {total}  ..\n\n")
        for name, row in zip(names, rows, strict=True):
            file.write(f" Name: {name:{widest}}  Len: {length}  Check: {_checksum(row)}  Weight: 1.00\n")
        file.write("\n//\n")
        for start in range(0, length, 50):
            file.write("\n")
            for name, row in zip(names, rows, strict=True):
                tens = (row[at : at + 10] for at in range(start, min(start + 50, length), 10))
                file.write(f"{name:{widest}}  {' '.join(tens)}\n")


def read_alignment_pairs(source: Source, *, max_bytes: int = MAX_BYTES) -> Iterator[AlignedPair]:
    """Iterate over the rows of a table with tabs: names sid1, sid2, gapped rows aln1, aln2, any other columns.

    Upper and lower case are kept: they may say how well residues are aligned.
    """
    with open_lines(source, max_bytes=max_bytes) as lines:
        table = lines.rows()
        header = next(table, "").split("\t")
        if not set(_PAIR_COLUMNS) <= set(header) or len(set(header)) < len(header):
            raise lines.error("the header needs the columns sid1, sid2, aln1, aln2, and no column twice.")
        for line in table:
            columns = line.split("\t")
            if len(columns) != len(header):
                raise lines.error(f"{len(columns)} columns but the header names {len(header)}.")
            values = dict(zip(header, columns, strict=True))
            sid1, sid2, *rows = [values.pop(column) for column in _PAIR_COLUMNS]
            first, second = (_symbols(lines, row) for row in rows)
            if len(first) != len(second):
                raise lines.error(f"the rows have {len(first)} and {len(second)} columns; they must agree.")
            yield AlignedPair((sid1, sid2), (first, second), values)
            lines.forget()


def write_alignment_pairs(pairs: Iterable[AlignedPair], target: Target) -> None:
    """Write a table; all pairs need the metadata of the first."""
    header: list[str] | None = None
    with open_writer(target) as file:
        for pair in pairs:
            if header is None:
                header = list(pair.metadata)
                file.write("\t".join(["sid1", "sid2", *header, "aln1", "aln2"]) + "\n")
            if list(pair.metadata) != header:
                raise ValueError(f"The pair {pair.names} has other metadata than the first; give all pairs the same.")
            columns = [*pair.names, *pair.metadata.values(), *pair.rows]
            file.write("\t".join(one_line(column, "A column", "\t") for column in columns) + "\n")
        if header is None:
            file.write("\t".join(_PAIR_COLUMNS) + "\n")


def _symbols(lines: Lines, text: str) -> str:
    row = text.translate(_GAPS)
    if not _ROW.fullmatch(row):
        raise lines.error(f"{show(text)} has symbols other than letters, * and gaps, or none.")
    return row


def _check_rows(lines: Lines, names: list[str], rows: tuple[str, ...], starts: list[int]) -> None:
    for name, row, start in zip(names, rows, starts, strict=True):
        if not row or len(row) != len(rows[0]):
            raise lines.error(f"{show(name)} has {len(row)} columns and the first row {len(rows[0])}.", start)
    if not rows:
        raise lines.error("no sequences; the file is empty.")


def _checksum(row: str) -> int:
    """GCG's checksum: symbols weighted by their position modulo 57."""
    return sum((position % 57 + 1) * ord(symbol) for position, symbol in enumerate(row.upper())) % 10000
