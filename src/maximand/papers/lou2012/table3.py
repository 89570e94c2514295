"""Table 3: the losses of partial annotations, a quarter of which is kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from maximand.papers.lou2012.problems import (
    AREA1,
    AREA2,
    SETTING,
    SIMULATED,
    UNSEEN,
    WALKED,
    ZERO,
    Problem,
    cccp,
    where,
)
from maximand.papers.outcome import Cell, Outcome, Row, Table
from maximand.papers.ping2014.trials import Paired, mean_and_half, verdict
from maximand.papers.study import Study

SHARE, STARTS = 0.25, (ZERO, WALKED)
PAPER = {
    "hinge": (0.85, 311.3), "ramp": (2.73, 165.4), "max": (2.71, 116.7), "bridge": (0.83, 254.1),
    "ramp_minus_cost": (1.14, 257.5), "max_minus_cost": (1.00, 191.5),
}  # fmt: skip
TABLE3_SCALES = {
    "quick": "Three frames of 12 simulated cells to learn from, three others to test on; 2 samples of a quarter of the "
    "events. " + SETTING,
    "standard": "All 14 pairs of frames of epidermis area1 to learn from, those of area2 to test on; 3 samples of a "
    "quarter of the events, where the paper has 10. Where CCCP starts from the perceptron, its seconds count, too. "
    + SETTING,
}


def table3(study: Study) -> Outcome:
    """Test loss and seconds of hinge, ramp, max, bridge, ramp - cost and max - cost."""
    train, test, samples = (SIMULATED, UNSEEN, 2) if study.scale == "quick" else (AREA1, AREA2, 3)
    cells = [{"train": train, "test": test, "sample": i, "start": start} for start in STARTS for i in range(samples)]
    runs = study.map(compared, cells, files=where(study, (train, test)))
    tables, remarks = [], []
    for start in STARTS:
        own = [run for run in runs if run["cell"]["start"] == start]
        losses, times = (
            {name: np.array([run[what][name] for run in own]) for name in PAPER} for what in ("losses", "times")
        )
        rows = [
            Row(
                name,
                [
                    Cell(*mean_and_half(values[name]), theirs)
                    for values, theirs in zip((losses, times), PAPER[name], strict=True)
                ],
            )
            for name in PAPER
        ]
        note = f"Means of {samples} samples with half the width of their 95 % intervals."
        tables.append(Table(f"From {start}", ["test loss (%)", "seconds"], rows, note, 2, higher_is_better=False))
        remarks += [f"From {start}: {claim}" for claim in _claims(losses, times)]
    return Outcome(tables, remarks=remarks, runs=runs)


def _claims(losses: dict[str, Any], times: dict[str, Any]) -> list[str]:
    same, found = Paired.of(losses["hinge"], losses["bridge"]), []
    near = "yes" if abs(same.mean) + same.half < 0.1 * losses["hinge"].mean() else "no"
    found.append(f"hinge and bridge are equally good (within a tenth): {near}; hinge less bridge is {same} points.")
    for name in ("ramp", "max"):
        worse = Paired.of(losses[name], 2.0 * losses["bridge"])
        ratio = float(losses[name].mean() / losses["bridge"].mean())
        found.append(
            f"{name} has about three times the loss of bridge (at least twice): {verdict([worse])}; {ratio:.2f} times."
        )
        faster = Paired.of(0.6 * times["bridge"], times[name])
        share = float(times[name].mean() / times["bridge"].mean())
        found.append(
            f"{name} takes a half to a third of the time of bridge (at most 0.6): {verdict([faster])}; "
            f"{share:.2f} of it."
        )
        better = Paired.of(losses[name], losses[f"{name}_minus_cost"])
        found.append(
            f"less the cost {name} is more accurate: {verdict([better])}; {better} points, and then "
            f"{Paired.of(losses[f'{name}_minus_cost'], losses['bridge'])} above bridge."
        )
    return found


def compared(train: str, test: str, sample: int, start: str, seed: int, files: dict[str, str]) -> Any:
    """Return test loss and training seconds of each loss."""
    problem = Problem(train, test, files)
    annotation = problem.partial(SHARE, sample, seed)
    weights, spent = problem.starts(annotation)[start]
    losses, times = {}, {}
    for name in PAPER:
        result, seconds = problem.trained(name, annotation, cccp(), weights)
        losses[name], times[name] = problem.task_loss(result.weights), seconds + spent
    return {"losses": losses, "times": times}
