"""Who becomes whom: a tracking of cells as links between the detections of one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from maximand.support import Bools, Ints


@dataclass(frozen=True, eq=False)
class Lineage:
    """Links between detections, which are rows of one table; `Lineage.of` and `Lineage.of_tracks` check and sort.

    A detection with links to two later ones divides, one with links from two earlier ones is a merge, and a link over
    more than one frame skips those between. A track is a run of links that neither divide nor merge, as long as it
    goes on. Tracks are numbered from 1 by frame and row of their first detections.
    """

    frames: Ints  # (n,) the frame of each detection
    links: Ints  # (m, 2) rows (earlier, later), in increasing order
    false: Bools  # (n,) detections that are no cells; no link has them

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Lineage):
            return NotImplemented
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in ("frames", "links", "false"))

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def of(cls, frames: ArrayLike, links: ArrayLike, false: ArrayLike | None = None) -> Lineage:
        """Check and sort the links; without `false` every detection is a cell."""
        frames = np.asarray(frames, dtype=np.int64)
        links = np.asarray(links, dtype=np.int64).reshape(-1, 2)
        false = np.zeros(len(frames), dtype=bool) if false is None else np.asarray(false, dtype=bool)
        links = links[np.lexsort((links[:, 1], links[:, 0]))]
        _refuse(links, np.any((links < 0) | (links >= len(frames)), axis=1), f"is beyond the {len(frames)} detections")
        _refuse(links[1:], np.all(links[1:] == links[:-1], axis=1), "is there twice")
        earlier, later = links.T
        _refuse(links, false[earlier] | false[later], "has a false detection")
        _refuse(links, frames[earlier] >= frames[later], "does not lead to a later frame")
        return cls(frames, links, false)

    @classmethod
    def of_tracks(
        cls, frames: ArrayLike, tracks: ArrayLike, parents: Mapping[int, int | Sequence[int]] | None = None
    ) -> Lineage:
        """Link the detections of each track in the order of their frames, and its last one to the first of each child.

        `tracks` holds the track of each detection, 0 where it is false and -1 where it is on no known track: such
        detections have no links. `parents` holds the parent of tracks that have one, or the several of a merge. A child
        that has no sibling is the same cell that goes on.
        """
        frames, tracks = np.asarray(frames, dtype=np.int64), np.asarray(tracks, dtype=np.int64)
        order = np.lexsort((frames, tracks))
        order = order[tracks[order] > 0]
        on, at = tracks[order], frames[order]
        same = on[1:] == on[:-1]
        for i in np.flatnonzero(same & (at[1:] == at[:-1]))[:1]:
            raise ValueError(f"Track {on[i]} has two detections in frame {at[i]}; a track has one at most.")
        labels, firsts = np.unique(on, return_index=True)
        lasts = np.append(firsts[1:], len(on)) - 1
        listed = [(k, p if isinstance(p, Sequence) else (p,)) for k, p in (parents or {}).items()]
        pairs = np.array([(child, parent) for child, own in listed for parent in own if parent], dtype=np.int64)
        pairs = pairs.reshape(-1, 2)
        for label in pairs[~np.isin(pairs, labels)][:1]:
            raise ValueError(f"Track {label} has a parent or a child but no detection.")
        children, ancestors = np.searchsorted(labels, pairs).T
        first, last = firsts[children], lasts[ancestors]
        for i in np.flatnonzero(at[first] <= at[last])[:1]:
            raise ValueError(
                f"Track {pairs[i, 0]} begins in frame {at[first[i]]} but its parent {pairs[i, 1]} ends in frame "
                f"{at[last[i]]}; a child begins after its parent ended."
            )
        within = np.stack([order[:-1][same], order[1:][same]], axis=1)
        return cls.of(frames, np.concatenate([within, np.stack([order[last], order[first]], axis=1)]), tracks == 0)

    def without(self, rows: Bools) -> Lineage:
        """Return what is left where these detections count as false."""
        return Lineage(self.frames, self.links[~rows[self.links].any(axis=1)], self.false | rows)

    @cached_property
    def plain(self) -> Bools:
        """Which links neither divide nor merge (m,)."""
        earlier, later = self.links.T
        n = len(self.frames)
        return (np.bincount(earlier, minlength=n)[earlier] == 1) & (np.bincount(later, minlength=n)[later] == 1)

    @cached_property
    def tracks(self) -> Ints:
        """The track of each detection (n,), 0 where it is false."""
        n = len(self.frames)
        earlier, later = self.links[self.plain].T
        run = np.arange(n)
        run[later] = earlier
        while (run[run] != run).any():  # each turn doubles how far back a row looks
            run = run[run]
        order = np.lexsort((np.arange(n), self.frames))
        order = order[~self.false[order]]
        _, first, place = np.unique(run[order], return_index=True, return_inverse=True)
        tracks = np.zeros(n, dtype=np.int64)
        tracks[order] = 1 + np.argsort(np.argsort(first))[place]
        return tracks

    @cached_property
    def parents(self) -> Ints:
        """The parent of each track, 0 where there is none; that of track k is at place k - 1.

        Of a track that begins with a merge it is the lowest of its parents.
        """
        earlier, later = self.tracks[self.links[~self.plain]].T
        none = np.iinfo(np.int64).max
        parents = np.full(self.n_tracks, none)
        np.minimum.at(parents, later - 1, earlier)
        return np.where(parents == none, 0, parents)

    @property
    def n_tracks(self) -> int:
        """The number of tracks."""
        return int(self.tracks.max(initial=0))

    @cached_property
    def begins(self) -> Ints:
        """The first frame of each track."""
        begins = np.full(self.n_tracks, np.iinfo(np.int64).max)
        np.minimum.at(begins, self.tracks[~self.false] - 1, self.frames[~self.false])
        return begins

    @cached_property
    def ends(self) -> Ints:
        """The last frame of each track."""
        ends = np.full(self.n_tracks, np.iinfo(np.int64).min)
        np.maximum.at(ends, self.tracks[~self.false] - 1, self.frames[~self.false])
        return ends

    @cached_property
    def divisions(self) -> Ints:
        """The rows that divide, in increasing order."""
        return np.flatnonzero(np.bincount(self.links[:, 0], minlength=len(self.frames)) > 1)


def _refuse(links: Ints, bad: Bools, problem: str) -> None:
    for earlier, later in links[bad][:1]:
        raise ValueError(f"The link from row {earlier} to row {later} {problem}.")
