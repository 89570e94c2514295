"""What is known of the links of a movie, and what follows for its events."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from maximand.formats.tracked import TrackedCells
from maximand.formats.tracking import Tracking as TrackingRecord
from maximand.lineage import Lineage
from maximand.support import Array, Bools, Ints
from maximand.tasks.label_names import unknown
from maximand.tasks.tracks.events import NONE, Candidates, Events, Happening
from maximand.tasks.tracks.movies import Movie, columns_of

NO, UNKNOWN, YES = 0.0, -1.0, 1.0
logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class KnownLinks:
    """What is known of the detections of a movie, which are numbered as in its table.

    links: pairs (earlier, later) of the same cell, or of a mother and a daughter. absent: pairs that are not. fates:
    detections all of whose links to later ones are listed, so that one without any disappears; histories: likewise for
    earlier ones. false: detections that are no cells.
    """

    links: Ints
    absent: Ints
    fates: Bools
    histories: Bools
    false: Bools

    @classmethod
    def of(
        cls,
        n_detections: int,
        links: ArrayLike = (),
        absent: ArrayLike = (),
        *,
        fates: ArrayLike = (),
        histories: ArrayLike = (),
        false: ArrayLike = (),
    ) -> KnownLinks:
        """Return what is known from pairs of rows, and from rows or a mask for the rest."""
        masks = [_mask(rows, n_detections) for rows in (fates, histories, false)]
        return cls(_pairs(links, n_detections), _pairs(absent, n_detections), *masks)

    @classmethod
    def all_of(cls, lineage: Lineage, without: ArrayLike = ()) -> KnownLinks:
        """Return that everything is known of a lineage but for some detections."""
        known = ~_mask(without, len(lineage.frames))
        return cls(lineage.links, _pairs((), 0), known, known.copy(), lineage.false & known)

    @classmethod
    def of_tracks(
        cls, frames: ArrayLike, tracks: Iterable[Any], parents: Mapping[int, int] | None = None
    ) -> KnownLinks:
        """Return what the track of each detection says: unknown (None, NaN, -1), false (0), or its number."""
        plain = np.array([-1 if unknown(track) else int(track) for track in tracks], dtype=np.int64)
        return cls.all_of(Lineage.of_tracks(frames, plain, parents), plain < 0)

    def subset(self, chosen: Bools) -> KnownLinks:
        """Return what is known of the fates and histories of some detections."""
        links, absent = (pairs[chosen[pairs].any(axis=1)] for pairs in (self.links, self.absent))
        return KnownLinks(links, absent, self.fates & chosen, self.histories & chosen, self.false & chosen)

    def without_merges(self) -> KnownLinks:
        """Return the same with what follows where no two cells become one: a link to a detection is its history."""
        histories = self.histories.copy()
        histories[self.links[:, 1]] = True
        return replace(self, histories=histories)

    def between(self, frames: Ints, first: int, last: int) -> KnownLinks:
        """Return the same with what links over the first or the last of some frames say left open."""
        earlier, later = frames[self.links.T]
        leaves, enters = (earlier < last) & (later > last), (earlier < first) & (later > first)
        if not (leaves | enters).any():
            return self
        fates, histories = self.fates.copy(), self.histories.copy()
        fates[self.links[leaves, 0]] = histories[self.links[enters, 1]] = False
        return replace(self, links=self.links[~(leaves | enters)], fates=fates, histories=histories)

    def expressible(self, frames: Ints) -> KnownLinks:
        """Return the same with what no event expresses left open: more than two daughters, or one that comes later.

        Such things happen where a daughter is missed in the frame after the division.
        """
        earlier, later = self.links.T
        gap, n = frames[later] - frames[earlier], len(frames)
        forks = np.bincount(earlier, minlength=n)[earlier] > 1
        many = np.bincount(earlier, minlength=n)[earlier] > 2
        left_out = np.isin(earlier, earlier[many | (forks & (gap > 1))])
        if not left_out.any():
            return self
        logger.info("%d links of divisions with a daughter that is missed are left open.", left_out.sum())
        fates, histories = self.fates.copy(), self.histories.copy()
        fates[earlier[left_out]] = histories[later[left_out]] = False
        return replace(self, links=self.links[~left_out], fates=fates, histories=histories)


def _mask(rows: ArrayLike, n: int) -> Bools:
    rows = np.asarray(rows)
    if rows.dtype == bool:
        if rows.shape != (n,):
            raise ValueError(f"A mask has {rows.size} entries, but there are {n} detections.")
        return rows
    mask = np.zeros(n, dtype=bool)
    mask[rows.astype(np.int64)] = True
    return mask


def _pairs(pairs: ArrayLike, n: int) -> Ints:
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    if pairs.size and not (0 <= pairs.min() <= pairs.max() < n):
        raise ValueError(f"A link has row {pairs.max()}, but there are {n} detections.")
    return np.unique(pairs, axis=0)


def read_known(X: Any, Y: Any, movies: list[Movie]) -> list[KnownLinks]:
    """Return what is known of each movie; without Y, what the columns of the tables say."""
    if Y is None:
        return [of_table(x, movie) for x, movie in zip(X, movies, strict=True)]
    Y = list(Y)
    if len(Y) != len(movies):
        raise ValueError(f"X has {len(movies)} movies but Y has {len(Y)} lineages.")
    return [_known(y, i, movie) for i, (y, movie) in enumerate(zip(Y, movies, strict=True))]


def _known(y: Any, number: int, movie: Movie) -> KnownLinks:
    n = movie.n_detections
    if y is None:
        return KnownLinks.of(n)
    if isinstance(y, Lineage):
        y = KnownLinks.all_of(y).expressible(y.frames)
    if not isinstance(y, KnownLinks):
        raise ValueError(
            f"Y[{number}] is a {type(y).__name__}; give a Lineage, KnownLinks, or None where nothing is known."
        )
    if y.fates.size != n:
        raise ValueError(f"Y[{number}] is about {y.fates.size} detections, but {movie.name} has {n}.")
    return y


def of_table(table: Any, movie: Movie) -> KnownLinks:
    """Return what the columns `track` and `parent` of a table say, or the lineage or tracks of a record."""
    columns = columns_of(table, movie.name)
    if isinstance(table, TrackedCells):
        off = [unknown(track) or track < 0 for track in columns.get("track", ())]
        return KnownLinks.all_of(table.lineage, np.array(off, dtype=bool) if off else ()).expressible(movie.frames)
    if "track" not in columns:
        raise ValueError(f"{movie.name} has no column 'track', so nothing is known of it; give Y, or add the column.")
    if isinstance(table, TrackingRecord):
        parents = table.tracks.family
    elif "parent" in columns:
        both = zip(columns["track"], columns["parent"], strict=True)
        parents = {int(t): int(p) for t, p in both if not (unknown(t) or unknown(p)) and p > 0}
    else:
        parents = {}
    try:
        return KnownLinks.of_tracks(movie.frames, columns["track"], parents).expressible(movie.frames)
    except ValueError as problem:
        raise ValueError(f"{movie.name}: {problem}") from None


def problems(movie: Movie, known: KnownLinks, candidates: Candidates) -> list[str]:
    """Return what contradicts itself or cannot be, a sentence each."""
    found = []
    gaps = movie.frames[known.links[:, 1]] - movie.frames[known.links[:, 0]] if known.links.size else np.empty(0, int)
    for (a, b), gap in zip(known.links.tolist(), gaps.tolist(), strict=True):
        here = f"The link from {movie.where(a)} to {_short(movie, b)}"
        if gap < 1:
            found.append(f"{here} does not lead to a later frame.")
        elif gap > candidates.max_skip + 1:
            found.append(f"{here} skips {gap - 1} frames; give max_skip={gap - 1}, or leave the link out.")
        length = float(np.linalg.norm(movie.positions[a] - movie.positions[b]))
        if length > candidates.radius:
            found.append(f"{here} is {length:.4g} long; raise the radius of {candidates.radius:.4g}, or leave it out.")
    for row in np.flatnonzero(known.false & _linked(known, movie.n_detections)).tolist():
        found.append(f"{movie.where(row)} is said to be false and has a link; leave one of the two out.")
    if not candidates.false_detections:
        for row in np.flatnonzero(known.false)[:1].tolist():
            found.append(f"{movie.where(row)} is said to be false; give false_detections=True, or drop the detection.")
    for side, most, what, cure in (
        (0, 2, "fates", "a cell has one, or two daughters in the next frame"),
        (1, 2 if candidates.merges else 1, "histories", "merges=True allows for two"),
    ):
        rows, counts = np.unique(known.links[:, side], return_counts=True)
        for row in rows[counts > 1].tolist():
            others = known.links[known.links[:, side] == row, 1 - side].tolist()
            frames = {int(movie.frames[other]) for other in others}
            if len(others) > most or len(frames) > 1 or abs(frames.pop() - int(movie.frames[row])) > 1:
                names = " and ".join(_short(movie, other) for other in others)
                found.append(f"{movie.where(row)} has {len(others)} {what}, {names}; {cure}.")
    return found


def _short(movie: Movie, row: int) -> str:
    return f"id {movie.ids[row]} in frame {movie.frames[row]}"


def _linked(known: KnownLinks, n: int) -> Bools:
    return np.bincount(known.links.ravel(), minlength=n) > 0


def check_known(movie: Movie, known: KnownLinks, candidates: Candidates) -> None:
    """Refuse what contradicts itself or cannot be."""
    for problem in problems(movie, known, candidates)[:1]:
        raise ValueError(problem)


def annotated(known: KnownLinks, events: Events) -> Array:
    """Return of each event whether it takes place: 1, 0, or -1 where that is not known.

    It does not where it has a link that is absent, lacks one that is known, or adds one where all are known; it does
    where that leaves nothing else for each of its slots.
    """
    n = known.fates.size
    sides = ((events.ends[:, :2], events.ends[:, 2:], known.links, known.fates),
             (events.ends[:, 2:], events.ends[:, :2], known.links[:, ::-1], known.histories))  # fmt: skip
    false = events.kinds == Happening.FALSE
    refuted, certain = _has_any(events, known.absent, n), ~false
    for own, others, links, complete in sides:
        expected = _two_of(links, n)
        others = np.sort(others, axis=1)
        for column in range(own.shape[1]):
            rows = own[:, column]
            there = (rows >= 0) & ~false
            wanted = expected[rows]
            same = (wanted == others).all(axis=1)
            within = np.array(
                [(wanted[:, i] == NONE) | (wanted[:, i, None] == others).any(axis=1) for i in (0, 1)]
            ).all(axis=0)
            refuted |= there & (np.where(complete[rows], ~same, ~within) | known.false[rows])
            certain &= ~there | (complete[rows] & same)
    rows = events.ends[:, 0]
    real = known.fates | known.histories | _linked(known, n)
    refuted |= false & (real & ~known.false)[rows]
    certain |= false & known.false[rows]
    return np.where(refuted, NO, np.where(certain, YES, UNKNOWN))


def _two_of(links: Ints, n: int) -> Ints:
    """Return for each detection the others that it is linked to, in increasing order, filled with -1 at the front."""
    found = np.full((n, 2), NONE)
    order = np.lexsort((-links[:, 1], links[:, 0]))
    rows, others = links[order].T
    first = np.append(True, rows[1:] != rows[:-1]) if rows.size else np.empty(0, bool)
    found[rows[first], 1] = others[first]
    found[rows[~first], 0] = others[~first]
    return found


def _has_any(events: Events, pairs: Ints, n: int) -> Bools:
    """Whether an event has one of some links."""
    found = np.zeros(events.kinds.size, dtype=bool)
    if pairs.size:
        owners, links = events.links
        found[owners[np.isin(links @ (n, 1), pairs @ (n, 1))]] = True
    return found
