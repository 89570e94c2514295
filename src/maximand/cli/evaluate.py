"""maximand evaluate: how good a model is on labelled data."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from rich.console import Console
from sklearn.metrics import precision_recall_fscore_support

from maximand.cli.data import Examples, add_data_options, read_examples
from maximand.cli.kinds import Kind, load_model
from maximand.cli.label_sets import indicators, scores_of_labels, scores_of_sets, side_by_side
from maximand.cli.output import add_common_options, pairs, show, table
from maximand.cli.rankings import scores_of_rankings
from maximand.models import predictor_of

Scored = tuple[dict[str, Any], dict[str, dict[str, Any]]]  # of all examples, and of each label


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser("evaluate", help="evaluate a model on labelled data")
    parser.add_argument("model")
    parser.add_argument("data", help="labelled data, - for standard input")
    add_data_options(parser)
    add_common_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print accuracy, precision, recall and F1 of each label, and of chunks where tags are BIO.

    Sets, rankings and levels have scores of their own.
    """
    model, known = load_model(options.model)
    examples = read_examples(options, known)
    predicted = model.predict(examples.X)
    match examples.kind:
        case Kind.SETS:
            values, by_label = _scores_of_sets(predictor_of(model).classes_, predicted, examples)
        case Kind.RANKINGS:
            values, by_label = _scores_of_rankings(predictor_of(model), predicted, examples)
        case _:
            values, by_label = _scores(predicted, examples)

    def people(console: Console) -> None:
        console.print(pairs({name: f"{v:.4f}" if isinstance(v, float) else v for name, v in values.items()}))
        names = [name for name in next(iter(by_label.values()), {}) if name != "count"]
        rows = [[label, *(f"{s[n]:.3f}" for n in names), f"{s['count']:,}"] for label, s in by_label.items()]
        shown = ["F1" if name == "f1" else name for name in names]
        console.print(table(None, [examples.kind.noun, *shown, "count"], rows))

    show(options, values | {f"{examples.kind.noun}s": by_label}, people)
    return 0


def _scores_of_sets(classes: Any, predicted: Any, examples: Examples) -> Scored:
    known, given = ([str(label) for label in labels] for labels in (classes.tolist(), examples.labels))
    labels, guesses, truth = side_by_side(indicators(predicted, classes), known, examples.y, given)
    values = {"examples": len(truth), **scores_of_sets(guesses, truth)}
    return values, dict(zip(labels, scores_of_labels(guesses, truth), strict=True))


def _scores_of_rankings(ranker: Any, predicted: Any, examples: Examples) -> Scored:
    labels = [str(label) for label in ranker.classes_.tolist()]
    place = {label: code for code, label in enumerate(labels)}
    order = np.array([[place[str(label)] for label in row] for row in predicted.tolist()])
    return scores_of_rankings(np.argsort(order, axis=1), examples.y, labels, ranker.unlisted)


def _distances(predicted: Any, examples: Examples) -> dict[str, float]:
    """Return the mean number of levels between prediction and truth, and the share of rows where it is at most one."""
    if np.asarray(predicted).dtype.kind not in "iuf":
        raise ValueError(
            f"The model knows the level {predicted[0]!r}, but the data have numbers; evaluate it in Python."
        )
    away = np.abs(np.asarray(predicted) - examples.y)
    return {"mean absolute error": float(away.mean()), "within one level": float((away <= 1).mean())}


def _scores(predicted: Any, examples: Examples) -> Scored:
    true = examples.y
    values: dict[str, Any] = {"examples": len(true)}
    if examples.kind.tagged:
        sentences = [[str(tag) for tag in tags] for tags in predicted], [[str(tag) for tag in tags] for tags in true]
        guesses, right = ([tag for tags in side for tag in tags] for side in sentences)
        values["tokens"] = len(right)
        values["whole sequences right"] = sum(a == b for a, b in zip(*sentences, strict=True)) / max(len(true), 1)
    else:
        guesses, right = [str(label) for label in predicted], [str(label) for label in true]
    values["accuracy"] = sum(a == b for a, b in zip(guesses, right, strict=True)) / max(len(right), 1)
    if examples.kind.tagged and any(tag.startswith(("B-", "I-")) for tag in right):
        values |= chunk_scores(sentences[1], sentences[0])
    if examples.kind is Kind.LEVELS:
        values |= _distances(predicted, examples)
    labels = sorted(set(right) | set(guesses), key=float if examples.kind is Kind.LEVELS else None)
    scores = precision_recall_fscore_support(right, guesses, labels=labels, zero_division=0.0)
    return values, {
        label: {"precision": float(p), "recall": float(r), "f1": float(f), "count": int(n)}
        for label, p, r, f, n in zip(labels, *scores, strict=True)
    }


def chunks(tags: list[str]) -> set[tuple[int, int, str]]:
    """Return the chunks of a BIO-tagged sentence as (start, stop, kind); an I- that follows nothing starts one."""
    found, start, kind = set(), 0, None
    for t, tag in enumerate([*tags, "O"]):
        prefix, _, name = tag.partition("-")
        if kind is not None and (prefix != "I" or name != kind):
            found.add((start, t, kind))
            kind = None
        if prefix in ("B", "I") and (prefix == "B" or kind is None):
            start, kind = t, name
    return found


def chunk_scores(true: list[list[str]], predicted: list[list[str]]) -> dict[str, float]:
    """Return precision, recall and F1 of whole chunks."""
    right = given = wanted = 0
    for a, b in zip(true, predicted, strict=True):
        there, guessed = chunks(a), chunks(b)
        right, wanted, given = right + len(there & guessed), wanted + len(there), given + len(guessed)
    precision, recall = right / max(given, 1), right / max(wanted, 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-300)
    return {"chunk precision": precision, "chunk recall": recall, "chunk F1": f1}
