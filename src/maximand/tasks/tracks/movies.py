"""Tables of detections, checked at the door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from maximand.caching import cached_property
from maximand.formats.tracked import TrackedCells
from maximand.formats.tracking import Detections
from maximand.formats.tracking import Tracking as TrackingRecord
from maximand.support import Array, Ints
from maximand.tasks.base import LARGEST

POSITIONS = (("z", "y", "x"), ("y", "x"), ("centroid-0", "centroid-1", "centroid-2"), ("centroid-0", "centroid-1"))
NUMBERS = ("id", "label")  # columns that may number the detections of a frame
MEASURES = ("area", "intensity", "intensity_mean", "intensity_max", "eccentricity")
SIZES = ("area", "volume", "size")  # what adds up when a cell divides
NEIGHBOURS = 3


@dataclass(frozen=True, eq=False)
class Movie:
    """Detections of one movie, in the order of their table.

    name: what messages call the movie. frames: of each detection. ids: its number in its frame. positions: (detection,
    axis). columns: further measurements by name.
    """

    name: str
    frames: Ints
    ids: Ints
    positions: Array
    columns: Mapping[str, Array]

    @property
    def n_detections(self) -> int:
        """The number of detections."""
        return self.frames.size

    def where(self, row: int) -> str:
        """Say which detection a row is."""
        return f"id {self.ids[row]} in frame {self.frames[row]} of {self.name}"

    @property
    def first(self) -> int:
        """The first frame."""
        return int(self.frames.min())

    @property
    def last(self) -> int:
        """The last frame."""
        return int(self.frames.max())

    @cached_property
    def _order(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.frames, kind="stable")
        return order, np.searchsorted(self.frames[order], np.arange(self.first, self.last + 2))

    def rows(self, frame: int) -> Ints:
        """Return the detections of a frame, which need not have any."""
        order, starts = self._order
        place = frame - self.first
        return order[starts[place] : starts[place + 1]] if 0 <= place < starts.size - 1 else order[:0]

    def tree(self, frame: int) -> cKDTree:
        """Return the detections of a frame by where they are."""
        return cKDTree(self.positions[self.rows(frame)])

    @cached_property
    def _neighbours(self) -> Array:
        """How far the nearest detections of the same frame are, (detection, neighbour); infinite: none."""
        found = np.full((self.n_detections, NEIGHBOURS), np.inf)
        for frame in range(self.first, self.last + 1):
            rows = self.rows(frame)
            if rows.size > 1:
                near = self.tree(frame).query(self.positions[rows], np.arange(2, NEIGHBOURS + 2))[0]
                found[rows] = near
        return found

    @cached_property
    def spacing(self) -> float:
        """The usual distance of a detection to the nearest one in its frame: the unit of length."""
        nearest = self._neighbours[:, 0]
        known = nearest[np.isfinite(nearest) & (nearest > 0)]
        return float(np.median(known)) if known.size else 1.0

    @cached_property
    def crowding(self) -> Array:
        """How near the neighbours in the frame are: 1 where they are as far as usual."""
        distances = np.where(np.isfinite(self._neighbours), self._neighbours, 10.0 * self.spacing)
        return self.spacing / (distances.mean(axis=1) + 0.1 * self.spacing)

    @cached_property
    def border(self) -> Array:
        """How near the border of all positions is: 1 at the border, 0 far away."""
        low, high = self.positions.min(axis=0), self.positions.max(axis=0)
        distance = np.minimum(self.positions - low, high - self.positions).min(axis=1)
        return np.exp(-distance / self.spacing)

    @cached_property
    def measures(self) -> dict[str, Array]:
        """The columns, each less its median and divided by its spread in this movie; sizes as logarithms."""
        found = {}
        for name, values in self.columns.items():
            values = np.log(values) if name in SIZES else values
            middle = np.median(values)
            spread = 1.4826 * np.median(np.abs(values - middle)) or float(values.std()) or 1.0
            found[name] = (values - middle) / spread
        return found


def read_movies(X: Any, position: Sequence[str] | None, columns: Sequence[str] | None) -> list[Movie]:
    """Return the movies of a list of tables; `columns` are those that all need, None: those measures that all have."""
    if isinstance(X, Mapping) or hasattr(X, "columns"):
        raise ValueError("X is a single table; give a list of tables, one for each movie: [X].")
    tables = [columns_of(x, f"X[{i}]") for i, x in enumerate(X)]
    if not tables:
        raise ValueError("X holds no movies.")
    if columns is None:
        columns = [name for name in MEASURES if all(name in table and _numeric(table[name]) for table in tables)]
    return [movie_of(table, f"X[{i}]", position, columns) for i, table in enumerate(tables)]


def columns_of(table: Any, name: str) -> Mapping[str, Any]:
    """Return a table as columns by name: a data frame, a dict, or a record that was read."""
    if isinstance(table, TrackingRecord):
        table = table.detections
    if isinstance(table, (TrackedCells, Detections)):
        return table.table
    own = getattr(table, "columns", table)
    if isinstance(own, Mapping):
        return own
    if hasattr(table, "to_numpy"):
        return {str(column): table[column].to_numpy() for column in own}
    raise ValueError(
        f"{name} is a {type(table).__name__}; give a table of detections: a data frame or a dict of columns."
    )


def _numeric(values: Any) -> bool:
    return np.asarray(values).dtype.kind in "biuf"


def movie_of(table: Mapping[str, Any], name: str, position: Sequence[str] | None, columns: Sequence[str]) -> Movie:
    """Check a table: whole frames without a gap, ids that are there once, finite numbers."""
    frames = _whole(_column(table, "frame", name), "frame", name)
    if not frames.size:
        raise ValueError(f"{name} holds no detections.")
    numbered = next((column for column in NUMBERS if column in table), None)
    ids = np.arange(frames.size) if numbered is None else _whole(_column(table, numbered, name), numbered, name)
    axes = position or next((axes for axes in POSITIONS if all(axis in table for axis in axes)), None)
    if axes is None:
        raise ValueError(f"{name} has no columns y and x (or z, y, x; centroid-0, centroid-1): name them by position=.")
    movie = Movie(
        name, frames, ids, np.stack([_finite(table, axis, name, frames, ids) for axis in axes], axis=1),
        {column: _finite(table, column, name, frames, ids) for column in columns},
    )  # fmt: skip
    _check_frames(movie)
    return movie


def _column(table: Mapping[str, Any], column: str, name: str) -> np.ndarray:
    if column not in table:
        raise ValueError(f"{name} has no column {column!r}; it has {', '.join(map(repr, table))}.")
    return np.asarray(table[column])


def _whole(values: np.ndarray, column: str, name: str) -> Ints:
    with np.errstate(invalid="ignore"):
        whole = values.dtype.kind in "iuf" and bool((values == np.round(values.astype(float))).all())
    if not whole:
        raise ValueError(f"The column {column!r} of {name} must hold whole numbers, and none may be missing.")
    return values.astype(np.int64)


def _finite(table: Mapping[str, Any], column: str, name: str, frames: Ints, ids: Ints) -> Array:
    values = _column(table, column, name)
    if not _numeric(values):
        raise ValueError(f"The column {column!r} of {name} must hold numbers.")
    values = values.astype(float)
    if values.shape != frames.shape:
        raise ValueError(
            f"The column {column!r} of {name} has {values.size} values, but there are {frames.size} frames."
        )
    wrong = np.flatnonzero(~(np.abs(values) <= LARGEST))
    if not wrong.size and column in SIZES:
        wrong = np.flatnonzero(values <= 0)
    for row in wrong[:1]:
        needed = "above 0" if column in SIZES else f"finite and at most {LARGEST:g}"
        raise ValueError(
            f"{column} is {values[row]:g} at id {ids[row]} in frame {frames[row]} of {name}; it must be {needed}: "
            "correct it or drop the detection."
        )
    return values


def _check_frames(movie: Movie) -> None:
    for frame in range(movie.first, movie.last + 1):
        rows = movie.rows(frame)
        if not rows.size:
            raise ValueError(
                f"{movie.name} has no detections in frame {frame}, between {movie.first} and {movie.last}: count "
                "frames one after the other, or give the movie in two pieces."
            )
        numbers, counts = np.unique(movie.ids[rows], return_counts=True)
        for number in numbers[counts > 1][:1]:
            raise ValueError(f"id {number} is there twice in frame {frame} of {movie.name}; ids are unique in a frame.")
