"""CoNLL-U: dependency trees of the Universal Dependencies, ten columns separated by tabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from maximand.formats.conll import blocks
from maximand.formats.errors import show
from maximand.formats.fields import one_line
from maximand.formats.sources import MAX_BYTES, Lines, Source, Target, open_lines, open_writer
from maximand.support import Ints

_HEAD = re.compile(r"[0-9]{1,9}")
_ID = re.compile(r"([0-9]{1,9})(?:([.-])([0-9]{1,9}))?")


class Token(NamedTuple):
    """A line as it stands: a word (id 3), a token of several words (id 3-4) or an empty node (id 3.1)."""

    id: str
    form: str
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: str = "_"
    head: str = "_"
    deprel: str = "_"
    deps: str = "_"
    misc: str = "_"


@dataclass(frozen=True)
class Tree:
    """The tokens of a sentence, in the order of the file, and its comment lines."""

    tokens: tuple[Token, ...]
    comments: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[Token, ...]:
        """The syntactic words: neither tokens of several words nor empty nodes."""
        return tuple(token for token in self.tokens if token.id.isdigit())

    @property
    def heads(self) -> Ints:
        """The head of each word: 0 for the root, w for the w-th word, -1 where it is not annotated."""
        return np.array([-1 if word.head == "_" else int(word.head) for word in self.words], dtype=np.int64)

    @property
    def metadata(self) -> dict[str, str]:
        """The comments of the form `# key = value`."""
        pairs = (comment[1:].partition("=") for comment in self.comments)
        return {key.strip(): value.strip() for key, equals, value in pairs if equals}


def read_conllu(source: Source, *, max_bytes: int = MAX_BYTES) -> Iterator[Tree]:
    """Iterate over sentences; max_bytes is the most decompressed text that one of them may hold."""
    with open_lines(source, max_bytes=max_bytes) as lines:
        for comments, block in blocks(lines, "#"):
            tokens = []
            for number, line in block:
                columns = line.split("\t")
                if len(columns) != len(Token._fields) or "" in columns:
                    raise lines.error(f"{len(columns)} columns; ten are needed, none empty (_ is none).", number)
                tokens.append(Token(*columns))
            _check_tokens(lines, [number for number, _ in block], tokens)
            yield Tree(tuple(tokens), comments)


def write_conllu(trees: Iterable[Tree], target: Target) -> None:
    """Write sentences."""
    with open_writer(target) as file:
        for tree in trees:
            file.writelines(one_line(comment, "A comment") + "\n" for comment in tree.comments)
            file.writelines("\t".join(one_line(c, "A column", "\t") for c in token) + "\n" for token in tree.tokens)
            file.write("\n" if tree.tokens else "")


def _check_tokens(lines: Lines, numbers: list[int], tokens: list[Token]) -> None:
    """Words are numbered 1, 2, ...; a range lies before its first word; empty nodes follow a word; heads exist."""
    n_words = sum(token.id.isdigit() for token in tokens)
    word = node = covered = 0
    for number, token in zip(numbers, tokens, strict=True):
        match = _ID.fullmatch(token.id)
        first, kind, second = (int(match[1]), match[2], int(match[3] or 0)) if match else (-1, None, 0)
        if kind is None and first == word + 1:
            word, node = first, 0
            if token.head != "_" and not (_HEAD.fullmatch(token.head) and word != int(token.head) <= n_words):
                raise lines.error(f"the head of word {word} is {show(token.head)}, not 0 or another word.", number)
        elif kind == "-" and first == word + 1 and covered < first <= second <= n_words:
            covered = second
        elif kind == "." and first == word and second == node + 1:
            node = second
        else:
            raise lines.error(f"the id {show(token.id)} after word {word}; ids are 1, 2, ..., 3-4 and 3.1.", number)
