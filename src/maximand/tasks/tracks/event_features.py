"""What the score of an event depends on: one table of features for each kind of events.

Lengths are in units of the usual distance between neighbours, so that movies of any resolution are alike. Measures of
the detections are less their median and divided by their spread in the movie.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.spatial import cKDTree

from maximand.caching import cached_property
from maximand.support import Array, Ints
from maximand.tasks.tracks.events import Events, Happening
from maximand.tasks.tracks.movies import SIZES, Movie

BIAS = "bias"
FLOW_FROM = 6  # the neighbours whose motion is taken as the local flow
FAR = 10.0  # the distance of what is not there


@dataclass(frozen=True, eq=False)
class Seen:
    """Events of one kind in a movie: a, a2 are the sources, b, b2 the targets."""

    movie: Movie
    kind: Happening
    ends: Ints

    @property
    def a(self) -> Ints:
        """The sources, or the targets of events without any."""
        return np.where(self.ends[:, 0] >= 0, self.ends[:, 0], self.ends[:, 2])

    @property
    def b(self) -> Ints:
        """The targets."""
        return self.ends[:, 2]

    @property
    def fork(self) -> tuple[Ints, Ints, Ints]:
        """The one detection of a division or merge, and the two."""
        a, a2, b, b2 = self.ends.T
        return (a, b, b2) if self.kind is Happening.DIVISION else (b, a, a2)

    def at(self, rows: Ints) -> Array:
        """Return positions."""
        return self.movie.positions[rows] / self.movie.spacing

    def apart(self, rows: Ints, others: Ints) -> Array:
        """Return distances."""
        return np.linalg.norm(self.at(rows) - self.at(others), axis=1)

    @cached_property
    def distance(self) -> Array:
        """From source to target."""
        return self.apart(self.a, self.b)

    @cached_property
    def after_flow(self) -> Array:
        """From where the source would be if it had moved as its neighbours did, to the target."""
        return np.linalg.norm(self.at(self.b) - self.at(self.a) - self.flow, axis=1)

    @cached_property
    def flow(self) -> Array:
        """How the neighbours of the source moved."""
        own = self.ends[:, 0]
        return local_flow(self.movie, own, self.movie.frames[own], self.gap)

    @property
    def gap(self) -> Ints:
        """The number of frames from source to target."""
        return self.movie.frames[self.ends[:, 2]] - self.movie.frames[self.ends[:, 0]]

    @cached_property
    def sides(self) -> tuple[Array, Array]:
        """How far the two of a fork are from the one."""
        one, first, second = self.fork
        return self.apart(one, first), self.apart(one, second)

    @cached_property
    def spread(self) -> Array:
        """How far the two are from each other."""
        return self.apart(*self.fork[1:])

    @cached_property
    def middle(self) -> Array:
        """How far the middle of the two is from the one, after the local flow where the one is the source."""
        one, first, second = self.fork
        vector = (self.at(first) + self.at(second)) / 2 - self.at(one)
        if self.kind is Happening.DIVISION:
            vector = vector - self.flow
        return np.linalg.norm(vector, axis=1)

    @cached_property
    def angle(self) -> Array:
        """The cosine of the angle between the two, seen from the one: -1 where it lies between them."""
        one, first, second = self.fork
        u, v = self.at(first) - self.at(one), self.at(second) - self.at(one)
        return (u * v).sum(axis=1) / np.maximum(self.sides[0] * self.sides[1], 1e-9)

    def beyond(self, rows: Ints, distance: Array, gap: int) -> Array:
        """Return how much nearer the nearest detection so many frames on is than at a distance."""
        return distance - nearest_distance(self.movie, rows, gap) / self.movie.spacing


def nearest_distance(movie: Movie, rows: Ints, gap: int) -> Array:
    """Return how far the nearest detection so many frames later (or earlier, below 0) is."""
    found = np.full(rows.size, FAR * movie.spacing)
    for frame in np.unique(movie.frames[rows]):
        own, others = movie.frames[rows] == frame, movie.rows(int(frame) + gap)
        if others.size:
            found[own] = movie.tree(int(frame) + gap).query(movie.positions[rows[own]])[0]
    return found


def local_flow(movie: Movie, rows: Ints, frames: Ints, gaps: Ints) -> Array:
    """Return the median motion, from frame to frame, of the neighbours that are each other's nearest detection."""
    flow = np.zeros((rows.size, movie.positions.shape[1]))
    for frame, gap in {*zip(frames.tolist(), gaps.tolist(), strict=True)}:
        own = np.flatnonzero((frames == frame) & (gaps == gap))
        sources, targets = movie.rows(frame), movie.rows(frame + gap)
        there = movie.tree(frame + gap).query(movie.positions[sources])[1]
        back = movie.tree(frame).query(movie.positions[targets])[1]
        mutual = np.flatnonzero(back[there] == np.arange(sources.size))
        moved = movie.positions[targets[there[mutual]]] - movie.positions[sources[mutual]]
        ranks = np.arange(1, min(FLOW_FROM, mutual.size) + 1)
        if ranks.size:
            asked, place = np.unique(rows[own], return_inverse=True)
            near = cKDTree(movie.positions[sources[mutual]]).query(movie.positions[asked], ranks)[1]
            flow[own] = np.median(moved[near], axis=1)[place]
    return flow / movie.spacing


Feature = Callable[[Seen], Array]
SURROUNDINGS: dict[str, Feature] = {
    "crowding": lambda seen: seen.movie.crowding[seen.a],
    "border": lambda seen: seen.movie.border[seen.a],
}
LINK: dict[str, Feature] = {
    "distance": lambda seen: seen.distance,
    "distance squared": lambda seen: seen.distance**2,
    "distance after local flow": lambda seen: seen.after_flow,
    "distance after local flow, squared": lambda seen: seen.after_flow**2,
    **SURROUNDINGS,
}
FORK: dict[str, Feature] = {
    "distance to the middle of the two": lambda seen: seen.middle,
    "distance to the middle, squared": lambda seen: seen.middle**2,
    "distance between the two": lambda seen: seen.spread,
    "distance between the two, squared": lambda seen: seen.spread**2,
    "asymmetry": lambda seen: np.abs(seen.sides[0] - seen.sides[1]),
    "angle": lambda seen: seen.angle,
    **SURROUNDINGS,
}
GEOMETRY: dict[Happening, dict[str, Feature]] = {
    Happening.MOVE: {
        **LINK,
        "beyond the nearest target": lambda seen: seen.beyond(seen.a, seen.distance, 1),
        "beyond the nearest source": lambda seen: seen.beyond(seen.b, seen.distance, -1),
    },
    Happening.DIVISION: {
        **FORK,
        "daughters beyond the nearest target": lambda seen: seen.beyond(seen.a, np.maximum(*seen.sides), 1),
        "daughters beyond their nearest sources": lambda seen: (
            seen.beyond(seen.ends[:, 2], seen.sides[0], -1) + seen.beyond(seen.ends[:, 3], seen.sides[1], -1)
        ),
    },
    Happening.APPEARANCE: {
        "nearest source": lambda seen: nearest_distance(seen.movie, seen.a, -1) / seen.movie.spacing,
        **SURROUNDINGS,
    },
    Happening.DISAPPEARANCE: {
        "nearest target": lambda seen: nearest_distance(seen.movie, seen.a, 1) / seen.movie.spacing,
        **SURROUNDINGS,
    },
    Happening.MERGE: FORK,
    Happening.SKIP: {**LINK, "frames": lambda seen: seen.gap.astype(float)},
    Happening.FALSE: SURROUNDINGS,
}


def of_measure(kind: Happening, measure: str) -> dict[str, Feature]:
    """Return the features that events of a kind have of a measure."""
    if kind in (Happening.MOVE, Happening.SKIP):
        return {f"change of {measure}": lambda seen: np.abs(_of(seen, measure, seen.b) - _of(seen, measure, seen.a))}
    if kind in (Happening.DIVISION, Happening.MERGE):
        found: dict[str, Feature] = {
            f"{measure} of the one": lambda seen: _of(seen, measure, seen.fork[0]),
            f"difference of {measure} of the two": lambda seen: np.abs(
                _of(seen, measure, seen.fork[1]) - _of(seen, measure, seen.fork[2])
            ),
        }
        if measure in SIZES:
            found[f"{measure} lost or gained"] = lambda seen: _lost(seen, measure)
        return found
    return {measure: lambda seen: _of(seen, measure, seen.a)}


def _of(seen: Seen, measure: str, rows: Ints) -> Array:
    return seen.movie.measures[measure][rows]


def _lost(seen: Seen, measure: str) -> Array:
    """How much the sizes of the two together differ from that of the one."""
    one, first, second = (seen.movie.columns[measure][rows] for rows in seen.fork)
    return np.abs(np.log((first + second) / one))


@lru_cache
def columns_of(
    kinds: tuple[Happening, ...], measures: tuple[str, ...]
) -> tuple[tuple[Happening, str, Feature | None], ...]:
    """Return the columns of some kinds of events: each kind has a bias, what its geometry is, and its measures."""
    found: list[tuple[Happening, str, Feature | None]] = []
    for kind in kinds:
        own = dict(GEOMETRY[kind])
        for measure in measures:
            own |= of_measure(kind, measure)
        found += [(kind, BIAS, None), *((kind, name, feature) for name, feature in own.items())]
    return tuple(found)


@dataclass(frozen=True)
class EventFeatures:
    """The features of the kinds of events that are possible; each kind has columns of its own, and a bias."""

    kinds: tuple[Happening, ...]
    measures: tuple[str, ...]

    @property
    def columns(self) -> tuple[tuple[Happening, str, Feature | None], ...]:
        """Every column: the kind, the name and what it is."""
        return columns_of(self.kinds, self.measures)

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        return [f"{kind.name.lower()}: {name}" for kind, name, _ in self.columns]

    def __call__(self, movie: Movie, events: Events) -> Array:
        """Return the matrix (event, column), zero in the columns of other kinds."""
        matrix = np.zeros((events.kinds.size, len(self.columns)))
        for kind in self.kinds:
            own = np.flatnonzero(events.kinds == kind)
            if own.size:
                seen = Seen(movie, kind, events.ends[own])
                for column, (of, _, feature) in enumerate(self.columns):
                    if of is kind:
                        matrix[own, column] = 1.0 if feature is None else feature(seen)
        return matrix

    def places(self, kind: Happening) -> Sequence[int]:
        """Return the columns of a kind."""
        return [column for column, (of, _, _) in enumerate(self.columns) if of is kind]
