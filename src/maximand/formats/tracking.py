"""Tracked cells: a csv of detections with columns `frame` and `track`, and man_track.txt of tracks and parents."""

from __future__ import annotations

import csv
import re
from array import array
from dataclasses import dataclass
from math import nan

import numpy as np

from maximand.formats.errors import FormatError, show
from maximand.formats.fields import integer, is_real, shortest
from maximand.formats.records import Record
from maximand.formats.sources import MAX_BYTES, Lines, Source, Target, name_of, open_lines, open_writer
from maximand.formats.tracked import AXES, Column, TrackedCells, checked_lineage
from maximand.support import Array, Ints


@dataclass(frozen=True, eq=False)
class Detections(Record):
    """A table by column: numbers, nan where empty, or text where a column does not begin with a number."""

    columns: dict[str, Array | tuple[str, ...]]

    @property
    def table(self) -> dict[str, Column]:
        """The columns by the names that all formats share: centroid-0, ... become (z,) y and x."""
        places = [name for name in self.columns if re.fullmatch("centroid-[012]", name)]
        names = dict(zip(sorted(places), AXES[-len(places) :], strict=True)) if places else {}
        names |= {"intensity_mean": "intensity", "mean_intensity": "intensity"}
        return {names.get(name, name): column for name, column in self.columns.items()} | {"frame": self.frame}

    @property
    def frame(self) -> Ints:
        """The frame of each detection."""
        return np.asarray(self.columns["frame"]).astype(np.int64)

    @property
    def track(self) -> Ints:
        """The track of each detection, -1 where it is on none, or where there is no such column."""
        if "track" not in self.columns:
            return np.full(len(self.frame), -1)
        return np.nan_to_num(np.asarray(self.columns["track"]), nan=-1.0).astype(np.int64)

    def numbers(self, *names: str) -> Array:
        """Return columns side by side, such as numbers("centroid-0", "centroid-1")."""
        return np.stack([np.asarray(self.columns[name], dtype=float) for name in names], axis=1)


@dataclass(frozen=True, eq=False)
class Tracks(Record):
    """Tracks: label, first and last frame, and the label of the parent, 0 where there is none."""

    labels: Ints
    begins: Ints
    ends: Ints
    parents: Ints

    @property
    def family(self) -> dict[int, int]:
        """The parent of each track that has one."""
        pairs = np.stack([self.labels, self.parents], axis=1)
        return dict(pairs[self.parents > 0].tolist())


@dataclass(frozen=True, eq=False)
class Tracking(Record):
    """Detections and the tracks that they are on."""

    detections: Detections
    tracks: Tracks

    @property
    def cells(self) -> TrackedCells:
        """The detections by the names that all formats share, and their lineage."""
        return self._cells("tracking")

    def _cells(self, name: str) -> TrackedCells:
        own = self.detections
        return TrackedCells(own.table, checked_lineage(name, own.frame, own.track, self.tracks.family))


def read_tracking(detections: Source, tracks: Source, *, max_bytes: int = MAX_BYTES) -> Tracking:
    """Read both tables and check that each detection lies on a known track, in one of its frames."""
    both = Tracking(read_detections(detections, max_bytes=max_bytes), read_tracks(tracks, max_bytes=max_bytes))
    spans = np.stack([both.tracks.labels, both.tracks.begins, both.tracks.ends], axis=1).tolist()
    span = {label: (begin, end) for label, begin, end in spans}
    places = zip(both.detections.frame.tolist(), both.detections.track.tolist(), strict=True)
    for row, (frame, track) in enumerate(places):
        begin, end = span.get(track, (0, -1)) if track >= 0 else (frame, frame)
        if not begin <= frame <= end:
            raise FormatError(
                name_of(detections), row + 2, f"track {track} is not in frame {frame} of {name_of(tracks)}."
            )
    both._cells(name_of(detections))
    return both


def read_detections(source: Source, *, tracked: bool = True, max_bytes: int = MAX_BYTES) -> Detections:
    """Read a csv with a header; `frame` and `track` hold whole numbers, and only `track` of them may be empty.

    Where detections are not tracked yet, there need be no column `track`.
    """
    with open_lines(source, max_bytes=max_bytes) as lines:
        rows = lines.rows()
        header = _fields(lines, next(rows, ""))
        required = {"frame", "track"} if tracked else {"frame"}
        if not required <= set(header) or len(set(header)) < len(header):
            raise lines.error(f"the header needs the columns {' and '.join(sorted(required))}, and no column twice.")
        columns = [_Column(lines, name) for name in header]
        for row in rows:
            fields = _fields(lines, row)
            if len(fields) != len(columns):
                raise lines.error(f"{len(fields)} values but {len(columns)} columns.")
            for column, text in zip(columns, fields, strict=True):
                column.append(text)
    return Detections({column.name: column.values() for column in columns})


class _Column:
    """A column so far; its first entry that is not empty says whether it holds numbers or text."""

    def __init__(self, lines: Lines, name: str) -> None:
        self.lines, self.name = lines, name
        self.numbers, self.texts, self.n_empty = array("d"), list[str](), 0

    def append(self, text: str) -> None:
        if self.name in ("frame", "track") and (text or self.name == "frame"):
            integer(self.lines, text, self.name)
        if self.texts or (text and self.n_empty == len(self.numbers) and not is_real(text)):
            self.texts = self.texts or [""] * len(self.numbers)
            self.texts.append(text)
        elif not text:
            self.numbers.append(nan)
            self.n_empty += 1
        elif is_real(text):
            self.numbers.append(float(text))
        else:
            raise self.lines.error(f"{self.name} is {show(text)}; its column holds finite numbers.")

    def values(self) -> Array | tuple[str, ...]:
        return tuple(self.texts) if self.texts else np.array(self.numbers, dtype=float)


def write_detections(detections: Detections, target: Target) -> None:
    """Write a csv."""
    columns = [
        list(values) if isinstance(values, tuple) else ["" if np.isnan(v) else shortest(v) for v in values.tolist()]
        for values in detections.columns.values()
    ]
    with open_writer(target) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(detections.columns)
        writer.writerows(zip(*columns, strict=True))


def read_tracks(source: Source, *, max_bytes: int = MAX_BYTES) -> Tracks:
    """Read `label begin end parent` rows; a parent ends before its children begin, and 0 stands for none."""
    found: dict[int, tuple[int, int, int, int]] = {}
    with open_lines(source, max_bytes=max_bytes) as lines:
        for row in lines.rows():
            fields = row.split()
            if len(fields) != 4:
                raise lines.error(f"{len(fields)} fields where `label begin end parent` must stand.")
            label, begin, end, parent = (
                integer(lines, text, what, low)
                for text, what, low in zip(fields, ("label", "begin", "end", "parent"), (0, 0, 0, 0), strict=True)
            )
            if label in found or end < begin:
                raise lines.error(f"track {label} is there twice, or ends before it begins.")
            found[label] = (label, begin, end, parent)
        for number, (label, begin, _, parent) in enumerate(found.values(), 1):
            if parent and (parent not in found or found[parent][2] >= begin):
                raise lines.error(f"the parent {parent} of track {label} is no track that ended before.", number)
    table = np.array(list(found.values()), dtype=np.int64).reshape(-1, 4)
    return Tracks(*table.T)


def write_tracks(tracks: Tracks, target: Target) -> None:
    """Write a row for each track."""
    with open_writer(target) as file:
        for row in zip(tracks.labels, tracks.begins, tracks.ends, tracks.parents, strict=True):
            file.write(" ".join(map(str, row)) + "\n")


def write_tracking(data: Tracking, detections: Target, tracks: Target) -> None:
    """Write both tables."""
    write_detections(data.detections, detections)
    write_tracks(data.tracks, tracks)


def _fields(lines: Lines, row: str) -> list[str]:
    """Split a row of a csv; quotes around a field may hide commas but no line end."""
    if '"' not in row:
        return row.split(",")
    try:
        return next(csv.reader([row], strict=True))
    except csv.Error as problem:
        raise lines.error(f"not a row of a csv ({problem}); close its quotes.") from None
