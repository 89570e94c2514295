"""maximand inspect: what a model file holds."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from rich.console import Console

from maximand.cards import card_of
from maximand.cards.steps import first_step, predictor_of
from maximand.cli.output import add_common_options, pairs, show, table
from maximand.files.container import from_bytes, read
from maximand.models import load, summary


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
    model = load(content)
    header, _ = from_bytes(content, "model")
    predictor = predictor_of(model)
    values = {
        "file": options.model, "bytes": len(content), "format": header["format"], "library": header.get("library"),
        "steps": [tree["estimator"] for _, tree in header["steps"]], **summary(predictor),
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
        console.print(pairs({name: value for name, value in changed.items() if name != "classes"}))  # they are above
        rows = [[row["weight"], row["label"], f"{row['value']:+.4f}"] for row in largest]
        console.print(table("Largest weights", ["weight", "label", "value"], rows, n_text=2))

    show(options, values | {"parameters": changed, "largest_weights": largest}, people)
    return 0


def largest_weights(model: Any, count: int) -> list[dict[str, Any]]:
    """Return the weights of largest absolute value with the names of their features and labels."""
    predictor = predictor_of(model)
    features, weights = predictor.task_.features, predictor.weights_
    card = card_of(predictor)
    labels = card.part_names(predictor)
    single = getattr(features, "emission", getattr(features, "node", features))  # the weights of single labels
    names = feature_names(model, single.n_features)
    order = np.argsort(-np.abs(weights), kind="stable")[:count].tolist()
    if single.every_pair:
        owner, label = np.divmod(np.arange(single.n_pairs), single.n_labels)
    else:
        listed = np.repeat(np.arange(single.n_features), np.diff(single.starts))
        owner, label = listed[single.places], single.labels[single.places]
    rows = []
    for place in order:
        if place < single.n_pairs:
            weight, named = names(int(owner[place])), labels[int(label[place])]
        elif place < single.n_weights:
            weight, named = "bias", labels[place - single.n_pairs]
        else:
            assert card.tied_name is not None
            weight, named = card.tied_name(features, labels, place - single.n_weights)
        rows.append({"weight": weight, "label": named, "value": float(weights[place])})
    return rows


def feature_names(model: Any, n_features: int) -> Any:
    """Return a function from the number of a feature to its name, where names are known."""
    first, predictor = first_step(model), predictor_of(model)
    names: Any = getattr(first, "feature_names_in_", None)
    if hasattr(first, "vocabulary_"):
        names = list(first.vocabulary_)
    vectorizer = getattr(predictor.task_, "vectorizer", None)
    if vectorizer is not None and hasattr(vectorizer, "feature_names_"):
        names = vectorizer.feature_names_
    if names is None or len(names) != n_features:
        return lambda feature: f"feature {feature}"
    return lambda feature: str(names[feature])
