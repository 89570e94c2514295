"""Ordinal regression as ORCA has it: features and then a class 1..K in each row; partitions in a file of their own."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from maximand.formats.fields import integer, reals, shortest
from maximand.formats.records import Record
from maximand.formats.sources import MAX_BYTES, Source, Target, open_lines, open_writer
from maximand.support import Array, Ints

MAX_CLASSES = 10_000


@dataclass(frozen=True, eq=False)
class OrdinalRows(Record):
    """Features and classes, 1 the lowest."""

    X: Array
    y: Ints


@dataclass(frozen=True, eq=False)
class Partition(Record):
    """A published partition: its number and its test rows, counted from 0."""

    number: int
    test: Ints

    def train(self, n_rows: int) -> Ints:
        """Return the other rows."""
        return np.setdiff1d(np.arange(n_rows), self.test)


def read_ordinal(source: Source, *, max_bytes: int = MAX_BYTES) -> OrdinalRows:
    """Read rows without a header, separated by commas or white space; a class is at most MAX_CLASSES."""
    values, classes, width = array("d"), array("q"), 0
    with open_lines(source, max_bytes=max_bytes) as lines:
        for row in lines.rows():
            *texts, level = [text.strip() for text in row.split(",")] if "," in row else row.split()
            width = width if classes else len(texts)
            if len(texts) != width:
                raise lines.error(f"{len(texts)} features but the first row has {width}.")
            values.extend(reals(lines, texts))
            classes.append(integer(lines, level, "the class", 1, MAX_CLASSES))
        if not classes:
            raise lines.error("no rows; the file is empty.")
    return OrdinalRows(np.array(values).reshape(len(classes), width), np.array(classes, dtype=np.int64))


def write_ordinal(data: OrdinalRows, target: Target) -> None:
    """Write rows separated by commas."""
    with open_writer(target) as file:
        for x, level in zip(data.X.tolist(), data.y.tolist(), strict=True):
            file.write(",".join([*map(shortest, x), str(level)]) + "\n")


def read_partitions(source: Source, *, n_rows: int | None = None, max_bytes: int = MAX_BYTES) -> tuple[Partition, ...]:
    """Read a partition from each line: its number, then its test rows; n_rows refuses rows beyond the data."""
    last = 2**31 - 1 if n_rows is None else n_rows - 1
    partitions: dict[int, Partition] = {}
    with open_lines(source, max_bytes=max_bytes) as lines:
        for row in lines.rows():
            first, *texts = row.split()
            number = integer(lines, first, "the partition's number")
            test = [integer(lines, text, "a row number", 0, last) for text in texts]
            if number in partitions:
                raise lines.error(f"partition {number} is there twice.")
            if len(set(test)) < len(test):
                raise lines.error(f"partition {number} names a row twice.")
            partitions[number] = Partition(number, np.array(test, dtype=np.int64))
    return tuple(partitions.values())


def write_partitions(partitions: Iterable[Partition], target: Target) -> None:
    """Write a line for each partition."""
    with open_writer(target) as file:
        for partition in partitions:
            file.write(" ".join(map(str, [partition.number, *partition.test.tolist()])) + "\n")
