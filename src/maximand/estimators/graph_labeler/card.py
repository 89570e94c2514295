"""The card of `GraphLabeler`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from maximand.cards.answers import by_label, scores_by_label
from maximand.cards.card import Card, Scored, class_names
from maximand.cards.data import Dataset, Unlabelled
from maximand.cards.options import CLASS_WEIGHT, INFERENCE, INFERENCES, Option, Options, weights_by_label
from maximand.estimators.graph_labeler.checkup import CHECKUP
from maximand.estimators.graph_labeler.estimator import GraphLabeler
from maximand.estimators.graph_labeler.reading import FORMATS
from maximand.features import GraphFeatures
from maximand.tasks import GraphTask, NodesAndEdges
from maximand.tasks.graphs import BoundGraphs

OPTIONS = (
    Option(
        "--tables",
        "of edges: weights for ordered pairs of labels, for unordered ones, for each label at both ends, one for equal "
        "labels, or none (default: full)",
        default="full",
        choices=("full", "symmetric", "diagonal", "potts", "none"),
    ),
    Option("--associative", "let neighbours only attract, with --tables potts or diagonal", bool, False),
    Option("--diagonals", "give the nodes of grids eight neighbours instead of four", bool, False),
    Option("--undirected", "give all directions of the edges of grids the same weights", bool, False),
    INFERENCE,
    CLASS_WEIGHT,
)


def build(data: Dataset, settings: dict[str, Any], options: Options) -> Any:
    """Return a labeler; what has no effect is refused."""
    if options["associative"] and options["tables"] not in ("potts", "diagonal"):
        raise ValueError("--associative is for weights of equal labels; add --tables potts or --tables diagonal.")
    idle = next((name for name in ("diagonals", "undirected") if options[name]), None)
    if idle and all(isinstance(x, NodesAndEdges) for x in data.X):
        raise ValueError(f"--{idle} is about the edges of grids, and {data.source} holds none; leave it out.")
    own = {name: options[name] for name in ("tables", "associative", "diagonals")}
    own["class_weight"] = weights_by_label(options["class_weight"], chain.from_iterable(data.y))
    inference = INFERENCES[options["inference"]] if options["inference"] else None
    return GraphLabeler(directional=not options["undirected"], inference=inference, **own, **settings)


def check(task: BoundGraphs) -> None:
    """Refuse features or tables that do not fit the labels."""
    if task.names.count != task.features.n_labels or len(task.features.pattern) != task.names.count:
        raise ValueError("The features do not fit the labels.")


def lines(predictor: Any, unlabelled: Unlabelled, answers: Any, means: Any, as_json: bool) -> Iterator[str]:
    """Yield the labels of the nodes of each graph, and the probabilities of all labels; always as JSON."""
    for labels, chances in zip(answers, means, strict=True):
        line: dict[str, Any] = {"labels": labels.ravel().tolist()}
        if chances is not None:
            by_node = chances.reshape(-1, chances.shape[-1])
            line["probabilities"] = [by_label(predictor.classes_, chance) for chance in by_node]
        yield json.dumps(line, ensure_ascii=False)


def scores(predictor: Any, answers: Any, data: Dataset) -> Scored:
    """Compare the labels of nodes that are known; a node with candidates is right where its label is one of them."""
    right: list[list[bool]] = []
    single: list[tuple[str, str]] = []
    for labels, own in zip(answers, data.y, strict=True):
        known = [(str(guess), label) for guess, label in zip(labels.ravel(), own, strict=True) if label is not None]
        right.append([guess in map(str, label if isinstance(label, frozenset) else (label,)) for guess, label in known])
        single += [(str(label), guess) for guess, label in known if not isinstance(label, frozenset)]
    n_known = sum(map(len, right))
    if not n_known:
        raise ValueError(f"{data.source} holds no label that is known; there is nothing to compare predictions with.")
    values = {
        "examples": len(right), "nodes": n_known, "whole graphs right": sum(map(all, right)) / len(right),
        "accuracy": sum(map(sum, right)) / n_known,
    }  # fmt: skip
    place = {label: code for code, label in enumerate(class_names(predictor))}
    true, guesses = zip(*single, strict=True) if single else ((), ())
    return values, scores_by_label(true, guesses, key=lambda label: (place.get(label, len(place)), label))


def edge_name(features: GraphFeatures, labels: list[str], number: int) -> tuple[str, str]:
    """Name the weight of a type or feature of edges for the labels at their ends."""
    table, column = divmod(number, features.n_columns)
    ends = [f"{labels[a]} & {labels[b]}" for a, b in np.argwhere(features.pattern == column)]
    return f"edge {table}", ", ".join(ends[:3]) + (", ..." if len(ends) > 3 else "")


CARD = Card(
    GraphLabeler,
    GraphTask,
    BoundGraphs,
    check=check,
    formats=FORMATS,
    build=build,
    lines=lines,
    scores=scores,
    checkup=CHECKUP,
    stored=(GraphFeatures,),
    options=OPTIONS,
    tied_name=edge_name,
)
