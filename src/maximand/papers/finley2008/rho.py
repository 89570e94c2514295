"""Training with oracles that are wrong by a known factor."""

from __future__ import annotations

from typing import Any

import numpy as np

from maximand.inference import Exhaustive, RhoApproximate
from maximand.papers.finley2008.data import NAMES, SYNTHETIC, files, read
from maximand.papers.finley2008.table1 import SETTINGS
from maximand.papers.finley2008.training import account, chosen, fitted, losses, percent
from maximand.papers.outcome import Cell, Figure, Outcome, Row, Table
from maximand.papers.study import Study

RHOS = (1.0, 0.99, 0.975, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5)
RHO_SCALES = {
    "quick": "The two synthetic data sets, a fifth of their rows, five values of rho.",
    "standard": (
        "All six data sets (those of finley2008-table1). The regularisation is chosen once for each by three-fold "
        "cross-validation with the exact oracle, and kept for all rho."
    ),
    "paper": "As standard, with ten-fold cross-validation and no limit on iterations.",
}


def rho(study: Study) -> Outcome:
    """Training and test loss of exact predictions, by the factor that the separation oracle reaches."""
    quick = study.scale == "quick"
    names, rhos = (tuple(SYNTHETIC), RHOS[::2]) if quick else (NAMES, RHOS)
    shared = {"files": {name: files(study, name) for name in names}}
    choices = study.map(choose, [{"data": name, **SETTINGS[study.scale]} for name in names], **shared)
    settings = {key: SETTINGS[study.scale][key] for key in ("max_iterations", "share")}
    cells = [
        {"data": run["cell"]["data"], "rho": value, "regularization": run["chosen"], **settings}
        for run in choices
        for value in rhos
    ]
    runs = study.map(approximate_losses, cells, **shared)
    tables, figures = [], []
    for name in names:
        of_data = [run for run in runs if run["cell"]["data"] == name]
        rows = [
            Row(kind, [Cell(run[kind], run[f"{kind} error"]) for run in of_data])
            for kind in ("train loss", "test loss")
        ]
        tables.append(Table(f"{name}: wrong labels (%)", [f"rho {value:g}" for value in rhos], rows, digits=2))
        curves = [
            {
                "name": kind,
                "x": list(rhos),
                "y": [run[kind] for run in of_data],
                "band": [run[f"{kind} error"] for run in of_data],
            }
            for kind in ("train loss", "test loss")
        ]
        note = "Lower rho is a worse oracle; bands: standard errors."
        figures.append(Figure(name, "rho", "wrong labels (%)", curves, note))
    return Outcome(tables, figures, _remarks(runs, names, rhos), [*choices, *runs])


def choose(
    data: str,
    regularizations: list[float],
    folds: int,
    max_iterations: int,
    share: float,
    seed: int,
    files: dict[str, list[str]],
) -> dict[str, Any]:
    """Choose the regularisation with the exact oracle."""
    train, _ = read(data, files[data], seed, share)
    best, tried = chosen(train, Exhaustive(), regularizations, folds, max_iterations, seed)
    return {"chosen": best, "tried": tried}


def approximate_losses(
    data: str,
    rho: float,
    regularization: float,
    max_iterations: int,
    share: float,
    seed: int,
    files: dict[str, list[str]],
) -> dict[str, Any]:
    """Train with a rho-approximate oracle and predict exactly."""
    train, test = read(data, files[data], seed, share)
    model = fitted(train, RhoApproximate(rho), regularization, 4 * max_iterations)
    answer: dict[str, Any] = {}
    for kind, part in (("train", train), ("test", test)):
        answer[f"{kind} loss"], answer[f"{kind} loss error"] = percent(losses(model, part, Exhaustive())[0])
    if model.shortfall_ is not None:
        answer["intervals"] = vars(model.shortfall_.intervals(rho))
    return answer | account(model)


def _remarks(runs: list[dict[str, Any]], names: tuple[str, ...], rhos: tuple[float, ...]) -> list[str]:
    test = {name: [run["test loss"] for run in runs if run["cell"]["data"] == name] for name in names}
    mild = [test[name][i] - test[name][0] for name in names for i, value in enumerate(rhos) if 0.9 <= value < 1.0]
    strong = {name: test[name][-1] - test[name][0] for name in names}
    up = [bool((np.diff(test[name]) >= -0.05).all()) for name in names]
    return [
        f"Learning tolerates inexact inference in part: {'yes' if np.mean(mild) < 1.0 else 'no'}. Between rho 0.99 and "
        f"0.9 the test loss is {np.mean(mild):.2f} points above that of rho 1 on average, at most {max(mild):.2f}; at "
        f"rho {rhos[-1]:g} " + ", ".join(f"{loss:+.1f} ({name})" for name, loss in strong.items()) + ".",
        f"The test error does not climb smoothly: {'yes' if not all(up) else 'no'}. It rises with every step down of "
        f"rho on {sum(up)} of {len(names)} data sets.",
    ]
