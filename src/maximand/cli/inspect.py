"""maximand inspect: what a model file holds."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from rich.console import Console

from maximand.cli.output import add_common_options, pairs, show, table
from maximand.estimators import SequenceTagger
from maximand.files.container import read, read_header
from maximand.models import load, predictor_of


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser("inspect", help="show what a model file holds")
    parser.add_argument("model", help="model file, - for standard input")
    parser.add_argument("--top", type=int, default=10, help="how many of the largest weights to show")
    add_common_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print header, parameters, summary and the largest weights with their names."""
    content = read(options.model)
    header = read_header(content)
    model = load(content)
    predictor = predictor_of(model)
    values = {
        "file": options.model, "bytes": len(content), "format": header["format"], "library": header["library"],
        "steps": [tree["estimator"] for _, tree in header["steps"]], **header["summary"],
        "classes": predictor.classes_.tolist(),
    }  # fmt: skip
    changed = {name: repr(value) for name, value in predictor.get_params(deep=False).items()}
    largest = largest_weights(model, options.top)

    def people(console: Console) -> None:
        shown = {name: value for name, value in values.items() if name != "classes"}
        shown["steps"] = ", ".join(values["steps"])
        names = ", ".join(map(str, values["classes"][:20]))
        shown["classes"] = names + (f", ... ({len(values['classes'])})" if len(values["classes"]) > 20 else "")
        console.print(pairs(shown))
        console.print("\n[bold]parameters")
        console.print(pairs(changed))
        rows = [[row["weight"], row["label"], f"{row['value']:+.4f}"] for row in largest]
        console.print(table("Largest weights", ["weight", "label", "value"], rows, n_text=2))

    show(options, values | {"parameters": changed, "largest_weights": largest}, people)
    return 0


def largest_weights(model: Any, count: int) -> list[dict[str, Any]]:
    """Return the weights of largest absolute value with the names of their features and labels."""
    predictor = predictor_of(model)
    features, weights = predictor.task_.features, predictor.weights_
    labels = [str(label) for label in predictor.classes_.tolist()]
    emission = features.emission if isinstance(predictor, SequenceTagger) else features
    names = feature_names(model, emission.n_features)
    order = np.argsort(-np.abs(weights), kind="stable")[:count].tolist()
    if emission.every_pair:
        owner, label = np.divmod(np.arange(emission.n_pairs), emission.n_labels)
    else:
        listed = np.repeat(np.arange(emission.n_features), np.diff(emission.starts))
        owner, label = listed[emission.places], emission.labels[emission.places]
    rows = []
    for place in order:
        if place < emission.n_pairs:
            weight, named = names(int(owner[place])), labels[int(label[place])]
        elif place < emission.n_weights:
            weight, named = "bias", labels[place - emission.n_pairs]
        else:
            weight, named = _of_chain(features, labels, place)
        rows.append({"weight": weight, "label": named, "value": float(weights[place])})
    return rows


def _of_chain(features: Any, labels: list[str], place: int) -> tuple[str, str]:
    """Name a weight of a transition, of the start or of the end."""
    k = len(labels)
    n_moves = k * k if features.pairs is None else features.pairs.size
    at = place - features.emission.n_weights
    if at < n_moves:
        before, after = divmod(int(at if features.pairs is None else features.pairs[at]), k)
        return f"{labels[before]} →", labels[after]
    at -= n_moves
    return ("start", labels[at]) if features.start and at < k else ("end", labels[at % k])


def feature_names(model: Any, n_features: int) -> Any:
    """Return a function from the number of a feature to its name, where names are known."""
    first = model[0] if hasattr(model, "steps") else model
    predictor = predictor_of(model)
    names: Any = getattr(first, "feature_names_in_", None)
    if hasattr(first, "vocabulary_"):
        names = list(first.vocabulary_)
    vectorizer = getattr(predictor.task_, "vectorizer", None)
    if vectorizer is not None and hasattr(vectorizer, "feature_names_"):
        names = vectorizer.feature_names_
    if names is None or len(names) != n_features:
        return lambda feature: f"feature {feature}"
    return lambda feature: str(names[feature])
