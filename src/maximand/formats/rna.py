"""RNA secondary structures: bpseq, ct and dot-bracket files, and conversions between their ways to write pairs.

Inside, a structure is an array of partners, counted from 0, with -1 for an unpaired base.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from maximand.formats.errors import show
from maximand.formats.fields import integer, trimmed
from maximand.formats.records import Record
from maximand.formats.sources import MAX_BYTES, Lines, Source, Target, open_lines, open_writer
from maximand.support import Ints

OPENING, CLOSING = "([{<", ")]}>"


@dataclass(frozen=True, eq=False)
class RnaStructure(Record):
    """A sequence of bases and the partner of each, -1 where unpaired."""

    name: str
    sequence: str
    partners: Ints

    @property
    def pairs(self) -> Ints:
        """The pairs (i, j), i < j, in increasing order."""
        return pairs_of_partners(self.partners)

    @property
    def dot_bracket(self) -> str:
        """The structure as brackets."""
        return dot_bracket_of_partners(self.partners)


def pairs_of_partners(partners: Ints) -> Ints:
    """Return the pairs (i, j), i < j, of an array of partners."""
    opening = np.flatnonzero(partners > np.arange(len(partners)))
    return np.stack([opening, partners[opening]], axis=1)


def partners_of_pairs(pairs: Iterable[tuple[int, int]], length: int) -> Ints:
    """Return the partner of each of `length` bases; a base has one partner at most."""
    partners = np.full(length, -1, dtype=np.int64)
    for i, j in pairs:
        if not (0 <= i < length and 0 <= j < length and i != j and partners[i] == partners[j] == -1):
            raise ValueError(f"The pair ({i}, {j}) is outside 0..{length - 1} or shares a base with another pair.")
        partners[i], partners[j] = j, i
    return partners


def partners_of_dot_bracket(text: str) -> Ints:
    """Return the partners that brackets () [] {} <> write; brackets of different kinds may cross."""
    partners = np.full(len(text), -1, dtype=np.int64)
    stacks: list[list[int]] = [[] for _ in OPENING]
    for i, symbol in enumerate(text):
        if symbol == ".":
            continue
        if (kind := OPENING.find(symbol)) >= 0:
            stacks[kind].append(i)
        elif (kind := CLOSING.find(symbol)) >= 0 and stacks[kind]:
            j = stacks[kind].pop()
            partners[i], partners[j] = j, i
        else:
            raise ValueError(f"{show(symbol)} at position {i + 1} closes nothing or is no bracket")
    for i in (stack[-1] for stack in stacks if stack):
        raise ValueError(f"{show(text[i])} at position {i + 1} is never closed")
    return partners


def dot_bracket_of_partners(partners: Ints) -> str:
    """Write nested pairs as (), and each pair that would cross others of its kind with the next kind of bracket."""
    symbols = ["."] * len(partners)
    stacks: list[list[int]] = [[] for _ in OPENING]  # the closing positions that are awaited
    for i, j in enumerate(partners.tolist()):
        if j > i:
            kind = next((k for k, stack in enumerate(stacks) if not stack or stack[-1] > j), None)
            if kind is None:
                raise ValueError(f"The pair ({i}, {j}) crosses pairs of all {len(OPENING)} kinds of bracket.")
            stacks[kind].append(j)
            symbols[i], symbols[j] = OPENING[kind], CLOSING[kind]
        elif j >= 0:
            next(stack for stack in stacks if stack and stack[-1] == i).pop()
    return "".join(symbols)


def read_dot_bracket(source: Source, *, max_bytes: int = MAX_BYTES) -> Iterator[RnaStructure]:
    """Iterate over records of a `>name` line, which may be left out, a sequence and its brackets.

    Blank lines and lines that begin with # are skipped, and what follows the brackets, such as an energy, is dropped.
    """
    with open_lines(source, max_bytes=max_bytes) as lines:
        name, sequence, waiting = "", "", False
        for line in lines:
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if line.startswith(">") and not sequence and not waiting:
                name, waiting = line[1:].strip(), True
            elif not sequence:
                sequence = _bases(lines, line)
            else:
                brackets = line.split()[0]
                if len(brackets) != len(sequence):
                    raise lines.error(f"{len(brackets)} brackets and dots but {len(sequence)} bases.")
                try:
                    partners = partners_of_dot_bracket(brackets)
                except ValueError as problem:
                    raise lines.error(f"{problem}; brackets must balance.") from None
                yield RnaStructure(name, sequence, partners)
                lines.forget()
                name, sequence, waiting = "", "", False
        if sequence or waiting:
            raise lines.error("the file ends inside a record; each needs a sequence and its brackets.")


def write_dot_bracket(structures: Iterable[RnaStructure], target: Target) -> None:
    """Write three lines for each structure."""
    with open_writer(target) as file:
        for structure in structures:
            file.write(f">{_title(structure)}\n{_sequence(structure)}\n{structure.dot_bracket}\n")


def read_bpseq(source: Source, *, max_bytes: int = MAX_BYTES) -> RnaStructure:
    """Read `position base partner` rows, counted from 1, 0 for unpaired; the first comment (#) is the name."""
    name, bases, partners, first = "", list[str](), list[int](), 0
    with open_lines(source, max_bytes=max_bytes) as lines:
        for row in lines.rows():
            if not first and (row.startswith("#") or ":" in row):  # old files begin with lines such as `Organism: ...`
                name = name or row.removeprefix("#").strip()
                continue
            first = first or lines.number
            fields = row.split()
            if len(fields) != 3:
                raise lines.error(f"{len(fields)} fields where `position base partner` must stand.")
            integer(lines, fields[0], "the position", len(partners) + 1, len(partners) + 1)
            bases.append(_bases(lines, fields[1], 1))
            partners.append(integer(lines, fields[2], "the partner"))
        return RnaStructure(name, "".join(bases), _partners(lines, partners, first))


def write_bpseq(structure: RnaStructure, target: Target) -> None:
    """Write a structure, its name as a comment."""
    with open_writer(target) as file:
        if structure.name:
            file.write(f"# {_title(structure)}\n")
        for i, (base, j) in enumerate(zip(_sequence(structure), structure.partners.tolist(), strict=True), 1):
            file.write(f"{i} {base} {j + 1}\n")


def read_ct(source: Source, *, max_bytes: int = MAX_BYTES) -> Iterator[RnaStructure]:
    """Iterate over connectivity tables: `length name`, then `position base before after partner position` rows."""
    with open_lines(source, max_bytes=max_bytes) as lines:
        name, bases, partners, length = "", list[str](), list[int](), 0
        for line in lines:
            fields = line.split()
            if not length and (not fields or line.startswith("#")):
                continue
            if not length:
                length = integer(lines, fields[0], "the length", 1)
                name = line.split(None, 1)[1].strip() if len(fields) > 1 else ""
                continue
            if len(fields) < 5:
                raise lines.error(f"{len(fields)} fields where `position base before after partner` must stand.")
            integer(lines, fields[0], "the position", len(partners) + 1, len(partners) + 1)
            bases.append(_bases(lines, fields[1], 1))
            partners.append(integer(lines, fields[4], "the partner"))
            if len(partners) == length:
                yield RnaStructure(name, "".join(bases), _partners(lines, partners, lines.number - length + 1))
                lines.forget()
                name, bases, partners, length = "", [], [], 0
        if length:
            raise lines.error(f"the file ends after {len(partners)} of {length} bases.")


def write_ct(structures: Iterable[RnaStructure], target: Target) -> None:
    """Write connectivity tables."""
    with open_writer(target) as file:
        for structure in structures:
            length = len(structure.sequence)
            file.write(f"{length} {_title(structure)}\n")
            for i, (base, j) in enumerate(zip(_sequence(structure), structure.partners.tolist(), strict=True), 1):
                file.write(f"{i} {base} {i - 1} {(i + 1) % (length + 1)} {j + 1} {i}\n")


def _partners(lines: Lines, partners: list[int], first: int) -> Ints:
    """Check partners, counted from 1, of bases that stand on successive lines."""
    for i, j in enumerate(partners, 1):
        if j and (j > len(partners) or j == i or partners[j - 1] != i):
            raise lines.error(f"base {i} is paired with {j}, but not base {j} with {i}.", first + i - 1)
    if not partners:
        raise lines.error("no bases; the file is empty.")
    return np.array(partners, dtype=np.int64) - 1


def _bases(lines: Lines, text: str, length: int | None = None) -> str:
    if not (text.isascii() and text.isalpha()) or len(text) != (length or len(text)):
        raise lines.error(f"{show(text)} where {'one letter' if length else 'letters'} must stand for bases.")
    return text


def _sequence(structure: RnaStructure) -> str:
    if not (structure.sequence.isascii() and structure.sequence.isalpha()):
        raise ValueError(f"The sequence {show(structure.sequence)} has symbols other than letters, or none.")
    return structure.sequence


def _title(structure: RnaStructure) -> str:
    return trimmed(structure.name, "A name")
