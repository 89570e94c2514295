"""CoNLL columns: a token on each line, its columns side by side, a blank line after each sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from maximand.formats.fields import one_line
from maximand.formats.sources import MAX_BYTES, Lines, Source, Target, open_lines, open_writer

_GAP = re.compile(r"[ \t]+")  # other white space, such as a no-break space, is part of a token


@dataclass(frozen=True)
class Sentence:
    """The columns of each token, and the comment lines before the first."""

    rows: tuple[tuple[str, ...], ...]
    comments: tuple[str, ...] = ()

    def column(self, index: int) -> tuple[str, ...]:
        """Return one column: words are often column 0 and tags column -1."""
        return tuple(row[index] for row in self.rows)


def read_conll(
    source: Source,
    *,
    separator: str | None = None,
    comment: str | None = None,
    encoding: str = "utf-8",
    max_bytes: int = MAX_BYTES,
) -> Iterator[Sentence]:
    r"""Iterate over sentences. All tokens of a file have the same number of columns.

    separator: None for any run of spaces and tabs, or a string such as "\t", between which columns may be empty.
    comment: how lines of comment before a sentence begin; None where a sentence may begin with such a token.
    max_bytes: the most decompressed text that one sentence may hold.
    """
    width = 0
    with open_lines(source, max_bytes=max_bytes, encoding=encoding) as lines:
        for comments, block in blocks(lines, comment):
            rows = []
            for number, line in block:
                columns = _columns(line, separator)
                width = width or len(columns)
                if len(columns) != width:
                    raise lines.error(f"{len(columns)} columns where lines above have {width}.", number)
                rows.append(columns)
            yield Sentence(tuple(rows), comments)


def write_conll(sentences: Iterable[Sentence], target: Target, *, separator: str = " ") -> None:
    """Write sentences; a column must not contain the separator, nor be empty where that is a space."""
    with open_writer(target) as file:
        for sentence in sentences:
            file.writelines(one_line(comment, "A comment") + "\n" for comment in sentence.comments)
            for row in sentence.rows:
                line = separator.join(row)
                if not line.strip(" \t") or _columns(line, None if separator == " " else separator) != row:
                    raise ValueError(f"The token {row} has an empty column or a separator in it; choose another one.")
                file.write(one_line(line, "A token") + "\n")
            file.write("\n" if sentence.rows else "")


def _columns(line: str, separator: str | None) -> tuple[str, ...]:
    return tuple(_GAP.split(line.strip(" \t")) if separator is None else line.split(separator))


def blocks(lines: Lines, comment: str | None) -> Iterator[tuple[tuple[str, ...], list[tuple[int, str]]]]:
    """Iterate over the comments and the numbered lines of each sentence; comments after the last one are dropped."""
    comments, block = list[str](), list[tuple[int, str]]()
    for line in lines:
        if line.strip(" \t"):
            if comment and not block and line.startswith(comment):
                comments.append(line)
            else:
                block.append((lines.number, line))
        elif block:
            yield tuple(comments), block
            lines.forget()
            comments, block = [], []
    if block:
        yield tuple(comments), block
