"""maximand predict: outputs of a model for a data file."""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from typing import Any

from maximand.cli.data import add_data_options, format_of, read_examples
from maximand.cli.output import add_common_options, opened
from maximand.estimators import SequenceTagger
from maximand.formats import read_conll
from maximand.models import load, predictor_of

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
    """Write the columns of the data with the predicted tag after them; for tables one label in each line."""
    model = load(options.model)
    predictor = predictor_of(model)
    kind = format_of(options)
    with opened(options.output) as file:
        if kind == "conll":
            width = None if options.label_column == -1 else options.label_column
            for sentences in _batches(options.data):
                for sentence, tags, chances in _tagged(model, [list(s.rows) for s in sentences], width, options.proba):
                    _write_sentence(file, sentence, tags, chances, options.json)
            return 0
        options.n_features = getattr(predictor, "n_features_in_", None)
        examples = read_examples(options)
        X = list(examples.X) if examples.textual else examples.X
        answers = model.predict(X)
        chances = model.predict_proba(X) if options.proba else [None] * len(answers)
        if isinstance(predictor, SequenceTagger):
            for tokens, tags, chance in zip(X, answers, chances, strict=True):
                shown = tokens if examples.textual else [()] * len(tags)
                _write_sentence(file, shown, tags, _of_tags(predictor, tags, chance), options.json)
        else:
            for label, chance in zip(answers.tolist(), chances, strict=True):
                words = [label] if chance is None else [label, round(float(chance.max()), 6)]
                print(json.dumps(words[0] if len(words) == 1 else words) if options.json else " ".join(map(str, words)),
                      file=file)  # fmt: skip
    return 0


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
