"""Detections with who becomes whom: the record that every format of trackings is read to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from maximand.formats.errors import FormatError
from maximand.formats.records import Record
from maximand.lineage import Lineage
from maximand.support import Array, Ints

Column = Array | Ints | tuple[str, ...]
AXES = ("z", "y", "x")


@dataclass(frozen=True, eq=False)
class TrackedCells(Record):
    """A table of detections by column, one of them `frame`, and the lineage of its rows.

    Columns are numbers, nan where there is none, or text. The centres of cells are in `y` and `x`, and `z` where there
    are three dimensions.
    """

    table: dict[str, Column]
    lineage: Lineage

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the columns with the centres of cells."""
        return tuple(axis for axis in AXES if axis in self.table)


def checked_lineage(
    name: str, frames: Ints, tracks: Ints, parents: Mapping[int, int | Sequence[int]] | None = None
) -> Lineage:
    """Return the lineage of numbered tracks, whatever their numbers; -1 stands for none.

    Refused by frame and number are two detections of a track in one frame, and children that begin too early.
    """
    parents = parents or {}
    on = tracks >= 0
    labels, places = np.unique(tracks[on], return_inverse=True)
    order = np.lexsort((frames[on], places))
    at, of = frames[on][order], places[order]
    for i in np.flatnonzero((np.diff(at) == 0) & (np.diff(of) == 0))[:1]:
        raise FormatError(name, None, f"frame {at[i]} has track {labels[of[i]]} twice; a track is there once at most.")
    begins, ends = (dict(zip(labels.tolist(), at[which].tolist(), strict=True)) for which in _ends(of, len(labels)))
    dense = {label: place for place, label in enumerate(labels.tolist(), 1)}
    numbered: dict[int, list[int]] = {}
    for child, ancestors in parents.items():
        for parent in ancestors if isinstance(ancestors, Sequence) else (ancestors,):
            absent = next((track for track in (child, parent) if track not in dense), None)
            if absent is not None:
                raise FormatError(
                    name, None, f"track {child} has the parent {parent}, but {absent} is in no frame; leave it out."
                )
            if begins[child] <= ends[parent]:
                raise FormatError(
                    name,
                    None,
                    f"track {child} begins in frame {begins[child]}, but its parent {parent} ends in frame "
                    f"{ends[parent]}; a child begins after its parent ended.",
                )
            numbered.setdefault(dense[child], []).append(dense[parent])
    known = np.full(len(tracks), -1)
    known[on] = 1 + places
    return Lineage.of_tracks(frames, known, numbered)


def _ends(sorted_places: Ints, n: int) -> tuple[Ints, Ints]:
    """Return the first and the last position of each of the places 0, 1, ... in a sorted array."""
    every = np.arange(n)
    return np.searchsorted(sorted_places, every), np.searchsorted(sorted_places, every, side="right") - 1
