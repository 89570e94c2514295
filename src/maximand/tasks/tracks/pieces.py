"""Going through a movie piece by piece, so that memory does not grow with its length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from maximand.caching import cached_property
from maximand.lineage import Lineage
from maximand.support import Bools, Ints
from maximand.tasks.tracks.events import NONE, Candidates, Events, Happening
from maximand.tasks.tracks.movies import Movie

PAIRS = 32  # of frames that are held at a time


class Progress:
    """What is decided of a movie so far.

    Where events fill slots of two frames alone, pairs of frames are problems of their own. Else windows overlap: what
    happens in the last frames of one, as many as an event spans and one more, is left to the next one, in which the
    slots that are filled already, `filled` (fate or history, detection), take no part.
    """

    def __init__(self, movie: Movie, candidates: Candidates):
        self.movie, self.candidates = movie, candidates
        self.filled: Bools = np.zeros((2, movie.n_detections), dtype=bool)
        self._links: list[Ints] = [np.empty((0, 2), dtype=np.int64)]
        self._false: list[Ints] = [np.empty(0, dtype=np.int64)]
        self._until = movie.first  # the first frame whose fates are open

    @cached_property
    def _overlap(self) -> int:
        return self.candidates.max_skip + 2

    def pieces(self) -> Iterator[list[tuple[int, int]]]:
        """Yield the first and last frames of the windows of each piece; what was found is committed in between."""
        first, last = self.movie.first, self.movie.last
        if not self.candidates.coupled:
            for start in range(first, last, PAIRS):
                stop = min(start + PAIRS, last)
                self._until = stop
                yield [(frame, frame + 1) for frame in range(start, stop)]
            return
        step = max(self.candidates.window - self._overlap, 1)
        while first < last:
            end = min(first + step + self._overlap, last)
            self._until = last + 1 if end == last else first + step
            yield [(first, end)]
            first = last if end == last else first + step

    def commit(self, found: list[Events]) -> None:
        """Take note of the events that a piece found, as far as they are settled."""
        for events in found:
            settled = events.take(self._when(events) < self._until)
            self._links.append(settled.links[1])
            self._false.append(settled.ends[settled.kinds == Happening.FALSE, 0])
            for side, columns in ((0, (0, 1)), (1, (2, 3))):
                rows = settled.ends[:, columns].ravel()
                self.filled[side, rows[rows >= 0]] = True

    def _when(self, events: Events) -> Ints:
        """Return the frame from which each event leads on."""
        source = events.ends[:, 0]
        appeared = source == NONE
        frames = self.movie.frames
        return np.where(appeared, frames[events.ends[:, 2]] - 1, frames[source])

    @property
    def lineage(self) -> Lineage:
        """What was found."""
        false = np.zeros(self.movie.n_detections, dtype=bool)
        false[np.concatenate(self._false)] = True
        return Lineage.of(self.movie.frames, np.concatenate(self._links), false)
