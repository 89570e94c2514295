"""maximand predict: outputs of a model for a data file."""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from maximand.cli.data import add_data_options, read_inputs
from maximand.cli.kinds import Kind, format_of, load_model
from maximand.cli.label_sets import indicators
from maximand.cli.output import add_common_options, opened
from maximand.estimators import MultilabelClassifier, SequenceTagger
from maximand.formats import read_conll
from maximand.losses import named
from maximand.models import predictor_of
from maximand.support import Bools

BATCH = 2000  # sentences that are held at a time


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser("predict", help="predict with a model")
    parser.add_argument("model")
    parser.add_argument("data", help="data, - for standard input; labels in it are ignored")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="default: standard output")
    parser.add_argument("--proba", action="store_true", help="add the probability of each prediction (loss crf)")
    add_data_options(parser)
    add_common_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the columns of the data with the predicted tag after them; for tables a label or a set in each line."""
    model, known = load_model(options.model)
    predictor = predictor_of(model)
    if options.proba and not hasattr(predictor, "predict_proba"):
        raise ValueError(f"The loss {named(predictor.loss).name} models no probabilities; fit with --loss crf.")
    form = format_of(options, known)
    with opened(options.output) as file:
        if form == "conll":
            width = None if options.label_column == -1 else options.label_column
            for sentences in _batches(options.data):
                for sentence, tags, chances in _tagged(model, [list(s.rows) for s in sentences], width, options.proba):
                    _write_sentence(file, sentence, tags, chances, options.json)
            return 0
        X = read_inputs(options, known)
        X = list(X) if known.kind is Kind.TEXT else X
        answers = model.predict(X)
        chances = model.predict_proba(X) if options.proba else [None] * len(answers)
        if isinstance(predictor, SequenceTagger):
            for tokens, tags, chance in zip(X, answers, chances, strict=True):
                shown = tokens if known.kind is Kind.TEXT else [()] * len(tags)
                _write_sentence(file, shown, tags, _of_tags(predictor, tags, chance), options.json)
        elif isinstance(predictor, MultilabelClassifier):
            for present, chance in zip(indicators(answers, predictor.classes_), chances, strict=True):
                print(_line_of_set(predictor.classes_, present, chance, options.json), file=file)
        else:
            for label, chance in zip(answers.tolist(), chances, strict=True):
                words = [label] if chance is None else [label, round(float(chance.max()), 6)]
                print(json.dumps(words[0] if len(words) == 1 else words) if options.json else " ".join(map(str, words)),
                      file=file)  # fmt: skip
    return 0


def _line_of_set(classes: np.ndarray, present: Bools, chance: Any, as_json: bool) -> str:
    """Return the labels of a row and, behind a tab, their probabilities."""
    labels = classes[present].tolist()
    if chance is None:
        return json.dumps(labels, ensure_ascii=False) if as_json else ",".join(map(str, labels))
    chances = {str(label): round(float(p), 6) for label, p in zip(classes.tolist(), chance, strict=True)}
    if as_json:
        return json.dumps({"labels": labels, "probabilities": chances}, ensure_ascii=False)
    return ",".join(map(str, labels)) + "\t" + ",".join(f"{label}={p:.6f}" for label, p in chances.items())


def _batches(source: str) -> Iterator[list[Any]]:
    sentences = iter(read_conll(source))
    while batch := list(itertools.islice(sentences, BATCH)):
        yield batch


def _tagged(model: Any, sentences: list[list[tuple[str, ...]]], label: int | None, proba: bool) -> Iterator[Any]:
    """Yield each sentence with its predicted tags; a column that the model was not trained on is left aside."""
    width = model[0].n_columns_
    tokens = []
    for rows in sentences:
        given = len(rows[0])
        place = given - 1 if label is None else label % given
        if given == width:
            tokens.append(rows)
        elif given == width + 1:
            tokens.append([row[:place] + row[place + 1 :] for row in rows])
        else:
            raise ValueError(f"The data have {given} columns; the model was trained on {width}, with or without tags.")
    chances = model.predict_proba(tokens) if proba else [None] * len(tokens)
    for rows, tags, chance in zip(sentences, model.predict(tokens), chances, strict=True):
        yield rows, tags, _of_tags(model[-1], tags, chance)


def _of_tags(predictor: Any, tags: Any, chances: Any) -> Any:
    """Return the marginal probability of each predicted tag."""
    if chances is None:
        return None
    codes = {tag: code for code, tag in enumerate(predictor.classes_.tolist())}
    return [chance[codes[tag]] for chance, tag in zip(chances, tags.tolist(), strict=True)]


def _write_sentence(file: Any, rows: Any, tags: Any, chances: Any, as_json: bool) -> None:
    if as_json:
        line: dict[str, Any] = {"tokens": [list(row) for row in rows], "tags": tags.tolist()}
        if chances is not None:
            line["probabilities"] = [round(float(chance), 6) for chance in chances]
        print(json.dumps(line, ensure_ascii=False), file=file)
        return
    for t, (row, tag) in enumerate(zip(rows, tags, strict=True)):
        words = [*row, str(tag)] if chances is None else [*row, str(tag), f"{chances[t]:.6f}"]
        print(" ".join(words), file=file)
    print(file=file)
