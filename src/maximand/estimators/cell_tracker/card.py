"""The card of `CellTracker`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from maximand.cards.answers import scores_by_label
from maximand.cards.card import Card, Scored
from maximand.cards.data import Dataset, Unlabelled
from maximand.cards.options import Option, Options
from maximand.estimators.cell_tracker.checkup import CHECKUP
from maximand.estimators.cell_tracker.estimator import CellTracker
from maximand.estimators.cell_tracker.reading import FORMATS, ids_of
from maximand.inference.partition import Partitioning
from maximand.lineage import Lineage
from maximand.support import Ints
from maximand.tasks.base import LARGEST
from maximand.tasks.tracking import BoundTracking, TrackingTask
from maximand.tasks.tracks.events import Candidates
from maximand.tasks.tracks.known import KnownLinks
from maximand.tracking_scores import division_rates, graph_errors, link_rates

OPTIONS = (
    Option("--radius", "how far a cell may move from frame to frame (default: by the longest link)", float),
    Option("--max-skip", "for how many frames in a row a cell may be missed", int, 0),
    Option("--merges", "let two cells become one detection", bool, False),
    Option("--false-detections", "let detections be false", bool, False),
)


def build(data: Dataset, settings: dict[str, Any], options: Options) -> Any:
    """Return a tracker."""
    return CellTracker(**{option.name: options[option.name] for option in OPTIONS}, **settings)


def check(task: BoundTracking) -> None:
    """Refuse means and deviations that do not fit the features."""
    sizes = {np.shape(task.shift), np.shape(task.spread)}
    if sizes != {(task.features.n_features,)}:
        raise ValueError("The means of features do not fit their number.")
    if not (
        (np.abs(task.shift) <= LARGEST).all() and ((task.spread >= 1.0 / LARGEST) & (task.spread <= LARGEST)).all()
    ):
        raise ValueError("The means of features are too large, or their deviations not positive.")
    if not task.candidates.radius > 0 or task.candidates.n_neighbors < 1 or task.candidates.window < 2:
        raise ValueError("The candidates are none.")


def lines(predictor: Any, unlabelled: Unlabelled, answers: Any, means: Any, as_json: bool) -> Iterator[str]:
    """Yield for each movie its links as JSON, or a table of tracks; the share of the link to each detection."""
    for number, (table, lineage, shares) in enumerate(zip(unlabelled.X, answers, means, strict=True)):
        if as_json:
            found: dict[str, Any] = {"links": lineage.links.tolist(), "tracks": lineage.tracks.tolist()}
            found["parents"] = {int(t): int(p) for t, p in enumerate(lineage.parents, 1) if p}
            if shares is not None:
                found["shares"] = [[int(a), int(b), round(share, 6)] for a, b, share in shares.tolist()]
            yield json.dumps(found)
            continue
        if not number:
            yield "movie,frame,id,track,parent" + ("" if shares is None else ",share")
        parents = np.append(0, lineage.parents)[lineage.tracks]
        columns = [lineage.frames, ids_of(table), lineage.tracks, parents]
        rows = ([number, *row] for row in np.column_stack(columns).tolist())
        ends = [""] * len(lineage.frames) if shares is None else [f",{share:.6f}" for share in _into(lineage, shares)]
        yield from (",".join(map(str, row)) + end for row, end in zip(rows, ends, strict=True))


def _into(lineage: Lineage, shares: Any) -> Any:
    """Return the largest share of a link to each detection."""
    found = np.zeros(len(lineage.frames))
    np.maximum.at(found, shares[:, 1].astype(np.int64), shares[:, 2])
    return found


def scores(predictor: Any, answers: Any, data: Dataset) -> Scored:
    """Compare links, divisions and whole graphs, where detections are annotated."""
    links, kinds, totals, tra = [], list[tuple[str, str]](), np.zeros(3), []
    for lineage, known in zip(answers, data.y, strict=True):
        truth, there = Lineage.of(lineage.frames, known.links, known.false), known.fates | known.histories
        links.append(link_rates(truth, lineage, known=there))
        divisions = division_rates(truth, lineage, known=there)
        totals += divisions.correct, divisions.predicted, divisions.true
        tra.append(graph_errors(truth, lineage, known=there).tra)
        kinds += zip(*(_happened(one, known) for one in (truth, lineage)), strict=True)
    correct, predicted, true = (sum(getattr(rate, name) for rate in links) for name in ("correct", "predicted", "true"))
    if not true:
        raise ValueError(f"{data.source} holds no link that is known; there is nothing to compare predictions with.")
    values = {
        "examples": len(links), "links": true, "link precision": correct / max(predicted, 1),
        "link recall": correct / true, "link F1": 2 * correct / (predicted + true),
        "division F1": float(2 * totals[0] / max(totals[1] + totals[2], 1)), "TRA": float(np.mean(tra)),
    }  # fmt: skip
    by_kind = scores_by_label(*map(list, zip(*kinds, strict=True)))
    return values, {str(kind): by_kind.get(str(kind), _NOTHING) for kind in predictor.classes_}


_NOTHING = {"precision": 0.0, "recall": 0.0, "f1": 0.0, "count": 0}


def _happened(lineage: Lineage, known: KnownLinks) -> list[str]:
    """Return what became of each detection whose fate is annotated, and how each whose history is came to be."""
    frames = lineage.frames
    fates, histories = (np.bincount(lineage.links[:, side], minlength=len(frames)) for side in (0, 1))
    first, last = frames.min(initial=0), frames.max(initial=0)
    return [
        *(_kind(fates[i], "disappearance", "division") for i in np.flatnonzero(known.fates & (frames < last))),
        *(_kind(histories[i], "appearance", "merge") for i in np.flatnonzero(known.histories & (frames > first))),
    ]


def _kind(count: Ints, none: str, several: str) -> str:
    return none if count == 0 else "move" if count == 1 else several


def part_name(predictor: Any, kind: str, part: int) -> tuple[str, str]:
    """Features say what they are of."""
    return "", ""


CARD = Card(
    CellTracker,
    TrackingTask,
    BoundTracking,
    check=check,
    formats=FORMATS,
    build=build,
    lines=lines,
    scores=scores,
    checkup=CHECKUP,
    stored=(Candidates, Partitioning),
    options=OPTIONS,
    soft="predict_soft",
    part_name=part_name,
    noun="event",
    mean_loss="euclidean",
)
