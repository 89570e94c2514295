"""maximand demo: several losses on embedded data."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from maximand.cli.output import add_common_options
from maximand.compiling import working_seconds
from maximand.datasets import simulate_chains, simulate_rankings
from maximand.engine import Threads
from maximand.estimators import LabelRanker, MulticlassClassifier, SequenceTagger, StructuredPredictor
from maximand.papers import EXPERIMENTS, Cell, Experiment, Figure, Outcome, Row, Study, reproduce
from maximand.papers import Table as PaperTable
from maximand.report import write_report
from maximand.solvers import BlockFrankWolfe, NSlack, OneSlack

DIGIT_LOSSES = ("hinge", "ramp", "slack_hinge", "crf")
CHAIN_LOSSES = ("hinge", "ramp", "bridge", "crf")
RANKING_LOSSES = ("hinge", "euclidean", "entropic", "squared")
HIDDEN_SHARE = 0.5


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--out", metavar="DIR", default="maximand-demo", help="where to write results and the report")
    parser.add_argument("--no-report", action="store_true", help="show the table only")
    add_common_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Train and print a table; then run the papers' experiments at their quick scale and write the report."""
    rows: list[dict[str, Any]] = []
    if options.no_report:
        rows = losses_compared()
    else:
        out = Path(options.out)
        rows = reproduce(DEMO, Study("demo", "quick", out / "demo"))["runs"]
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        _print(rows)
    if not options.no_report:
        for name, experiment in EXPERIMENTS.items():
            print(f"Running {name} at its quick scale ...", file=sys.stderr)
            reproduce(experiment, Study(name, "quick", out / name, jobs=min(2, Threads().count)))
        print(f"The report: {write_report(out)}", file=sys.stderr if options.json else sys.stdout)
    return 0


def _print(rows: list[dict[str, Any]]) -> None:
    table = Table(title="Mean cost of predictions on held-out data")
    for name, justify in (("data", "left"), ("loss", "left"), ("test cost", "right"), ("seconds", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    table.add_column("gap to the optimum", justify="right")
    for row in rows:
        gap = "not convex" if row["gap"] is None or not row["certified"] else f"{row['gap']:.1e}, certified"
        table.add_row(row["data"], row["loss"], f"{row['test_cost']:.3f}", f"{row['seconds']:.2f}", gap)
    Console().print(table)


def losses_compared() -> list[dict[str, Any]]:
    """Return what several losses achieve on four data sets."""
    return [*digits(), *chains(hidden=0.0), *chains(hidden=HIDDEN_SHARE), *rankings()]


def demo(study: Study) -> Outcome:
    """Compare losses, and show how the gaps of the solvers close."""
    runs = losses_compared()
    data = list(dict.fromkeys(run["data"] for run in runs))
    names = list(dict.fromkeys(run["loss"] for run in runs))
    costs = {(run["loss"], run["data"]): run["test_cost"] for run in runs}
    rows = [Row(loss, [Cell(costs.get((loss, name))) for name in data]) for loss in names]
    table = PaperTable("Mean cost of predictions on held-out data", data, rows, digits=3, higher_is_better=False)
    return Outcome([table], [_convergence()], runs=runs)


def _convergence() -> Figure:
    X, Y = simulate_chains(300)
    curves = []
    for solver in (BlockFrankWolfe(tolerance=1e-4), NSlack(tolerance=1e-4), OneSlack(tolerance=1e-4)):
        model = SequenceTagger(loss="hinge", regularization=1e-2, solver=solver).fit(X, Y)
        seen = [(record.seconds, record.gap / record.value) for record in model.history_ if record.gap]
        curves.append(
            {
                "name": type(solver).__name__,
                "x": [seconds for seconds, _ in seen],
                "y": [float(np.log10(gap)) for _, gap in seen],
            }
        )
    note = "Each gap bounds how far the objective is above its minimum, so a run that ends at -4 is within 0.01 %."
    return Figure("Solvers on simulated chains", "seconds", "log10 of the certified gap / objective", curves, note)


DEMO = Experiment(
    "", "Losses and solvers on embedded data", {"quick": "Scikit-learn's digits, simulated chains and rankings."}, demo
)


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


def rankings() -> list[dict[str, Any]]:
    """Simulated rankings of five labels; the cost is the share of labels in a wrong position."""
    X, Y = simulate_rankings(600, np.random.default_rng(0))
    return [
        _row("rankings", LabelRanker(projection=loss, regularization=1e-1), X[:300], Y[:300], X[300:], Y[300:])
        for loss in RANKING_LOSSES
    ]


def _row(data: str, model: StructuredPredictor, X: Any, Y: Any, X_test: Any, Y_test: Any) -> dict[str, Any]:
    began = working_seconds()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the table says how each run ended
        model.fit(X, Y)
    return {
        "data": data,
        "loss": str(model.loss),
        "test_cost": float(np.mean(model.costs(X_test, Y_test))),
        "seconds": working_seconds() - began,
        "objective": model.objective_,
        "gap": model.gap_,
        "certified": model.gap_is_certificate_,
        "stop_reason": model.stop_reason_,
        "converged": not model.stop_reason_.startswith("max_"),
    }
