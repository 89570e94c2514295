"""maximand demo: several losses on embedded data."""

from __future__ import annotations

import argparse
import json
import time
import warnings
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from maximand.datasets import simulate_chains
from maximand.estimators import MulticlassClassifier, SequenceTagger, StructuredPredictor

DIGIT_LOSSES = ("hinge", "ramp", "slack_hinge", "crf")
CHAIN_LOSSES = ("hinge", "ramp", "bridge", "crf")
HIDDEN_SHARE = 0.5


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser("demo", help="train on embedded data and show a table")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON instead of a table")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Train, then print the table."""
    rows = [*digits(), *chains(hidden=0.0), *chains(hidden=HIDDEN_SHARE)]
    if options.json:
        print(json.dumps(rows, indent=1))
        return 0
    table = Table(title="Mean cost of predictions on held-out data")
    for name, justify in (("data", "left"), ("loss", "left"), ("test cost", "right"), ("seconds", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    table.add_column("gap to the optimum", justify="right")
    for row in rows:
        gap = "not convex" if row["gap"] is None or not row["certified"] else f"{row['gap']:.1e}, certified"
        table.add_row(row["data"], row["loss"], f"{row['test_cost']:.3f}", f"{row['seconds']:.2f}", gap)
    Console().print(table)
    return 0


def digits() -> list[dict[str, Any]]:
    """Handwritten digits, one in five training labels shuffled."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16.0, y, test_size=0.5, random_state=0, stratify=y)
    rng = np.random.default_rng(0)
    shuffled = rng.choice(y.size, y.size // 5, replace=False)
    y[shuffled] = y[rng.permutation(shuffled)]
    return [
        _row(
            "digits, 20% shuffled",
            MulticlassClassifier(loss=loss, regularization=1e-2),
            X,
            y,
            X_test,
            y_test,
        )
        for loss in DIGIT_LOSSES
    ]


def chains(hidden: float) -> list[dict[str, Any]]:
    """Simulated tag sequences, with a share of the training tags hidden."""
    X, Y = simulate_chains(400)
    rng = np.random.default_rng(1)
    known = [[None if rng.random() < hidden else int(tag) for tag in y] for y in Y[:200]]
    name = f"chains, {hidden:.0%} hidden" if hidden else "chains"
    return [
        _row(name, SequenceTagger(loss=loss, regularization=1e-2), X[:200], known, X[200:], Y[200:])
        for loss in CHAIN_LOSSES
    ]


def _row(data: str, model: StructuredPredictor, X: Any, Y: Any, X_test: Any, Y_test: Any) -> dict[str, Any]:
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the table says how each run ended
        model.fit(X, Y)
    return {
        "data": data,
        "loss": str(model.loss),
        "test_cost": float(np.mean(model.costs(X_test, Y_test))),
        "seconds": time.perf_counter() - began,
        "objective": model.objective_,
        "gap": model.gap_,
        "certified": model.gap_is_certificate_,
        "stop_reason": model.stop_reason_,
    }
