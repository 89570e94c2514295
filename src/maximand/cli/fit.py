"""maximand fit: train a model on a data file."""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import Any

import numpy as np
from rich.console import Console
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from maximand.callbacks import Checkpoint, Progress
from maximand.cli.data import Examples, add_data_options, read_examples
from maximand.cli.kinds import Kind, first_step
from maximand.cli.output import add_common_options, pairs, show
from maximand.estimators import MulticlassClassifier, MultilabelClassifier, SequenceTagger
from maximand.estimators.multilabel import SHAPES
from maximand.estimators.tagger import SCHEMES
from maximand.inference import BeliefPropagation, Exhaustive, GraphCut, Greedy, LinearProgram, Tree
from maximand.losses import LOSSES
from maximand.models import predictor_of, save, summary
from maximand.tasks import Independent, Pairwise, WindowVectorizer

INFERENCES = {
    "exhaustive": Exhaustive(), "tree": Tree(), "greedy": Greedy(), "belief-propagation": BeliefPropagation(),
    "graph-cut": GraphCut(), "linear-program": LinearProgram(),
}  # fmt: skip


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser("fit", help="train a model on a data file")
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


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose the model."""
    parser.add_argument("--loss", choices=tuple(LOSSES), help="default: crf for sequences, hinge for tables")
    parser.add_argument("--regularization", type=float, default=1e-3)
    parser.add_argument("--tolerance", type=float, help="of the gap, as a share of the objective")
    parser.add_argument("--max-iterations", type=int, default=1000)
    parser.add_argument("--max-seconds", type=float, default=float("inf"))
    parser.add_argument("--threads", type=int, help="default: one for each core; the model does not depend on it")
    parser.add_argument("--scheme", choices=tuple(SCHEMES), help="forbid tags that may not follow one another")
    parser.add_argument("--window", type=int, default=2, help="neighbours to either side whose columns are features")
    parser.add_argument("--affixes", type=int, default=0, help="longest prefix and suffix of words as features")
    parser.add_argument("--scale", action="store_true", help="scale the columns of tables to [-1, 1]")
    parser.add_argument(
        "--structure",
        choices=tuple(SHAPES),
        default="independent",
        help="of label sets: labels decided one by one, or with a weight for each pair (default: independent)",
    )
    parser.add_argument(
        "--inference",
        choices=tuple(INFERENCES),
        help="how to find the best set with pairwise weights; default: an exact way for few labels, else graph-cut",
    )


def estimator(options: argparse.Namespace, examples: Examples) -> Any:
    """Return the estimator that the options ask for, to be fitted."""
    settings = {
        "regularization": options.regularization, "tolerance": options.tolerance, "n_threads": options.threads,
        "max_iterations": options.max_iterations, "max_seconds": options.max_seconds,
    }  # fmt: skip
    shape = shape_of(options, examples.kind)
    if examples.kind.tagged:
        tagger = SequenceTagger(loss=options.loss or "crf", scheme=options.scheme, **settings)
        textual = examples.kind is Kind.TEXT
        return make_pipeline(WindowVectorizer(options.window, options.affixes), tagger) if textual else tagger
    settings["loss"] = options.loss or "hinge"
    classifier = (
        MultilabelClassifier(structure=shape, classes=examples.labels, **settings)
        if examples.kind is Kind.SETS
        else MulticlassClassifier(**settings)
    )
    return make_pipeline(MaxAbsScaler(), classifier) if options.scale else classifier


def shape_of(options: argparse.Namespace, kind: Kind) -> Independent | Pairwise:
    """Return the structure of label sets; it is refused for other data, and an inference without pairs too."""
    if options.inference and options.structure != "pairwise":
        raise ValueError("--inference is how to find labels that are weighed together; add --structure pairwise.")
    if options.structure == "independent":
        return Independent()
    if kind is not Kind.SETS:
        raise ValueError(
            f"--structure pairwise is for label sets, --format mulan or svmlight-multilabel; these are {kind.value}."
        )
    return Pairwise(INFERENCES[options.inference] if options.inference else None)


def run(options: argparse.Namespace) -> int:
    """Read, train, save and say how it went."""
    examples = read_examples(options)
    model = estimator(options, examples)
    predictor = predictor_of(model)
    callbacks: list[Any] = []
    if sys.stdout.isatty() and not (options.quiet or options.json):
        callbacks.append(Progress())
    if options.checkpoint:
        callbacks.append(Checkpoint(options.checkpoint, options.checkpoint_seconds))
    predictor.set_callbacks(*callbacks)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the summary says how the run ended
        model.fit(examples.X, examples.y)
    if examples.columns:  # as if they had come in a data frame
        first_step(model).feature_names_in_ = np.array([column.name for column in examples.columns])
    save(model, options.output)
    seen = summary(predictor) | {"guarantee": predictor.meaning_}

    def people(console: Console) -> None:
        gap = (
            "none"
            if seen["gap"] is None
            else f"{seen['gap'] / max(abs(seen['objective']), 1e-300):.1e} of the objective"
        )
        console.print(
            pairs(
                {
                    "model": options.output, "labels": seen["n_classes"], "weights": seen["n_weights"],
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
