"""A look at movies before training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from maximand.cards.checkup import Checkup, Finding, of_timed_parts
from maximand.cards.data import Dataset
from maximand.cards.findings import imbalance, rare
from maximand.cards.options import Options
from maximand.support import Ints
from maximand.tasks.tracking import MARGIN
from maximand.tasks.tracks.events import Candidates, Happening
from maximand.tasks.tracks.known import KnownLinks, problems
from maximand.tasks.tracks.movies import movie_of


def happenings(frames: Ints, known: KnownLinks) -> Counter[str]:
    """Count the events that are known, by their kinds."""
    n = len(frames)
    fates, histories = (np.bincount(known.links[:, side], minlength=n) for side in (0, 1))
    inner = {"fate": frames < frames.max(initial=0), "history": frames > frames.min(initial=0)}
    found = {
        Happening.DIVISION: (fates > 1).sum(),
        Happening.MOVE: (fates[known.links[:, 0]] == 1).sum(),
        Happening.APPEARANCE: (known.histories & (histories == 0) & inner["history"] & ~known.false).sum(),
        Happening.DISAPPEARANCE: (known.fates & (fates == 0) & inner["fate"] & ~known.false).sum(),
    }
    return Counter({kind.name.lower(): int(count) for kind, count in found.items()})


def counts(data: Dataset) -> Counter[Any]:
    """Count the events of all movies."""
    return sum((happenings(np.asarray(x["frame"]), known) for x, known in zip(data.X, data.y, strict=True)), Counter())


def sizes(data: Dataset, counts: Counter[Any]) -> dict[str, Any]:
    """Say how many detections there are."""
    return {"detections": sum(len(x["frame"]) for x in data.X)}


def facts(data: Dataset, counts: Counter[Any]) -> dict[str, Any]:
    """Say how much is unknown."""
    return {"detections without a track": sum(int((~known.fates & ~known.histories).sum()) for known in data.y)}


def findings(data: Dataset, counts: Counter[Any], options: Options) -> Iterator[Finding]:
    """Look at frames, ids and links: all that training would refuse."""
    for number, (x, known) in enumerate(zip(data.X, data.y, strict=True)):
        movie = movie_of(x, f"movie {number + 1}", None, ())
        ends = movie.positions[known.links]
        longest = float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).max(initial=0.0))
        candidates = Candidates(
            options["radius"] or MARGIN * longest, merges=options["merges"],
            false_detections=options["false_detections"], max_skip=options["max_skip"],
        )  # fmt: skip
        for problem in problems(movie, known, candidates):
            yield Finding(problem, "Training would refuse it.", fatal=True)
    if not counts:
        yield Finding("No link is known.", "Add a column track, and parent where cells divide.", fatal=True)
        return
    yield from rare(counts, "event")
    yield from imbalance(counts, "event", "F1")


def rows(model: Any, data: Dataset) -> tuple[Any, Any]:
    """Return the movies as they are, and the features of their events."""
    _, examples, _ = model._unbound().bind(data.X, data.y)
    return data.X, examples.inputs.features.matrix


def digests(data: Dataset) -> Iterator[int]:
    """Yield a number for each movie."""
    for x in data.X:
        yield hash(tuple(np.asarray(x[name]).tobytes() for name in sorted(x) if name not in ("track", "parent")))


CHECKUP = Checkup(counts, findings, sizes, facts, rows, digests, of_timed_parts)
