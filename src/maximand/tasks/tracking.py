"""Tracking of dividing cells by assignment: which of the possible events took place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from maximand.costs import Cost, DifferentParts
from maximand.features import Examples, PartFeatures, Rows
from maximand.inference.partition import Partitioning
from maximand.layout import take_runs
from maximand.spaces import Events as KnownEvents
from maximand.spaces import Incidence, Tracking
from maximand.support import Array, Bools, Ints
from maximand.tasks.base import LARGEST, BoundTask, Task
from maximand.tasks.label_names import LabelNames
from maximand.tasks.tracks.event_features import EventFeatures
from maximand.tasks.tracks.events import Candidates, Events, in_window, slots_of
from maximand.tasks.tracks.known import KnownLinks, annotated, check_known, read_known
from maximand.tasks.tracks.movies import Movie, read_movies

MARGIN = 1.2  # times the longest link that is known: the radius unless it is given
NO_LINKS = np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True)
class Window:
    """Some consecutive frames of a movie: an example."""

    movie: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class EventRows:
    """The events of each window of some movies with their features."""

    movies: tuple[Movie, ...]
    windows: tuple[Window, ...]
    events: Events
    features: Rows

    @property
    def n_examples(self) -> int:
        """The number of windows."""
        return len(self.windows)

    @property
    def n_bytes(self) -> int:
        """The memory that the features take."""
        return self.features.n_bytes

    def rows(self, kind: str) -> Rows:
        """Return the features of events."""
        return self.features

    def take(self, examples: Ints | slice) -> EventRows:
        """Return some windows."""
        chosen = range(self.n_examples)[examples] if isinstance(examples, slice) else examples
        events, _ = take_runs(self.features.offsets, examples)
        windows = tuple(self.windows[i] for i in chosen)
        return EventRows(self.movies, windows, self.events.take(events), self.features.take(examples))


@dataclass(frozen=True)
class TrackingTask(Task):
    """Movies are tables of detections; what is known of a movie is a `Lineage` or `KnownLinks`.

    The parameters are those of `CellTracker`.
    """

    radius: float | None = None
    n_neighbors: int = 6
    merges: bool = False
    false_detections: bool = False
    max_skip: int = 0
    window: int = 8
    position: Sequence[str] | None = None
    columns: Sequence[str] | None = None
    cost: Cost | None = None
    inference: Partitioning | None = None

    def bind(self, X: Any, Y: Any) -> tuple[BoundTracking, Examples, KnownEvents]:
        """Find the radius, the measures, and what features usually are."""
        X = list(X) if not (isinstance(X, dict) or hasattr(X, "columns")) else X
        movies = read_movies(X, self.position, self.columns)
        known = read_known(X, Y, movies)
        radius = self._longest(movies, known) if self.radius is None else float(self.radius)
        candidates = Candidates(
            radius, self.n_neighbors, self.merges, self.false_detections, self.max_skip, self.window
        )
        for movie, own in zip(movies, known, strict=True):
            check_known(movie, own, candidates)
        bound = BoundTracking(self, candidates, tuple(movies[0].columns))
        windows = [
            Window(i, first, last) for i, movie in enumerate(movies) for first, last in windows_of(movie, candidates)
        ]
        if not windows:
            raise ValueError("No movie of X has two frames; there is nothing to link.")
        rows = bound.rows(movies, windows, [own.links for own in known])
        bound = bound.standardized(rows)
        examples = bound.examples(bound.scaled(rows))
        return bound, examples, bound.annotation(examples, known)

    def _longest(self, movies: list[Movie], known: list[KnownLinks]) -> float:
        lengths = [
            np.linalg.norm(movie.positions[own.links[:, 0]] - movie.positions[own.links[:, 1]], axis=1)
            for movie, own in zip(movies, known, strict=True)
        ]
        found = np.concatenate(lengths)
        if not found.size:
            raise ValueError("No link is known, so there is no telling how far cells move; give radius.")
        return MARGIN * float(found.max()) or movies[0].spacing


def windows_of(movie: Movie, candidates: Candidates) -> list[tuple[int, int]]:
    """Return the first and last frames of windows that share one frame with the next."""
    step = max(candidates.window - 1, candidates.max_skip + 1) if candidates.coupled else 1
    return [(first, min(first + step, movie.last)) for first in range(movie.first, movie.last, step)]


class BoundTracking(BoundTask):
    """A tracking task with a radius and with what its features are less and divided by."""

    features: PartFeatures
    packed = ("task", "candidates", "measures", "shift", "spread")

    def __init__(
        self,
        task: TrackingTask,
        candidates: Candidates,
        measures: tuple[str, ...],
        shift: Array | None = None,
        spread: Array | None = None,
    ):
        self.task, self.candidates, self.measures = task, candidates, measures
        self.event_features = EventFeatures(candidates.kinds, measures)
        n = len(self.event_features.columns)
        self.features, self.cost = PartFeatures(n), task.cost or DifferentParts()
        self.names = LabelNames(np.array([kind.name.lower() for kind in candidates.kinds]))
        self.shift = np.zeros(n) if shift is None else shift
        self.spread = np.ones(n) if spread is None else spread

    @property
    def feature_names(self) -> list[str]:
        """What the weights are of."""
        return self.event_features.names

    def small_input(self) -> list[dict[str, Array]]:
        """Return two frames with two cells each."""
        axes = self.task.position or ("y", "x")
        table = {"frame": np.array([0, 0, 1, 1]), **{axis: np.array([0.0, 1.0, 0.0, 1.0]) for axis in axes}}
        return [table | {measure: np.ones(4) for measure in self.measures}]

    def movies(self, X: Any) -> list[Movie]:
        """Check tables: they need the columns of those in training."""
        X = X if isinstance(X, dict) or hasattr(X, "columns") else list(X)
        return read_movies(X, self.task.position, self.measures)

    def encode(self, X: Any) -> Examples:
        """Find the possible events of all windows."""
        movies = self.movies(X)
        windows = [
            Window(i, first, last)
            for i, movie in enumerate(movies)
            for first, last in windows_of(movie, self.candidates)
        ]
        return self.examples(self.scaled(self.rows(movies, windows, [NO_LINKS] * len(movies))))

    def some(self, movie: Movie, windows: list[tuple[int, int]], links: Ints, filled: Bools) -> Examples:
        """Return some windows of a movie in which some slots (fate or history, detection) are filled already."""
        rows = self.rows([movie], [Window(0, *window) for window in windows], [links], filled)
        return self.examples(self.scaled(rows), filled)

    def rows(
        self, movies: list[Movie], windows: Sequence[Window], links: list[Ints], filled: Bools | None = None
    ) -> EventRows:
        """Return the events of some windows with their features as they are; the links are possible in any case."""
        found, matrices = [], []
        for window in windows:
            movie = movies[window.movie]
            events = in_window(movie, window.first, window.last, self.candidates, links[window.movie])
            found.append(events if filled is None else events.take(~events.touches(filled)))
            matrices.append(self.event_features(movie, found[-1]))
        offsets = np.cumsum([0, *(events.kinds.size for events in found)])
        events = Events(np.concatenate([e.kinds for e in found]), np.concatenate([e.ends for e in found]))
        return EventRows(tuple(movies), tuple(windows), events, Rows(np.concatenate(matrices), offsets))

    def standardized(self, rows: EventRows) -> BoundTracking:
        """Return the task that knows the means and deviations of features, each among the events of its kind."""
        shift, spread = np.zeros(self.features.n_features), np.ones(self.features.n_features)
        for kind in self.event_features.kinds:
            places = list(self.event_features.places(kind))
            own = rows.features.matrix[np.ix_(rows.events.kinds == kind, places)]
            if len(own):
                deviation = own.std(axis=0)
                varies = deviation > np.maximum(1e-9 * np.abs(own).max(axis=0), 1.0 / LARGEST)
                shift[places], spread[places] = own.mean(axis=0) * varies, np.where(varies, deviation, 1.0)
        return BoundTracking(self.task, self.candidates, self.measures, shift, spread)

    def scaled(self, rows: EventRows) -> EventRows:
        """Return rows with features less their means, divided by their deviations; other kinds' columns stay zero."""
        matrix = rows.features.matrix
        for kind in self.event_features.kinds:
            places, own = list(self.event_features.places(kind)), rows.events.kinds == kind
            matrix[np.ix_(own, places)] = (matrix[np.ix_(own, places)] - self.shift[places]) / self.spread[places]
        return replace(rows, features=Rows(matrix, rows.features.offsets))

    def examples(self, rows: EventRows, filled: Bools | None = None) -> Examples:
        """Return the windows with the space of their events."""
        offsets, pointers, slots, sizes = rows.features.offsets, [np.zeros(1, np.int64)], [], []
        for window, start, stop in zip(rows.windows, offsets[:-1], offsets[1:], strict=True):
            events = rows.events.take(slice(start, stop))
            own, numbers, size = slots_of(rows.movies[window.movie], window.first, window.last, events, filled)
            pointers.append(own[1:] + pointers[-1][-1])
            slots.append(numbers)
            sizes.append(size)
        incidence = Incidence(offsets, np.concatenate(pointers), np.concatenate(slots), np.array(sizes))
        return Examples(Tracking(incidence, self.task.inference), rows)

    def annotation(self, examples: Examples, Y: Any) -> KnownEvents:
        """Return what is known of the events, from what is known of the links of each movie."""
        rows: Any = examples.inputs
        offsets, psi = rows.features.offsets, []
        for window, (start, stop) in zip(rows.windows, pairwise(offsets), strict=True):
            known = Y[window.movie] if self.candidates.merges else Y[window.movie].without_merges()
            known = known.between(rows.movies[window.movie].frames, window.first, window.last)
            psi.append(annotated(known, rows.events.take(slice(start, stop))))
        return KnownEvents(np.concatenate(psi), offsets)

    def outputs(self, examples: Examples, psi: Array) -> list[Events]:
        """Return the events of each window that take place."""
        rows: Any = examples.inputs
        offsets = rows.features.offsets
        return [rows.events.take(start + np.flatnonzero(psi[start:stop] > 0.5)) for start, stop in pairwise(offsets)]

    def shares(self, examples: Examples, mean: Array) -> list[tuple[int, Array]]:
        """Return for each window the number of its movie and rows (earlier, later, share) of links."""
        rows: Any = examples.inputs
        found = []
        for window, (start, stop) in zip(rows.windows, pairwise(rows.features.offsets), strict=True):
            owners, links = rows.events.take(slice(start, stop)).links
            pairs, place = np.unique(links, axis=0, return_inverse=True)
            share = np.bincount(place, mean[start:stop][owners], len(pairs))
            found.append((window.movie, np.column_stack([pairs, share])[share > 0]))
        return found

    def parts(self, examples: Examples, values: Array) -> list[Array]:
        """Return the values of the events of each window."""
        return examples.space.decode(values)
