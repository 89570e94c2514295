"""Data files on the command line: which format, and as what they reach an estimator."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maximand.formats import read_conll, read_conllu, read_letters, read_svmlight

SUFFIXES = {
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight", ".conll": "conll", ".bio": "conll",
    ".iob": "conll", ".txt": "conll", ".tsv": "conll", ".conllu": "conllu", ".data": "letters",
}  # fmt: skip
FORMATS = ("conll", "conllu", "svmlight", "letters")

Tokens = list[tuple[str, ...]]


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add what says how to read a data file."""
    parser.add_argument("--format", choices=FORMATS, help="the format of the data; by default by the name of the file")
    parser.add_argument(
        "--label-column",
        type=int,
        default=-1,
        metavar="N",
        help="column of the tags in CoNLL files (default: the last)",
    )


def format_of(options: argparse.Namespace) -> str:
    """Return the format of the data file, given or by its name."""
    if options.format:
        return str(options.format)
    name = options.data.removesuffix(".gz")
    for suffix, found in SUFFIXES.items():
        if name.endswith(suffix):
            return found
    raise ValueError(f"{options.data}: its name does not tell the format; say --format {'|'.join(FORMATS)}.")


@dataclass
class TaggedSentences:
    """Sentences of a file, read as they are asked for; `tags` grows meanwhile."""

    source: str
    kind: str
    label_column: int = -1
    tags: list[list[str]] = field(default_factory=list)

    def __iter__(self) -> Iterator[Tokens]:
        for tokens, tags in self.pairs():
            self.tags.append(tags)
            yield tokens

    def pairs(self) -> Iterator[tuple[Tokens, list[str]]]:
        """Yield the tokens and the tags of each sentence."""
        if self.kind == "conllu":
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
    """Inputs and outputs as an estimator takes them; `sequences` says whether there is a tag for each token."""

    X: Any
    y: Any
    sequences: bool
    textual: bool


def read_examples(options: argparse.Namespace) -> Examples:
    """Read the data file; text comes as a stream of sentences whose tags are known once it has been read."""
    kind = format_of(options)
    if kind in ("conll", "conllu"):
        sentences = TaggedSentences(options.data, kind, options.label_column)
        return Examples(sentences, sentences.tags, sequences=True, textual=True)
    if kind == "letters":
        words = list(read_letters(options.data))
        X = [word.pixels.astype(float) for word in words]
        return Examples(X, [list(word.letters) for word in words], sequences=True, textual=False)
    rows = read_svmlight(options.data, n_features=getattr(options, "n_features", None))
    y = rows.y.astype(np.int64) if np.array_equal(rows.y, np.rint(rows.y)) else rows.y
    return Examples(rows.X, y, sequences=False, textual=False)
