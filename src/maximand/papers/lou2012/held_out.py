"""Links and divisions of an experiment that took no part in training."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from maximand.estimators import CellTracker
from maximand.lineage import Lineage
from maximand.papers.lou2012.problems import AREA1, AREA2, MIGRATION, SIMULATED, UNSEEN, cells_of, where
from maximand.papers.outcome import Cell, Outcome, Row, Table
from maximand.papers.ping2014.trials import Paired, verdict
from maximand.papers.study import Study
from maximand.tracking_scores import division_rates, link_rates

RADIUS = 15.0
SIZES = {"quick": (6, 20), "standard": (15, 300)}
PROTOCOL = (
    "CellTracker with positions alone, its default loss, solver and candidates, trained on the simulator and one more "
    f"experiment. Beside it: the assignment of least total distance, where leaving a cell out costs {RADIUS:g} pixels."
)
HELD_OUT_SCALES = {
    "quick": "Trained on six frames of 20 simulated cells, tested on six others. " + PROTOCOL,
    "standard": "Trained on 15 frames of 300 simulated cells and epidermis area1 or cellmigration; tested on epidermis "
    "area2, and on cellmigration. " + PROTOCOL,
}
COLUMNS = ["link F1", "link F1 by distance", "division F1", "mean difference of link F1 over pairs of frames"]


def held_out(study: Study) -> Outcome:
    """Link and division F1 beside assignment by distance."""
    listed = [([SIMULATED], UNSEEN)] if study.scale == "quick" else [
        ([SIMULATED, AREA1], AREA2), ([SIMULATED, MIGRATION], AREA2), ([SIMULATED, AREA1], MIGRATION),
    ]  # fmt: skip
    cells = [{"train": train, "test": test, "size": list(SIZES[study.scale])} for train, test in listed]
    runs = study.map(scores, cells, files=where(study, (AREA1, MIGRATION) if study.scale != "quick" else ()))
    rows, remarks = [], []
    for run in runs:
        train, test = run["cell"]["train"], run["cell"]["test"]
        pair = Paired.of(100.0 * np.array(run["by pair"]["ours"]), 100.0 * np.array(run["by pair"]["distance"]))
        name = f"{test}, trained on {' and '.join(train)}"
        rows.append(Row(name, [Cell(run["links"]), Cell(run["by distance"]), Cell(run["divisions"]), Cell(*pair)]))
        if test == MIGRATION:
            continue
        remarks.append(f"Links of {name} are better than by distance: {verdict([pair])}; {pair} points of F1.")
        enough = "yes" if run["divisions"] > 0.5 else "no"
        remarks.append(f"Divisions of {name} have F1 above 0.5: {enough}; {run['divisions']:.3f}.")
    note = "The difference is in points, with half the width of its 95 % interval over pairs of frames."
    return Outcome([Table("Held-out scores", COLUMNS, rows, note, 3)], remarks=remarks, runs=runs)


def scores(train: list[str], test: str, size: list[int], seed: int, files: dict[str, str]) -> dict[str, Any]:
    """Train, predict and compare with the truth, pair of frames by pair of frames as well."""
    frames, cells = size
    learnt = [cells_of(name, files, (frames, cells)) for name in train]
    unseen = cells_of(test, files, (frames, cells))
    model = CellTracker(columns=(), n_threads=1).fit(learnt)
    predicted = model.predict([unseen])[0]
    nearest = by_distance(unseen.lineage.frames, _positions(unseen.table))
    track = np.asarray(unseen.table.get("track", np.zeros(len(nearest.frames))), dtype=float)
    known = ~(np.isnan(track) | (track < 0))
    truth = unseen.lineage
    return {
        "links": link_rates(truth, predicted, known=known).f1,
        "by distance": link_rates(truth, nearest, known=known).f1,
        "divisions": division_rates(truth, predicted, known=known).f1,
        "by pair": {
            name: [link_rates(_from(truth, f), _from(found, f), known=known).f1 for f in _frames_with_links(truth)]
            for name, found in (("ours", predicted), ("distance", nearest))
        },
    }


def by_distance(frames: Any, positions: Any) -> Lineage:
    """Link frame to frame so that the distances, and the radius for each cell that is left out, are least in all."""
    links = [np.empty((0, 2), dtype=np.int64)]
    for frame in range(int(frames.min()), int(frames.max())):
        earlier, later = np.flatnonzero(frames == frame), np.flatnonzero(frames == frame + 1)
        distances = np.linalg.norm(positions[earlier, None] - positions[None, later], axis=2)
        rows, columns = linear_sum_assignment(np.minimum(distances, RADIUS))
        near = distances[rows, columns] < RADIUS
        links.append(np.stack([earlier[rows[near]], later[columns[near]]], axis=1))
    return Lineage.of(frames, np.concatenate(links))


def _positions(table: Any) -> Any:
    return np.stack([np.asarray(table[axis], dtype=float) for axis in ("y", "x")], axis=1)


def _frames_with_links(truth: Lineage) -> list[int]:
    return np.unique(truth.frames[truth.links[:, 0]]).tolist()


def _from(lineage: Lineage, frame: int) -> Lineage:
    return Lineage(lineage.frames, lineage.links[lineage.frames[lineage.links[:, 0]] == frame], lineage.false)
