"""maximand inspect: what a model file holds."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from rich.console import Console

from maximand.cards import card_of
from maximand.cards.steps import first_step, predictor_of
from maximand.cli.data import decided_by_training, facts_of
from maximand.cli.output import add_common_options, listing, show, table
from maximand.features import RowBlock
from maximand.files.container import from_bytes, read
from maximand.models import load, summary


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
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
        **facts_of(decided_by_training(predictor)), "classes": predictor.classes_.tolist(),
    }  # fmt: skip
    changed = {name: repr(value) for name, value in predictor.get_params(deep=False).items()}
    largest = largest_weights(model, options.top)

    def people(console: Console) -> None:
        shown = {name: value for name, value in values.items() if name != "classes"}
        shown["steps"] = ", ".join(values["steps"])
        names = ", ".join(map(str, values["classes"][:20]))
        shown["classes"] = names + (f", ... ({len(values['classes'])})" if len(values["classes"]) > 20 else "")
        console.print(listing(shown))
        console.print("\n[bold]parameters")
        console.print(listing({name: value for name, value in changed.items() if name != "classes"}))  # they are above
        rows = [[row["weight"], row["label"], f"{row['value']:+.4f}"] for row in largest]
        console.print(table("Largest weights", ["weight", "label", "value"], rows, n_text=2))

    show(options, values | {"parameters": changed, "largest_weights": largest}, people)
    return 0


def largest_weights(model: Any, count: int) -> list[dict[str, Any]]:
    """Return the weights of largest absolute value with the names of their features and labels, read off blocks."""
    predictor = predictor_of(model)
    features, weights, name = predictor.task_.features, predictor.weights_, card_of(predictor).part_name
    first, known, rows = features.blocks[0].kind, feature_names(model), []
    for place in np.argsort(-np.abs(weights), kind="stable")[:count].tolist():
        block, number = features.block_of(place)
        what, parts = block.meaning(number)
        if isinstance(what, int):  # the features of other kinds of parts have no names
            named = block.kind == first and isinstance(block, RowBlock) and len(known) == block.n_features
            what = str(known[what]) if named else f"feature {what}"
        shown = [name(predictor, block.kind, int(part)) for part in parts[:3]] or [(block.kind, "")]
        weight = " ".join(filter(None, (shown[0][0], what)))
        label = ", ".join(own for _, own in shown) + (", ..." if parts.size > 3 else "")
        rows.append({"weight": weight, "label": label, "value": float(weights[place])})
    return rows


def feature_names(model: Any) -> Any:
    """Return the names of features, as far as they are known."""
    first, predictor = first_step(model), predictor_of(model)
    names: Any = getattr(first, "feature_names_in_", None)
    if hasattr(first, "vocabulary_"):
        names = list(first.vocabulary_)
    vectorizer = getattr(predictor.task_, "vectorizer", None)
    if vectorizer is not None and hasattr(vectorizer, "feature_names_"):
        names = vectorizer.feature_names_
    names = getattr(predictor.task_, "feature_names", names)
    return [] if names is None else names
