"""Tagged sequences in files: sentences as CoNLL columns or CoNLL-U trees, and handwritten words."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from maximand.cards.data import Dataset, Format, Known, Unlabelled
from maximand.cards.options import Option, Options
from maximand.cards.steps import first_step
from maximand.formats import read_conll, read_conllu, read_letters
from maximand.tasks import WindowVectorizer

Tokens = list[tuple[str, ...]]
Tagged = Iterator[tuple[Tokens, list[str]]]
TEXT = "sentences with a tag for each word"
BATCH = 2000  # sentences that are held at a time


@dataclass
class TaggedSentences:
    """Sentences of a file, read as they are asked for; `tags` grows meanwhile."""

    tagged: Any
    tags: list[list[str]] = field(default_factory=list)

    def __iter__(self) -> Iterator[Tokens]:
        self.tags.clear()
        for tokens, tags in self.tagged():
            self.tags.append(tags)
            yield tokens


def read_columns(source: str, known: Known, options: Options) -> Dataset:
    """Read CoNLL columns as a stream of sentences whose tags are known once it has been read."""
    column = options["label_column"]
    wanted = None if known.model is None else first_step(known.model).n_columns_

    def tagged() -> Tagged:
        for sentence in read_conll(source):
            width = len(sentence.rows[0])
            if not -width <= column < width or width < 2:
                raise ValueError(f"{source}: the label column {column} is not one of {width} columns.")
            if wanted not in (None, width - 1):
                raise ValueError(f"The data have {width} columns; the model was trained on {wanted} and the tags.")
            yield without(sentence.rows, column), [sys.intern(row[column]) for row in sentence.rows]

    sentences = TaggedSentences(tagged)
    return Dataset(source, sentences, sentences.tags)


def without(rows: Any, column: int) -> Tokens:
    """Return the rows of a sentence without a column."""
    place = column % len(rows[0])
    return [row[:place] + row[place + 1 :] for row in rows]


def unlabelled_columns(source: str, known: Known, options: Options) -> Iterator[Unlabelled]:
    """Read CoNLL columns with or without tags, some sentences at a time; a column that is new is left aside."""
    width = first_step(known.model).n_columns_

    def tokens(rows: Tokens) -> Tokens:
        if len(rows[0]) not in (width, width + 1):
            raise ValueError(
                f"The data have {len(rows[0])} columns; the model was trained on {width}, with or without tags."
            )
        return rows if len(rows[0]) == width else without(rows, options["label_column"])

    for sentences in _batches(list(sentence.rows) for sentence in read_conll(source)):
        yield Unlabelled([tokens(rows) for rows in sentences], sentences)


def read_trees(source: str, known: Known, options: Options) -> Dataset:
    """Read the words of trees and their parts of speech, as a stream."""

    def tagged() -> Tagged:
        for tree in read_conllu(source):
            yield [(token.form,) for token in tree.words], [sys.intern(token.upos) for token in tree.words]

    sentences = TaggedSentences(tagged)
    return Dataset(source, sentences, sentences.tags)


def unlabelled_trees(source: str, known: Known, options: Options) -> Iterator[Unlabelled]:
    """Read the words of trees, some sentences at a time."""
    for sentences in _batches(iter(read_trees(source, known, options).X)):
        yield Unlabelled(sentences, sentences)


def _batches(sentences: Iterator[Tokens]) -> Iterator[list[Tokens]]:
    while batch := list(itertools.islice(sentences, BATCH)):
        yield batch


def read_words(source: str, known: Known, options: Options) -> Dataset:
    """Read words of letters, whose features are their pixels."""
    words = list(read_letters(source))
    return Dataset(source, [word.pixels.astype(float) for word in words], [list(word.letters) for word in words])


def _takes_text(model: Any) -> bool:
    return isinstance(first_step(model), WindowVectorizer)


def _takes_vectors(model: Any) -> bool:
    return not _takes_text(model)


LABEL_COLUMN = Option(
    "--label-column", "column of the tags in CoNLL files (default: the last)", int, default=-1, metavar="N"
)
FORMATS = (
    Format(
        "conll", TEXT, read_columns, (".conll", ".bio", ".iob", ".txt", ".tsv"), unlabelled_columns, fits=_takes_text,
        options=(LABEL_COLUMN,),
    ),
    Format("conllu", TEXT, read_trees, (".conllu",), unlabelled_trees, fits=_takes_text),
    Format("letters", "sequences of vectors with a tag for each", read_words, (".data",), fits=_takes_vectors),
)  # fmt: skip
