"""Data files on the command line: which format, and as what they reach an estimator."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse

from maximand.cli.csv_tables import read_features
from maximand.cli.kinds import FORMATS, NOTHING_KNOWN, Kind, Known, format_of
from maximand.formats import (
    Attribute,
    FormatError,
    Source,
    read_arff,
    read_conll,
    read_conllu,
    read_labels_xml,
    read_letters,
    read_mulan,
    read_multilabel_svmlight,
    read_ordinal,
    read_rankings,
    read_svmlight,
    write_labels_xml,
)

Tokens = list[tuple[str, ...]]


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add what says how to read a data file."""
    parser.add_argument("--format", choices=FORMATS, help="default: by the name of the file, of csv by its first line")
    parser.add_argument(
        "--label-column",
        type=int,
        default=-1,
        metavar="N",
        help="column of the tags in CoNLL files (default: the last)",
    )
    parser.add_argument(
        "--labels", metavar="FILE", help="XML file that names the labels among the columns of Mulan's ARFF"
    )


@dataclass
class TaggedSentences:
    """Sentences of a file, read as they are asked for; `tags` grows meanwhile."""

    source: str
    format: str
    label_column: int = -1
    tags: list[list[str]] = field(default_factory=list)

    def __iter__(self) -> Iterator[Tokens]:
        for tokens, tags in self.pairs():
            self.tags.append(tags)
            yield tokens

    def pairs(self) -> Iterator[tuple[Tokens, list[str]]]:
        """Yield the tokens and the tags of each sentence."""
        if self.format == "conllu":
            for tree in read_conllu(self.source):
                yield [(token.form,) for token in tree.words], [sys.intern(token.upos) for token in tree.words]
            return
        for sentence in read_conll(self.source):
            width = len(sentence.rows[0])
            if not -width <= self.label_column < width or width < 2:
                raise ValueError(f"{self.source}: the label column {self.label_column} is not one of {width} columns.")
            place = self.label_column % width
            yield (
                [row[:place] + row[place + 1 :] for row in sentence.rows],
                [sys.intern(row[place]) for row in sentence.rows],
            )


@dataclass(frozen=True)
class Examples:
    """Inputs and outputs as an estimator takes them.

    Label sets are a matrix y of indicators with a column for each of `labels`. Rankings are tuples of `labels`, the
    best first. The `labels` of levels are all from the lowest to the highest that occurs. `columns` are those of X,
    where the file describes them.
    """

    kind: Kind
    X: Any
    y: Any
    labels: tuple[Any, ...] = ()
    columns: tuple[Attribute, ...] = ()


def read_examples(options: argparse.Namespace, known: Known = NOTHING_KNOWN) -> Examples:
    """Read the data file; text comes as a stream of sentences whose tags are known once it has been read."""
    match format_of(options, known):
        case "conll" | "conllu" as form:
            sentences = TaggedSentences(options.data, form, options.label_column)
            return Examples(Kind.TEXT, sentences, sentences.tags)
        case "letters":
            words = list(read_letters(options.data))
            X = [word.pixels.astype(float) for word in words]
            return Examples(Kind.SEQUENCES, X, [list(word.letters) for word in words])
        case "mulan":
            table = read_mulan(options.data, _names_of_labels(options, known))
            _check_columns(options, known, table.features)
            y = table.Y.toarray() if issparse(table.Y) else table.Y
            return Examples(Kind.SETS, table.X, y, table.labels, table.features)
        case "svmlight-multilabel":
            sets = read_multilabel_svmlight(options.data, n_features=known.n_features)
            labels = sorted(set().union(*sets.labels))
            place = {label: column for column, label in enumerate(labels)}
            y = np.zeros((len(sets.labels), len(labels)), dtype=np.int8)
            for row, present in enumerate(sets.labels):
                y[row, [place[label] for label in present]] = 1
            return Examples(Kind.SETS, sets.X, y, tuple(labels))
        case "rankings":
            ranked = read_rankings(options.data, labels=known.labels or None)
            if not ranked.rankings:
                raise FormatError(options.data, None, "no rows below the header.")
            columns = tuple(map(Attribute, ranked.feature_names))
            _check_columns(options, known, columns)
            _check_width(options, known, ranked.X)
            return Examples(Kind.RANKINGS, ranked.X, list(ranked.rankings), ranked.labels, columns)
        case "ordinal":
            graded = _read_ordinal(options.data)
            _check_width(options, known, graded.X)
            levels = tuple(range(int(graded.y.min()), int(graded.y.max()) + 1))
            return Examples(Kind.LEVELS, graded.X, graded.y, levels)
    rows = _read_svmlight(options.data, known.n_features)
    whole = np.array_equal(rows.y, np.rint(rows.y))
    return Examples(Kind.ROWS, rows.X, rows.y.astype(np.int64) if whole else rows.y)


def read_inputs(options: argparse.Namespace, known: Known) -> Any:
    """Read the inputs alone: labels do not matter, and a table may lack them or have ? in their place."""
    match format_of(options, known):
        case "mulan":
            labels = set(read_labels_xml(options.labels) if options.labels else known.labels)
            table = read_arff(options.data)
            kept = [place for place, column in enumerate(table.attributes) if column.name not in labels]
            _check_columns(options, known, tuple(table.attributes[place] for place in kept))
            return table.data[:, kept]
        case "rankings" | "ordinal" as form:
            assert known.n_features is not None
            names, X = read_features(options.data, form == "rankings", known.n_features)
            _check_columns(options, known, tuple(map(Attribute, names)))
            return X
    return read_examples(options, known).X


def _read_svmlight(source: str, n_features: int | None) -> Any:
    try:
        return read_svmlight(source, n_features=n_features)
    except FormatError as error:
        problem = error.problem.replace("use read_multilabel_svmlight", "say --format svmlight-multilabel")
        raise FormatError(error.name, error.line, problem) from None


def _read_ordinal(source: str) -> Any:
    try:
        return read_ordinal(source)
    except FormatError as error:
        cure = " If this is a header, delete it: levels have none." if error.line == 1 else ""
        raise FormatError(error.name, error.line, error.problem + cure) from None


class _LabelsOfModel(io.StringIO):
    name = "the model"


def _names_of_labels(options: argparse.Namespace, known: Known) -> Source:
    """Return the XML file that names the labels, or one made of those that the model knows."""
    if options.labels:
        return str(options.labels)
    if not known.labels:
        raise ValueError(f"{options.data}: which of its columns are labels? Say --labels with the XML file beside it.")
    file = _LabelsOfModel()
    write_labels_xml(known.labels, file)
    file.seek(0)
    return file


def _check_columns(options: argparse.Namespace, known: Known, columns: tuple[Attribute, ...]) -> None:
    """Refuse a table whose columns are not those of training, in their order."""
    names = [column.name for column in columns]
    if known.columns and len(names) != len(known.columns):
        raise ValueError(
            f"{options.data} has {len(names)} columns that are no labels; training had {len(known.columns)}."
        )
    for place, (name, wanted) in enumerate(zip(names, known.columns, strict=False), start=1):
        if name != wanted:
            raise ValueError(f"{options.data}: column {place} is {name!r} where training had {wanted!r}; put it there.")


def _check_width(options: argparse.Namespace, known: Known, X: Any) -> None:
    """Refuse a table with more or fewer columns than in training."""
    if known.n_features not in (None, X.shape[1]):
        raise ValueError(f"{options.data} has {X.shape[1]} features in a row; training had {known.n_features}.")
