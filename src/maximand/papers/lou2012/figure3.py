"""Figures 3 and 4: test loss and training time by the share of events that is annotated."""

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
    bundle,
    cccp,
    where,
)
from maximand.papers.outcome import Cell, Figure, Outcome, Row, Table
from maximand.papers.ping2014.trials import Paired, mean_and_half, verdict
from maximand.papers.study import Study

SHARES = (0.05, 0.1, 0.25, 0.4, 0.6, 1.0)
ENOUGH, ABOVE, ABOUT_TWICE = 0.25, 0.4, (1.5, 3.0)
METHODS = {f"bridge from {start}": start for start in (ZERO, WALKED)}
PERCEPTRON = "perceptron"
FIGURE3_SCALES = {
    "quick": "Three frames of 12 simulated cells to learn from, three others to test on; shares 25 and 100 %, "
    "2 samples of events. " + SETTING,
    "standard": "All 14 pairs of frames of epidermis area1 to learn from, those of area2 to test on; 3 samples of "
    "events, where the paper has 10. Where CCCP starts from the perceptron, its seconds count, too. " + SETTING,
}


def figure3(study: Study) -> Outcome:
    """Bridge loss and perceptron on partial annotations, beside the hinge loss on full annotations."""
    quick = study.scale == "quick"
    train, test = (SIMULATED, UNSEEN) if quick else (AREA1, AREA2)
    shares, samples = ((ENOUGH, 1.0), 2) if quick else (SHARES, 3)
    cells: list[dict[str, Any]] = [{"train": train, "test": test, "share": None, "sample": 0}]
    cells += [{"train": train, "test": test, "share": s, "sample": i} for s in shares for i in range(samples)]
    full, *runs = study.map(compared, cells, files=where(study, (train, test)))
    found = {s: [run for run in runs if run["cell"]["share"] == s] for s in shares}

    def values(what: str, method: str, share: float) -> Any:
        return np.array([run[what][method] for run in found[share]])

    tables, figures, names = [], [], [*METHODS, PERCEPTRON]
    for what, title, unit in (("losses", "Test loss (%)", "%"), ("times", "Training time (s)", "seconds")):
        rows = [Row(f"{100 * s:g} %", [Cell(*mean_and_half(values(what, name, s))) for name in names]) for s in shares]
        rows.append(Row("full annotation, bundle", [Cell(full[what]["full"])] + [Cell(None)] * (len(names) - 1)))
        note = f"Means of {samples} samples with half the width of their 95 % intervals."
        tables.append(Table(title, names, rows, note, 2, higher_is_better=False))
        x = [100 * s for s in shares]
        curves = [{"name": n, "x": x, "y": [float(values(what, n, s).mean()) for s in shares]} for n in names]
        curves.append({"name": "full annotation, bundle", "x": x, "y": [full[what]["full"]] * len(x)})
        figures.append(Figure(title, "annotated share (%)", unit, curves))
    remarks = []
    for name in METHODS:
        remarks += _claims(name, {k: float(full[k]["full"]) for k in ("losses", "times")}, values, shares)
    return Outcome(tables, figures, remarks, [full, *runs])


def _claims(name: str, full: dict[str, float], values: Any, shares: tuple[float, ...]) -> list[str]:
    above = [s for s in shares if s > 0.2]
    nearly = Paired.of(1.1 * full["losses"] - values("losses", name, ENOUGH), 0.0)
    beats = Paired.of(full["losses"] - values("losses", name, ABOVE if ABOVE in shares else 1.0), 0.0)
    ratios = [mean_and_half(values("times", name, s) / full["times"]) for s in above]
    slower = [Paired.of(values("times", PERCEPTRON, s), values("times", name, s)) for s in above]
    worse = [Paired.of(values("losses", PERCEPTRON, s), values("losses", name, s)) for s in shares]
    spreads = [
        np.mean([values("times", method, s).std() / values("times", method, s).mean() for s in above])
        for method in (PERCEPTRON, name)
    ]
    twice = all(ABOUT_TWICE[0] <= mean <= ABOUT_TWICE[1] for mean, _ in ratios)
    shown = ", ".join(f"{mean:.1f} ± {half:.1f}" for mean, half in ratios)
    return [
        f"A quarter of the annotation is enough ({name}, at most a tenth above full annotation): {verdict([nearly])}; "
        f"{nearly} points are left of that.",
        f"40 % of the annotation beats full annotation ({name}): {verdict([beats])}; it is {beats} points better.",
        f"Above a share of 20 % it takes about twice as long as full annotation ({name}): {'yes' if twice else 'no'}; "
        f"{shown} times as long.",
        f"The perceptron takes longer above 20 % ({name}): {verdict(slower)}; by {', '.join(map(str, slower))} s.",
        f"Its time varies less ({name}): {'yes' if spreads[0] < spreads[1] else 'no'}; by {100 * spreads[0]:.0f} % of "
        f"its mean, against {100 * spreads[1]:.0f} %.",
        f"The perceptron is worse at every share ({name}): {verdict(worse)}; by {', '.join(map(str, worse))} points.",
    ]


def compared(train: str, test: str, share: float | None, sample: int, seed: int, files: dict[str, str]) -> Any:
    """Return test loss and training seconds of each method; without a share, on full annotation."""
    problem = Problem(train, test, files)
    if share is None:
        result, seconds = problem.trained("hinge", problem.annotation, bundle())
        return {"losses": {"full": problem.task_loss(result.weights)}, "times": {"full": seconds}}
    annotation = problem.partial(share, sample, seed)
    starts = problem.starts(annotation)
    walked, spent = starts[WALKED]
    losses, times = {PERCEPTRON: problem.task_loss(walked)}, {PERCEPTRON: spent}
    for name, start in METHODS.items():
        result, seconds = problem.trained("bridge", annotation, cccp(), starts[start][0])
        losses[name], times[name] = problem.task_loss(result.weights), seconds + starts[start][1]
    return {"losses": losses, "times": times}
