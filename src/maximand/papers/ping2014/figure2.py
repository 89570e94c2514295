"""Figure 2: how (sub)gradient descent converges, and how many inference steps it takes beside CCCP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from maximand.objective import Objective
from maximand.papers.outcome import Cell, Figure, Outcome, Row, Table
from maximand.papers.ping2014.training import CONCAVE, METHODS, RANDOM, SGD, ZERO, Problem, concave_convex, descent
from maximand.papers.ping2014.trials import CHAIN, Paired, drawn, mean_and_half
from maximand.papers.study import Study
from maximand.solvers import Result
from maximand.support import Array

TOLERANCE, INNER = 1.0, 25  # of the inner loop of Algorithm 2: the length of the paper's gradient, and its steps
NEAR = 0.02  # of the way down that is left: converged
LATE = 20  # iterations that tell where a curve ends
CLOSE = 2.0  # points of error: four outputs of 200
TOO_LONG = {"LSSVM, step 0.02": ("LSSVM", 0.02)}
FIXED = "CCCP, fixed steps"
SETTINGS: dict[str, dict[str, Any]] = {
    "quick": {"iterations": 30, "trials": 1},
    "standard": {"iterations": 300, "trials": 12},
    "paper": {"iterations": 300, "trials": 100},
}
PROTOCOL = (
    "Chains of ping2014-table2 with weights for each position. The paper's steps: 0.02 for MSSVM and HCRF, 0.001 for "
    "LSSVM. An inference step is one for a training example: an iteration of SGD has two, one with the cost and one "
    "given the annotation; CCCP has one in each inner iteration and one in each round. With fixed steps its inner "
    f"loops end at a gradient of length {TOLERANCE:g} or after {INNER} steps."
)
FIGURE2_SCALES = {
    "quick": "One trial, 30 iterations. " + PROTOCOL,
    "standard": "12 trials, 300 iterations, from zero and from random weights. " + PROTOCOL,
    "paper": "100 trials, 300 iterations, from zero and from random weights. " + PROTOCOL,
}


def figure2(study: Study) -> Outcome:
    """Training error by iteration, and inference steps until convergence."""
    iterations, count = SETTINGS[study.scale]["iterations"], SETTINGS[study.scale]["trials"]
    starts = [RANDOM] if study.scale == "quick" else [ZERO, RANDOM]
    cells = [{"start": start, "trial": trial, "iterations": iterations} for start in starts for trial in range(count)]
    runs = study.map(convergence, cells)
    tables, figures, remarks = [], [], list[str]()
    for start in starts:
        own = [run for run in runs if run["cell"]["start"] == start]
        errors = {name: np.array([run["errors"][name] for run in own]) for name in own[0]["errors"]}
        steps = {name: {kind: [run["steps"][name][kind] for run in own] for kind in KINDS} for name in METHODS}
        where = f"from {'all weights zero' if start == ZERO else 'random weights'}"
        figures.append(_curves(f"Training error of (sub)gradient descent, {where}", errors))
        tables += [_settled(where, errors), _steps(where, steps, 2 * iterations)]
        remarks += _remarks(where, errors, steps)
    return Outcome(tables, figures, remarks, [{k: v for k, v in run.items() if k != "errors"} for run in runs])


def convergence(start: str, trial: int, iterations: int, seed: int) -> dict[str, Any]:
    """Train by all algorithms; return the training error by iteration, and the inference steps until convergence."""
    problem = drawn(CHAIN, False, trial, seed)
    weights = problem.start(start)
    runs = {name: (name, method.step) for name, method in METHODS.items()} | TOO_LONG
    errors, steps = {}, {}
    for title, (name, step) in runs.items():
        method = METHODS[name]
        path = list(islice(descent(problem.objective(method.loss), weights, step), iterations))
        errors[title] = [100.0 - problem.accuracy(w, method.hidden, training=True) for w in path]
        if title in METHODS:
            steps[title] = _until(problem, name, weights, path)
    return {"errors": errors, "steps": steps}


KINDS = (SGD, FIXED, CONCAVE)


def _until(problem: Problem, name: str, weights: Array, path: list[Array]) -> dict[str, float]:
    """Return the inference steps for an example until an objective is near the lowest that any algorithm found."""
    method = METHODS[name]
    objective, n = problem.objective(method.loss), len(problem.train.states)
    begins, most = objective.value(weights), 2 * len(path)
    found = {SGD: [(2.0 * (i + 1), objective.value(w)) for i, w in enumerate(path)]}
    found[FIXED] = list(_counted(objective, weights, method.step, most))
    counted = problem.objective(method.loss)
    history = concave_convex(counted, easier=False).minimize(counted, Result.start(weights)).history
    found[CONCAVE] = [(record.oracle_calls / n, record.value) for record in history]
    least = min(value for curve in found.values() for _, value in curve)
    goal = least + NEAR * (begins - least)
    return {kind: next((count for count, value in curve if value <= goal), np.inf) for kind, curve in found.items()}


def _counted(objective: Objective, weights: Array, step: float, most: int) -> Iterator[tuple[float, float]]:
    """Yield the inference steps so far and the objective, after each inner iteration of Algorithm 2."""
    count = 0
    while count < most:
        frozen, count = objective.linearized(weights), count + 1
        for _ in range(INNER):
            _, gradient = frozen.value_and_gradient(weights)
            gradient = gradient / objective.regularization
            weights, count = weights - step * gradient, count + 1
            yield float(count), objective.value(weights)
            if np.linalg.norm(gradient) <= TOLERANCE or count >= most:
                break


def _curves(title: str, errors: dict[str, Array]) -> Figure:
    curves = []
    for name, values in errors.items():
        means, halves = zip(*(mean_and_half(column) for column in values.T), strict=True)
        iterations = list(range(1, len(means) + 1))
        curves.append({"name": name, "x": iterations, "y": list(means), "band": [_finite(half) for half in halves]})
    return Figure(title, "iteration", "training error (%)", curves, "Means over trials with 95 % intervals.")


def _finite(value: float) -> float:
    return value if np.isfinite(value) else 0.0


def _settled_at(curve: Array) -> int:
    """Return the iteration after which a curve stays near the mean of its end."""
    off = np.flatnonzero(np.abs(curve - curve[-LATE:].mean()) > CLOSE)
    return int(off[-1]) + 2 if off.size else 1


def _swing(curve: Array) -> float:
    """Return how much neighbouring values of the later half differ, on average."""
    return float(np.abs(np.diff(curve[curve.size // 2 :])).mean())


def _settled(where: str, errors: dict[str, Array]) -> Table:
    measures: list[Callable[[Array], float]] = [lambda curve: float(curve[-LATE:].mean()), _settled_at, _swing]
    rows = [
        Row(name, [Cell(*mean_and_half([measure(curve) for curve in values])) for measure in measures])
        for name, values in errors.items()
    ]
    note = (
        f"Settled: from then on within {CLOSE:g} points of the mean of the last {LATE} iterations. Oscillation: mean "
    )
    note += "difference of neighbouring iterations of the later half. Means over trials with 95 % intervals."
    return Table(
        f"Training error of (sub)gradient descent, {where}", ["at the end (%)", "settled at", "oscillation (points)"],
        rows, note, 2,
    )  # fmt: skip


def _steps(where: str, steps: dict[str, dict[str, list[float]]], most: int) -> Table:
    rows = [Row(name, [Cell(float(np.median(counts))) for counts in kinds.values()]) for name, kinds in steps.items()]
    note = (
        f"Median over trials of the inference steps for each example until the objective has gone {1 - NEAR:.0%} of "
        "the way down to the lowest value that any of the three found; empty where most trials did not get there in "
        f"{most} steps. CCCP alone: rounds by cutting planes or L-BFGS, counted at the end of rounds."
    )
    return Table(f"Inference steps until convergence, {where}", list(KINDS), rows, note, 0, higher_is_better=False)


def _remarks(where: str, errors: dict[str, Array], steps: dict[str, dict[str, list[float]]]) -> list[str]:
    settled = {name: np.array([_settled_at(curve) for curve in values]) for name, values in errors.items()}
    swing = {name: [_swing(curve) for curve in values] for name, values in errors.items()}
    means = {name: float(np.median(values)) for name, values in settled.items()}
    first = means["HCRF"] <= means["MSSVM"] <= means["LSSVM"]
    long = next(iter(TOO_LONG))
    apart = Paired.of(swing[long], swing["MSSVM"])
    remarks = [
        f"MSSVM converges within 50 iterations of step 0.02 ({where}): {_yes(means['MSSVM'] <= 50)}. Its training "
        f"error settles at iteration {means['MSSVM']:.0f} in the median.",
        f"LSSVM takes about 250 iterations of step 0.001 ({where}): {_yes(means['LSSVM'] >= 150)}. It settles at "
        f"{means['LSSVM']:.0f}.",
        f"With step 0.02 LSSVM oscillates more than MSSVM ({where}): {_yes(apart.positive)}. Its training error "
        f"changes by {apart} points more from one iteration to the next.",
        f"HCRF converges fastest, then MSSVM, then LSSVM ({where}): {_yes(first)}. "
        + ", ".join(f"{name} at {means[name]:.0f}" for name in METHODS) + ".",
    ]  # fmt: skip
    for kind in (FIXED, CONCAVE):
        median = {name: (float(np.median(of[SGD])), float(np.median(of[kind]))) for name, of in steps.items()}
        fewer = [name for name, (sgd, cccp) in median.items() if cccp < sgd]
        ratio = {name: sgd / cccp for name, (sgd, cccp) in median.items()}
        shown = ", ".join(f"{cccp:.0f} against {sgd:.0f} ({name})" for name, (sgd, cccp) in median.items())
        most = max(ratio, key=lambda name: ratio[name]) == "LSSVM"
        remarks.append(
            f"{kind if kind == FIXED else 'CCCP with exact rounds'} takes fewer inference steps than SGD ({where}): "
            f"{_yes(len(fewer) == len(METHODS))}, for LSSVM most of all: {_yes(most)}. {shown}; inf: most trials did "
            "not get there."
        )
    return remarks


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
