"""maximand fit: train a model on a data file."""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import Any

import numpy as np
from rich.console import Console
from sklearn.exceptions import ConvergenceWarning

from maximand.callbacks import Checkpoint, Progress
from maximand.cards.steps import first_step, predictor_of
from maximand.cli.data import add_data_options, card_with, format_of, read_dataset, sources
from maximand.cli.model_options import add_model_options, model_of
from maximand.cli.output import add_common_options, listing, show
from maximand.files.atomic import check_folder, check_other
from maximand.models import save, summary


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("data", help="training data, - for standard input")
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="where to write the model")
    add_data_options(parser)
    add_model_options(parser)
    parser.add_argument(
        "--checkpoint", metavar="FILE", help="save the run there now and then; go on from it if it exists"
    )
    parser.add_argument("--checkpoint-seconds", type=float, default=60.0, metavar="S")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    add_common_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, train, save and say how it went."""
    check_folder(options.output)
    form = format_of(options)
    for source in sources(options, form):
        check_other(options.output, source, "the training data")
    card, data = card_with(form), read_dataset(options, form)
    if 0 < len(data.labels) < card.min_labels:
        raise ValueError(f"{options.data}: there is only the {card.noun} {data.labels[0]}; training needs two or more.")
    model = model_of(options, card, form, data)
    predictor = predictor_of(model)
    callbacks: list[Any] = []
    if sys.stdout.isatty() and not (options.quiet or options.json):
        callbacks.append(Progress())
    if options.checkpoint:
        callbacks.append(Checkpoint(options.checkpoint, options.checkpoint_seconds))
    predictor.set_callbacks(*callbacks)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the summary says how the run ended
        model.fit(data.X, data.y)
    if data.columns:  # as if they had come in a data frame
        first_step(model).feature_names_in_ = np.array([column.name for column in data.columns])
    if data.decided:
        predictor.decided_ = dict(data.decided)
    save(model, options.output)
    seen = summary(predictor) | {"guarantee": predictor.guarantee_text_}

    def people(console: Console) -> None:
        gap = (
            "none"
            if seen["gap"] is None
            else f"{seen['gap'] / max(abs(seen['objective']), 1e-300):.1e} of the objective"
        )
        console.print(
            listing(
                {
                    "model": options.output, f"{card.noun}s": seen["n_classes"], "weights": seen["n_weights"],
                    "objective": f"{seen['objective']:.6g}",
                    "gap": gap + (", certified" if seen["gap_is_certificate"] else ""),
                    "guarantee": seen["guarantee"], "iterations": seen["iterations"],
                    "seconds": f"{seen['seconds']:.1f}",
                    "ended because": seen["stop_reason"],
                }
            )
        )  # fmt: skip

    show(options, {"model": options.output, **seen}, people)
    return 130 if seen["stop_reason"].startswith("interrupted") else 0  # the best weights so far are saved
