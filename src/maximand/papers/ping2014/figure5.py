"""Figure 5: test log-likelihoods of what (sub)gradient descent learns."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from maximand.papers.outcome import Cell, Figure, Outcome, Row, Table
from maximand.papers.ping2014.training import METHODS, RANDOM, ZERO, descent
from maximand.papers.ping2014.trials import CHAIN, Paired, drawn, mean_and_half, verdict
from maximand.papers.study import Study

EVERY = 10
PROTOCOL = (
    "Chains of ping2014-table2 (20 training and 100 test examples); the mean of log p(y | x) over test examples, "
    f"after every {EVERY} iterations of SGD with the paper's steps: 0.02 for MSSVM and HCRF, 0.001 for LSSVM."
)
FIGURE5_SCALES = {
    "quick": "One trial, 20 iterations, shared weights, from random weights. " + PROTOCOL,
    "standard": "40 trials, 250 iterations, from zero and from random weights, shared and for each position. "
    + PROTOCOL,
    "paper": "200 trials, 250 iterations, from zero and from random weights, shared and for each position. " + PROTOCOL,
}


def figure5(study: Study) -> Outcome:
    """Test log-likelihood of MSSVM, LSSVM and HCRF."""
    count, iterations = {"quick": (1, 20), "standard": (40, 250), "paper": (200, 250)}[study.scale]
    kinds = [(shared, start) for shared in (True, False) for start in (ZERO, RANDOM)]
    kinds = [(True, RANDOM)] if study.scale == "quick" else kinds
    cells = [
        {"shared": shared, "start": start, "trial": trial, "iterations": iterations}
        for shared, start in kinds
        for trial in range(count)
    ]
    runs = study.map(likelihoods, cells)
    rows, differences, figures, remarks = [], [], [], []
    for shared, start in kinds:
        own = [run for run in runs if (run["cell"]["shared"], run["cell"]["start"]) == (shared, start)]
        found = {name: np.array([run["likelihoods"][name] for run in own]) for name in METHODS}
        where = f"{'shared weights' if shared else 'weights for each position'}, from "
        where += "all weights zero" if start == ZERO else "random weights"
        rows.append(Row(where, [Cell(*mean_and_half(values[:, -1])) for values in found.values()]))
        pairs = {name: Paired.of(found["HCRF"][:, -1], found[name][:, -1]) for name in METHODS if name != "HCRF"}
        differences.append(Row(where, [Cell(*pair) for pair in pairs.values()]))
        x = list(range(EVERY, iterations + 1, EVERY))
        curves = [{"name": name, "x": x, "y": values.mean(axis=0).tolist()} for name, values in found.items()]
        figures.append(Figure(f"Test log-likelihood, {where}", "iteration", "log-likelihood", curves))
        shown = ", ".join(f"{pair} above {name}" for name, pair in pairs.items())
        answer = verdict(list(pairs.values()))
        remarks.append(f"HCRF has the highest test likelihood ({where}): {answer}. At the end it is {shown}.")
    note = f"After {iterations} iterations. Means over trials with half the width of their 95 % intervals."
    tables = [
        Table("Test log-likelihood", list(METHODS), rows, note, 2, higher_is_better=True),
        Table("HCRF less others", ["MSSVM", "LSSVM"], differences, "Paired differences on the same problems.", 2),
    ]
    return Outcome(tables, figures, remarks, [{**run, "likelihoods": _last(run["likelihoods"])} for run in runs])


def _last(likelihoods: dict[str, list[float]]) -> dict[str, float]:
    return {name: values[-1] for name, values in likelihoods.items()}


def likelihoods(shared: bool, start: str, trial: int, iterations: int, seed: int) -> dict[str, Any]:
    """Return the mean test log-likelihood of each method, every few iterations."""
    problem = drawn(CHAIN, shared, trial, seed)
    weights, found = problem.start(start), {}
    for name, method in METHODS.items():
        path = islice(descent(problem.objective(method.loss), weights, method.step), EVERY - 1, iterations, EVERY)
        found[name] = [problem.log_likelihood(w) for w in path]
    return {"likelihoods": found}
