"""maximand predict: outputs of a model for a data file."""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from maximand.cli.data import add_data_options, read_inputs
from maximand.cli.kinds import Kind, format_of, load_model
from maximand.cli.label_sets import indicators
from maximand.cli.output import add_common_options, opened
from maximand.estimators import LabelRanker, MultilabelClassifier, OrdinalClassifier, SequenceTagger
from maximand.formats import read_conll
from maximand.losses import named
from maximand.models import predictor_of
from maximand.support import Bools

PROBA = """add the probability of each predicted tag or label, of all labels where there are sets of them, of all
levels, or of the positions of ranked labels (losses crf, euclidean and entropic)"""
BATCH = 2000  # sentences that are held at a time


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser("predict", help="predict with a model")
    parser.add_argument("model")
    parser.add_argument("data", help="data, - for standard input; labels in it are ignored")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="default: standard output")
    parser.add_argument("--proba", action="store_true", help=PROBA)
    add_data_options(parser)
    add_common_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the columns of the data with the predicted tag after them; for tables an output in each line."""
    model, known = load_model(options.model)
    predictor = predictor_of(model)
    if options.proba and not hasattr(predictor, "predict_soft" if known.kind is Kind.RANKINGS else "predict_proba"):
        better = "euclidean" if known.kind in (Kind.RANKINGS, Kind.LEVELS) else "crf"
        raise ValueError(f"The loss {named(predictor.loss).name} models no probabilities; fit with --loss {better}.")
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
        chances = _chances(model, X) if options.proba else [None] * len(answers)
        if isinstance(predictor, SequenceTagger):
            for tokens, tags, chance in zip(X, answers, chances, strict=True):
                shown = tokens if known.kind is Kind.TEXT else [()] * len(tags)
                _write_sentence(file, shown, tags, _of_tags(predictor, tags, chance), options.json)
        elif isinstance(predictor, MultilabelClassifier):
            for present, chance in zip(indicators(answers, predictor.classes_), chances, strict=True):
                print(_line_of_set(predictor.classes_, present, chance, options.json), file=file)
        elif isinstance(predictor, LabelRanker):
            for order, means in zip(answers.tolist(), chances, strict=True):
                print(_line_of_ranking(predictor, order, means, options.json), file=file)
        elif isinstance(predictor, OrdinalClassifier):
            for level, chance in zip(answers.tolist(), chances, strict=True):
                print(_line_of_level(predictor.classes_, level, chance, options.json), file=file)
        else:
            for label, chance in zip(answers.tolist(), chances, strict=True):
                words = [label] if chance is None else [label, round(float(chance.max()), 6)]
                print(json.dumps(words[0] if len(words) == 1 else words) if options.json else " ".join(map(str, words)),
                      file=file)  # fmt: skip
    return 0


def _line_of_set(classes: np.ndarray, present: Bools, chance: Any, as_json: bool) -> str:
    """Return the labels of a row and, behind a tab, their probabilities."""
    labels = classes[present].tolist()
    chances = None if chance is None else {"probabilities": _by_label(classes, chance)}
    return _line("labels", labels, ",".join(map(str, labels)), chances, as_json)


def _line_of_level(classes: np.ndarray, level: Any, chance: Any, as_json: bool) -> str:
    """Return the level of a row and, behind a tab, the probability of every level."""
    chances = None if chance is None else {"probabilities": _by_label(classes, chance)}
    return _line("level", level, str(level), chances, as_json)


def _line_of_ranking(ranker: LabelRanker, order: list[Any], means: Any, as_json: bool) -> str:
    """Return the labels of a row, the best first, and, behind a tab, what is known of the position of each.

    That is the probability of every position, or where labels have a single weight the expected position, 1 for the
    best.
    """
    text = ">".join(map(str, order))
    if means is None:
        return _line("ranking", order, text, None, as_json)
    if ranker.encoding == "matrix":
        return _line("ranking", order, text, {"probabilities": _by_label(ranker.classes_, means)}, as_json)
    expected = len(order) + 1 - means  # the first of k positions weighs k, the last 1
    return _line("ranking", order, text, {"expected positions": _by_label(ranker.classes_, expected)}, as_json)


def _by_label(classes: np.ndarray, values: Any) -> dict[str, Any]:
    """Return the values of each label, rounded: a number, or a list of such."""
    rounded = (np.round(np.asarray(values, dtype=float), 6) + 0.0).tolist()  # no -0.0
    return dict(zip(map(str, classes.tolist()), rounded, strict=True))


def _line(name: str, answer: Any, text: str, more: dict[str, dict[str, Any]] | None, as_json: bool) -> str:
    """Return an answer and what is known of its labels, as text with a tab between the two or as JSON."""
    if as_json:
        return json.dumps(answer if more is None else {name: answer, **more}, ensure_ascii=False)
    if more is None:
        return text
    (values,) = more.values()
    return text + "\t" + ",".join(f"{label}={_digits(value)}" for label, value in values.items())


def _digits(value: Any) -> str:
    return ":".join(map(_digits, value)) if isinstance(value, list) else f"{value:.6f}"


def _batches(source: str) -> Iterator[list[Any]]:
    sentences = iter(read_conll(source))
    while batch := list(itertools.islice(sentences, BATCH)):
        yield batch


def _chances(model: Any, X: Any) -> Any:
    """Return probabilities; of rankings the means, which are expected weights where labels have a single weight."""
    if isinstance(predictor_of(model), LabelRanker):
        return predictor_of(model).predict_soft(model[:-1].transform(X) if isinstance(model, Pipeline) else X)
    return model.predict_proba(X)


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
