"""maximand reproduce: the papers' tables and figures."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from maximand.cli.output import add_common_options, show, table
from maximand.papers import EXPERIMENTS, Study, reproduce
from maximand.papers.outcome import markdown
from maximand.papers.study import SCALES


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("name", nargs="?", help="the experiment, as --list shows")
    parser.add_argument("--list", action="store_true", help="list the experiments")
    parser.add_argument("--scale", choices=SCALES, default="quick")
    parser.add_argument("--data", default=os.environ.get("MAXIMAND_DATA"), help="folder of data (or MAXIMAND_DATA)")
    parser.add_argument("--jobs", type=int, default=1, help="processes to use")
    parser.add_argument("--out", default="results", help="folder of results; a killed run goes on there")
    parser.add_argument("--seed", type=int, default=0)
    add_common_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List experiments, or run one and print its tables."""
    if options.list:
        return _list(options)
    if options.name not in EXPERIMENTS:
        raise ValueError(f"There is no experiment {options.name!r}; choose one of {', '.join(EXPERIMENTS)}.")
    study = Study(
        options.name, options.scale, Path(options.out) / options.name, Path(options.data) if options.data else None,
        options.jobs, options.seed,
    )  # fmt: skip
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bars:
        task = bars.add_task(options.name, total=None)
        study.progress = lambda done, total, cell: bars.update(
            task, completed=done, total=total, description=f"{options.name} {cell}"
        )
        result = reproduce(EXPERIMENTS[options.name], study)
    show(options, result, lambda console: console.print(Markdown(markdown(result))))
    return 0


def _list(options: argparse.Namespace) -> int:
    values = {
        name: {"paper": experiment.paper, "title": experiment.title, "scales": dict(experiment.scales)}
        for name, experiment in EXPERIMENTS.items()
    }
    rows = [[name, f"{experiment.title}\n{experiment.paper}"] for name, experiment in EXPERIMENTS.items()]
    show(options, values, lambda console: console.print(table(None, ["name", "what"], rows, n_text=2)))
    return 0
