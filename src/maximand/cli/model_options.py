"""The options that choose a model, and the estimator that they ask for."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from maximand.cli.data import Examples
from maximand.cli.kinds import Kind
from maximand.estimators import (
    LabelRanker,
    MulticlassClassifier,
    MultilabelClassifier,
    OrdinalClassifier,
    SequenceTagger,
)
from maximand.estimators.multilabel.estimator import SHAPES
from maximand.estimators.predictor import layer_of
from maximand.estimators.tagger.estimator import SCHEMES
from maximand.inference import BeliefPropagation, Exhaustive, GraphCut, Greedy, LinearProgram, Tree
from maximand.losses import LOSSES
from maximand.oracles import Projection
from maximand.tasks import Budget, Independent, Pairwise, WindowVectorizer
from maximand.tasks.rankings import ENCODINGS, UNLISTED

INFERENCES = {
    "exhaustive": Exhaustive(), "tree": Tree(), "greedy": Greedy(), "belief-propagation": BeliefPropagation(),
    "graph-cut": GraphCut(), "linear-program": LinearProgram(),
}  # fmt: skip


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose the model."""
    parser.add_argument(
        "--loss",
        choices=tuple(LOSSES),
        help="default: crf for sequences, euclidean for rankings and levels, hinge for other tables",
    )
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
        help="of label sets: labels decided one by one, with bounds on their number, or with a weight for each pair "
        "(default: independent)",
    )
    parser.add_argument(
        "--min-size", type=int, metavar="N", help="fewest labels of a set, with --structure budget (default: 0)"
    )
    parser.add_argument(
        "--max-size",
        type=int,
        metavar="N",
        help="most labels of a set, with --structure budget (default: mean plus standard deviation, rounded up)",
    )
    parser.add_argument(
        "--inference",
        choices=tuple(INFERENCES),
        help="how to find the best set with pairwise weights; default: an exact way for few labels, else graph-cut",
    )
    parser.add_argument(
        "--encoding",
        choices=ENCODINGS,
        help="of rankings: weights for each label in each position, or for each label alone (default: matrix)",
    )
    parser.add_argument(
        "--unlisted", choices=UNLISTED, help="where labels belong that a ranking leaves out (default: anywhere)"
    )


def estimator(options: argparse.Namespace, examples: Examples) -> Any:
    """Return the estimator that the options ask for, to be fitted."""
    settings = {
        "regularization": options.regularization, "tolerance": options.tolerance, "n_threads": options.threads,
        "max_iterations": options.max_iterations, "max_seconds": options.max_seconds,
    }  # fmt: skip
    loss, shape, form = loss_of(options, examples), shape_of(options, examples), form_of(options, examples.kind)
    if examples.kind in (Kind.RANKINGS, Kind.LEVELS) and len(examples.labels) < 2:
        (only,) = examples.labels
        raise ValueError(f"{options.data}: there is only the {examples.kind.noun} {only}; training needs two or more.")
    model: Any
    match examples.kind:
        case Kind.TEXT:
            tagger = SequenceTagger(loss=loss, scheme=options.scheme, **settings)
            return make_pipeline(WindowVectorizer(options.window, options.affixes), tagger)
        case Kind.SEQUENCES:
            return SequenceTagger(loss=loss, scheme=options.scheme, **settings)
        case Kind.ROWS:
            model = MulticlassClassifier(loss=loss, **settings)
        case Kind.SETS:
            model = MultilabelClassifier(loss=loss, structure=shape, classes=examples.labels, **settings)
        case Kind.RANKINGS:
            model = LabelRanker(projection=loss, **form, **settings)
        case Kind.LEVELS:
            model = OrdinalClassifier(loss=loss, classes=examples.labels, **settings)
    return make_pipeline(MaxAbsScaler(), model) if options.scale else model


def loss_of(options: argparse.Namespace, examples: Examples) -> str:
    """Return the name of the loss; one that rankings cannot have is refused."""
    kind = examples.kind
    if options.loss is None:
        ordered = kind in (Kind.RANKINGS, Kind.LEVELS)
        return "crf" if kind.tagged else "euclidean" if ordered else "hinge"
    if kind is Kind.RANKINGS:
        layer = layer_of(options.loss)
        if layer is not None and not isinstance(layer, Projection):
            raise ValueError(f"--loss {options.loss} needs sums over all rankings; say --loss euclidean or entropic.")
        partial = next((i for i, y in enumerate(examples.y, 1) if len(y) < len(examples.labels)), None)
        if options.encoding == "vector" and partial and layer is None and options.loss != "perceptron":
            raise ValueError(
                f"{options.data}: ranking {partial} leaves labels out, and --loss {options.loss} with --encoding "
                "vector needs whole rankings; say --loss euclidean, or --encoding matrix."
            )
    return str(options.loss)


def form_of(options: argparse.Namespace, kind: Kind) -> dict[str, Any]:
    """Return how rankings are encoded; it is refused for other data."""
    given = {name: value for name in ("encoding", "unlisted") if (value := getattr(options, name))}
    if given and kind is not Kind.RANKINGS:
        raise ValueError(f"--{next(iter(given))} is for rankings, --format rankings; these are {kind.value}.")
    return given


def shape_of(options: argparse.Namespace, examples: Examples) -> Independent | Budget | Pairwise:
    """Return the structure of label sets; it is refused for other data, and what it has no use for too."""
    name = options.structure
    sized = options.min_size is not None or options.max_size is not None
    if options.inference and name != "pairwise":
        raise ValueError("--inference is how to find labels that are weighed together; add --structure pairwise.")
    if sized and name != "budget":
        raise ValueError("--min-size and --max-size bound the number of labels; add --structure budget.")
    if name == "independent":
        return Independent()
    if examples.kind is not Kind.SETS:
        raise ValueError(
            f"--structure {name} is for label sets, --format mulan or svmlight-multilabel; these are "
            f"{examples.kind.value}."
        )
    if name == "pairwise":
        return Pairwise(INFERENCES[options.inference] if options.inference else None)
    return _budget(options, examples)


def _budget(options: argparse.Namespace, examples: Examples) -> Budget:
    """Refuse bounds that cannot be met."""
    least, most = options.min_size or 0, options.max_size
    n_labels, sizes = len(examples.labels), examples.y.sum(axis=1, dtype=int)
    if not 0 <= least <= (n_labels if most is None else most) <= n_labels:
        bounds = f"--min-size {least}" + ("" if most is None else f" and --max-size {most}")
        raise ValueError(
            f"{bounds} cannot be met; choose 0 <= min-size <= max-size <= {n_labels}, as there are labels."
        )
    short = np.flatnonzero(sizes < least)
    if short.size:
        row = int(short[0])
        raise ValueError(
            f"{options.data}: row {row + 1} has {sizes[row]} labels, fewer than --min-size {least}; lower it, or leave "
            "such rows out."
        )
    return Budget(least, most)
