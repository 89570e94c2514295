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
from maximand.cards.options import (
    CLASS_WEIGHT,
    INFERENCE,
    INFERENCES,
    STATES_PER_LABEL,
    Option,
    Options,
    weights_by_label,
)
from maximand.estimators.graph_labeler.checkup import CHECKUP
from maximand.estimators.graph_labeler.estimator import GraphLabeler
from maximand.estimators.graph_labeler.reading import FORMATS
from maximand.features import GraphFeatures, TableWeights
from maximand.spaces import LabelStates
from maximand.spaces.node_types import node_kind, table_kind
from maximand.tasks import GraphTask, NodesAndEdges
from maximand.tasks.bound_graphs import BoundGraphs
from maximand.tasks.graph_layout import noun_of
from maximand.tasks.node_types import NodeType
from maximand.tasks.state_names import StateNames

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
    STATES_PER_LABEL,
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
    own["n_states_per_label"] = options["states_per_label"]
    return GraphLabeler(directional=not options["undirected"], inference=inference, **own, **settings)


def check(task: BoundGraphs) -> None:
    """Refuse features or tables that do not fit the labels."""
    features, everyone = task.features, np.arange(task.names.n_states)
    labels = [own.labels for own in task.types] or [everyone]
    sizes = [own.size for own in labels]
    if not all(np.isin(own, everyone).all() and np.unique(own).size == own.size for own in labels):
        raise ValueError("The labels of a type of nodes do not exist.")
    if sizes != [own.n_labels for own in features.nodes]:
        raise ValueError("The features do not fit the labels.")
    if any(own.pattern.shape != tuple(sizes[t] for t in own.ends) for own in features.tables):
        raise ValueError("The tables do not fit the labels.")
    if not (isinstance(task.task.directional, bool) and isinstance(task.task.diagonals, bool)):
        raise ValueError("directional and diagonals say yes or no.")


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


def part_name(predictor: Any, kind: str, part: int) -> tuple[str, str]:
    """Name the label of a node, or those at the ends of an edge; by types where nodes have types."""
    task, n = predictor.task_, len(predictor.task_.features.nodes)
    by_type = list(predictor.classes_by_type_.values()) if task.types else [task.names.part_titles]
    for t, name in enumerate(task.type_names):
        if kind == node_kind(t, n):
            return name or "", str(by_type[t][part])
    tables = next(own for own in task.features.tables if kind == table_kind(own.ends, n))
    table, pair = divmod(part, tables.pattern.size)
    first, second = (
        str(by_type[t][s]) for t, s in zip(tables.ends, divmod(pair, tables.pattern.shape[1]), strict=True)
    )
    edge = noun_of("edge", *(task.type_names[t] for t in tables.ends))
    return edge if tables.n_features else f"{edge} {table}", f"{first} & {second}"


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
    stored=(GraphFeatures, TableWeights, NodeType, StateNames, LabelStates),
    options=OPTIONS,
    part_name=part_name,
)
