"""Figures 5 and 6: what recycled bounds and adaptive precision save."""

from __future__ import annotations

from typing import Any

import numpy as np

from maximand.papers.lou2012.problems import (
    AREA1,
    AREA2,
    PRECISION,
    SETTING,
    SIMULATED,
    UNSEEN,
    WALKED,
    ZERO,
    Problem,
    cccp,
    where,
)
from maximand.papers.outcome import Cell, Figure, Outcome, Row, Table
from maximand.papers.ping2014.trials import Paired, mean_and_half, verdict
from maximand.papers.study import Study

SHARE, STARTS = 0.25, (WALKED, ZERO)
VARIANTS = {
    "both": {"recycle": True, "adaptive": True},
    "recycling": {"recycle": True, "adaptive": False},
    "adaptive precision": {"recycle": False, "adaptive": True},
    "neither": {"recycle": False, "adaptive": False},
}
COLUMNS = ["objective", "rounds", "passes", "passes in round 1", "seconds"]
FIGURE5_SCALES = {
    "quick": "Three frames of 12 simulated cells; bridge loss, 2 samples of a quarter of the events. " + SETTING,
    "standard": "All 14 pairs of frames of epidermis area1; bridge loss, 3 samples of a quarter of the events. A pass "
    "asks every pair of frames once, for a plane of the penalty or of the reward; seconds are those of CCCP alone. "
    + SETTING,
}


def figure5(study: Study) -> Outcome:
    """CCCP with and without recycling and adaptive precision."""
    train, test, samples = (SIMULATED, UNSEEN, 2) if study.scale == "quick" else (AREA1, AREA2, 3)
    cells = [{"train": train, "test": test, "sample": i, "start": start} for start in STARTS for i in range(samples)]
    runs = study.map(paths, cells, files=where(study, (train, test)))
    tables, figures, remarks = [], [], []
    for start in STARTS:
        own = [run["paths"] for run in runs if run["cell"]["start"] == start]
        ends = {name: np.array([_end(path[name]) for path in own]) for name in VARIANTS}
        rows = [Row(name, [Cell(*mean_and_half(column)) for column in ends[name].T]) for name in VARIANTS]
        note = f"Means of {samples} samples with half the width of their 95 % intervals."
        tables.append(Table(f"Bridge loss from {start}", COLUMNS, rows, note, 4))
        remarks += [f"From {start}: {claim}" for claim in _claims(ends)]
        for x, label in (("seconds", "seconds"), ("passes", "passes over the pairs of frames")):
            curves = [{"name": name, "x": own[0][name][x], "y": own[0][name]["values"]} for name in VARIANTS]
            figures.append(Figure(f"Objective from {start}, the first sample", label, "objective", curves))
    return Outcome(tables, figures, remarks, runs)


def _end(path: dict[str, list[float]]) -> list[float]:
    first = path["passes"][1] - path["passes"][0]
    return [path["values"][-1], len(path["values"]) - 1.0, path["passes"][-1], first, path["seconds"][-1]]


def _claims(ends: dict[str, Any]) -> list[str]:
    both, neither = ends["both"], ends["neither"]
    last = np.stack([end[:, 0] for end in ends.values()])
    apart = float(((last.max(axis=0) - last.min(axis=0)) / last.min(axis=0)).max())
    found = [
        f"all four end at the same objective (within {2 * PRECISION:g}): {'yes' if apart <= 2 * PRECISION else 'no'}; "
        f"they are at most {apart:.2g} of it apart."
    ]
    for column, what in ((2, "passes"), (4, "seconds")):
        fewer = Paired.of(neither[:, column], 5.0 * both[:, column])
        ratio = float(neither[:, column].mean() / both[:, column].mean())
        found.append(
            f"both together take a fifth of the {what}: {verdict([fewer])}; neither takes {ratio:.2f} times as many."
        )
    within = Paired.of(neither[:, 3] * 1.2, both[:, 2])
    found.append(
        f"both together take in all about as many passes as neither in its first round (at most a fifth more): "
        f"{verdict([within])}; {both[:, 2].mean():.0f} and {neither[:, 3].mean():.0f}."
    )
    return found


def paths(train: str, test: str, sample: int, start: str, seed: int, files: dict[str, str]) -> Any:
    """Return the objective after each round, beside seconds and passes."""
    problem = Problem(train, test, files)
    annotation, found = problem.partial(SHARE, sample, seed), {}
    weights = problem.starts(annotation)[start][0]
    n_pairs = problem.objective("bridge", annotation).n_examples
    for name, options in VARIANTS.items():
        result, seconds = problem.trained("bridge", annotation, cccp(**options), weights)
        worked = seconds / (result.history[-1].seconds or 1.0)  # of a processor, for each that passed
        found[name] = {
            "values": [record.value for record in result.history],
            "passes": [record.oracle_calls / n_pairs for record in result.history],
            "seconds": [record.seconds * worked for record in result.history],
        }
    return {"paths": found}
