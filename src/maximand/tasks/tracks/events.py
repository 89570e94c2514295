"""What may have happened to the detections of a movie: candidates for events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from maximand.support import Bools, Ints
from maximand.tasks.tracks.movies import Movie

NONE = -1


class Happening(IntEnum):
    """Kinds of events; parts are in this order."""

    MOVE = 0
    DIVISION = 1
    APPEARANCE = 2
    DISAPPEARANCE = 3
    MERGE = 4
    SKIP = 5
    FALSE = 6


@dataclass(frozen=True)
class Candidates:
    """Which events are possible.

    Links lead to one of the `n_neighbors` nearest detections of the next frame, or from one of the nearest of the frame
    before, that are no farther than the radius. A division has two of the former as daughters, a merge two of the
    latter as sources. `max_skip` is how many frames a cell may be missed for. Where cells are missed or detections may
    be false, `window` frames are looked at together, else two.
    """

    radius: float
    n_neighbors: int = 6
    merges: bool = False
    false_detections: bool = False
    max_skip: int = 0
    window: int = 8

    @property
    def coupled(self) -> bool:
        """Whether events fill slots in more than two frames."""
        return self.false_detections or self.max_skip > 0

    @property
    def kinds(self) -> tuple[Happening, ...]:
        """The kinds of events that are possible."""
        asked = {
            Happening.MERGE: self.merges, Happening.SKIP: self.max_skip > 0, Happening.FALSE: self.false_detections,
        }  # fmt: skip
        return tuple(kind for kind in Happening if asked.get(kind, True))


class Events(NamedTuple):
    """Events by their ends: rows (source, second source, target, second target) of the movie, -1 where there is none.

    An event fills the fates of its sources and the histories of its targets. A false detection is its own source and
    target.
    """

    kinds: Ints
    ends: Ints

    @classmethod
    def of(cls, kind: Happening, *columns: Ints | int) -> Events:
        """Return events of one kind from the columns of their ends."""
        size = next(column.size for column in columns if isinstance(column, np.ndarray))
        ends = np.stack([np.broadcast_to(column, size) for column in columns], axis=1)
        return cls(np.full(size, int(kind)), ends.astype(np.int64))

    @classmethod
    def joined(cls, pieces: Sequence[Events]) -> Events:
        """Return all of them, kind by kind."""
        kinds, ends = np.concatenate([p.kinds for p in pieces]), np.concatenate([p.ends for p in pieces])
        order = np.argsort(kinds, kind="stable")
        return cls(kinds[order], ends[order])

    def take(self, chosen: Ints | Bools | slice) -> Events:
        """Return some of them."""
        return Events(self.kinds[chosen], self.ends[chosen])

    def touches(self, filled: Bools) -> Bools:
        """Whether an event fills a slot (fate or history, detection) that is filled already."""
        return np.asarray(((self.ends >= 0) & filled[np.array([0, 0, 1, 1]), self.ends]).any(axis=1))

    @property
    def links(self) -> tuple[Ints, Ints]:
        """The links that they make: (event, rows (earlier, later))."""
        events, pairs = [], []
        real = self.kinds != Happening.FALSE
        for source in (0, 1):
            for target in (2, 3):
                own = np.flatnonzero(real & (self.ends[:, source] >= 0) & (self.ends[:, target] >= 0))
                events.append(own)
                pairs.append(self.ends[own][:, [source, target]])
        return np.concatenate(events), np.concatenate(pairs)


def near(movie: Movie, frame: int, gap: int, candidates: Candidates, extra: Ints) -> tuple[Ints, Ints]:
    """Return the possible links from a frame to one so many frames later, each way's nearest, and those in `extra`.

    The second array has for each detection of the frame its nearest targets, the nearest first, -1 where there are no
    more.
    """
    sources, targets = movie.rows(frame), movie.rows(frame + gap)
    forward = _nearest(movie, sources, frame + gap, candidates)
    backward = _nearest(movie, targets, frame, candidates)
    a, b = np.repeat(sources, forward.shape[1]), forward.ravel()
    c, d = backward.ravel(), np.repeat(targets, backward.shape[1])
    given = extra[(movie.frames[extra[:, 0]] == frame) & (movie.frames[extra[:, 1]] == frame + gap)]
    pairs = np.concatenate([np.stack([a, b], axis=1), np.stack([c, d], axis=1), given])
    return np.unique(pairs[(pairs >= 0).all(axis=1)], axis=0), forward


def _nearest(movie: Movie, rows: Ints, frame: int, candidates: Candidates) -> Ints:
    """Return the rows of the detections of another frame that are nearest, (detection, rank)."""
    others = np.append(movie.rows(frame), NONE)
    ranks = np.arange(1, min(candidates.n_neighbors, others.size - 1) + 1)
    found = movie.tree(frame).query(movie.positions[rows], ranks, distance_upper_bound=candidates.radius)[1]
    return others[found.reshape(rows.size, ranks.size)]


def pairs_of(nearest: Ints, rows: Ints) -> tuple[Ints, Ints, Ints]:
    """Return each of the rows with every two of the detections that are nearest to it."""
    first, second = np.triu_indices(nearest.shape[1], 1)
    one, other = nearest[:, first].ravel(), nearest[:, second].ravel()
    there = (one >= 0) & (other >= 0)
    low, high = np.minimum(one, other)[there], np.maximum(one, other)[there]
    return np.repeat(rows, first.size)[there], low, high


def of_frames(movie: Movie, frame: int, candidates: Candidates, extra: Ints) -> Events:
    """Return the events between a frame and the next one; `extra` has links that are possible in any case."""
    links, forward = near(movie, frame, 1, candidates, extra)
    sources, targets = movie.rows(frame), movie.rows(frame + 1)
    parents, one, other = _forks(sources, forward, extra, targets)
    found = [
        Events.of(Happening.MOVE, links[:, 0], NONE, links[:, 1], NONE),
        Events.of(Happening.DIVISION, parents, NONE, one, other),
        Events.of(Happening.APPEARANCE, NONE, NONE, targets, NONE),
        Events.of(Happening.DISAPPEARANCE, sources, NONE, NONE, NONE),
    ]
    if candidates.merges:
        child, one, other = _forks(targets, _nearest(movie, targets, frame, candidates), extra[:, ::-1], sources)
        found.append(Events.of(Happening.MERGE, one, other, child, NONE))
    return Events.joined([piece for piece in found if piece.kinds.size])


def _forks(rows: Ints, nearest: Ints, extra: Ints, ends: Ints) -> tuple[Ints, Ints, Ints]:
    """Return every row with two of its nearest, and with two that `extra` links it to."""
    whole, one, other = pairs_of(nearest, rows)
    given = extra[np.isin(extra[:, 0], rows) & np.isin(extra[:, 1], ends)]
    twice = [given[given[:, 0] == row] for row in np.unique(given[:, 0])]
    more = [(own[0, 0], *np.sort(own[:2, 1])) for own in twice if len(own) == 2]
    forks = np.concatenate([np.stack([whole, one, other], axis=1), np.array(more, dtype=np.int64).reshape(-1, 3)])
    return tuple(np.unique(forks, axis=0).T)


def of_skips(movie: Movie, frame: int, gap: int, candidates: Candidates, extra: Ints) -> Events:
    """Return the links from a frame over some that a cell was missed in."""
    links, _ = near(movie, frame, gap, candidates, extra)
    return Events.of(Happening.SKIP, links[:, 0], NONE, links[:, 1], NONE)


def of_false(movie: Movie, frame: int) -> Events:
    """Return that each detection of a frame is false."""
    rows = movie.rows(frame)
    return Events.of(Happening.FALSE, rows, NONE, rows, NONE)


def in_window(movie: Movie, first: int, last: int, candidates: Candidates, extra: Ints) -> Events:
    """Return the events between some frames."""
    pieces = [of_frames(movie, frame, candidates, extra) for frame in range(first, last)]
    for gap in range(2, candidates.max_skip + 2):
        pieces += [of_skips(movie, frame, gap, candidates, extra) for frame in range(first, last - gap + 1)]
    if candidates.false_detections:
        pieces += [of_false(movie, frame) for frame in range(first, last + 1)]
    return Events.joined([piece for piece in pieces if piece.kinds.size])


def slots_of(
    movie: Movie, first: int, last: int, events: Events, filled: Bools | None = None
) -> tuple[Ints, Ints, int]:
    """Return pointers and slots of the events of a window, and how many slots there are.

    The fates of all frames but the last come first, then the histories of all but the first; those that are filled
    already are left out.
    """
    frames = movie.frames
    is_slot = np.stack([(frames >= first) & (frames < last), (frames > first) & (frames <= last)])
    if filled is not None:
        is_slot &= ~filled
    number = np.full(is_slot.shape, NONE)
    number[is_slot] = np.arange(is_slot.sum())
    side = np.array([0, 0, 1, 1])
    slots = np.where(events.ends >= 0, number[side, events.ends], NONE)
    used = slots >= 0
    return np.concatenate([[0], np.cumsum(used.sum(axis=1))]), slots[used], int(is_slot.sum())
