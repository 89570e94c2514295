"""svmlight / LIBSVM rows, one label or several, and LETOR's judged documents: `label qid:3 1:0.5 7:2 # comment`.

scikit-learn parses the rows. It is handed one line at a time, so when it fails the line to blame is the last one.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from maximand.formats.errors import FormatError, show
from maximand.formats.fields import LARGEST, is_real, shortest, trimmed
from maximand.formats.records import Record
from maximand.formats.sources import MAX_BYTES, Lines, Source, Target, open_lines, open_writer
from maximand.support import Array, Bools, Ints

ZeroBased = bool | Literal["auto"]


@dataclass(frozen=True, eq=False)
class LabelledRows(Record):
    """Feature rows with a label each, and with the query of each row where the file groups its rows.

    zero_based: whether the file counted features from 0.
    """

    X: csr_array
    y: Array
    queries: Ints | None = None
    zero_based: bool = field(default=False, compare=False)


@dataclass(frozen=True, eq=False)
class MultilabelRows(Record):
    """Feature rows with any number of labels each, in increasing order.

    zero_based: whether the file counted features from 0.
    """

    X: csr_array
    labels: tuple[tuple[int, ...], ...]
    zero_based: bool = field(default=False, compare=False)


@dataclass(frozen=True, eq=False)
class JudgedDocuments(Record):
    """Documents, how relevant each is to its query, and what the file remarks on it."""

    X: csr_array
    relevance: Ints
    queries: Ints
    comments: tuple[str, ...]


def read_svmlight(
    source: Source, *, n_features: int | None = None, zero_based: ZeroBased = "auto", max_bytes: int = MAX_BYTES
) -> LabelledRows:
    """Read rows of one label; zero_based="auto" takes indices to begin at 1 unless an index 0 occurs."""
    with open_lines(source, max_bytes=max_bytes) as lines:
        return _labelled(_Rows(lines, _data_lines(lines)), n_features, zero_based)


def stream_svmlight(
    source: Source, n_features: int, *, n_rows: int = 10_000, zero_based: bool = False
) -> Iterator[LabelledRows]:
    """Read rows of one label, n_rows at a time."""
    with open_lines(source) as lines:
        remaining = _data_lines(lines)
        for first in remaining:
            yield _labelled(_Rows(lines, chain([first], islice(remaining, n_rows - 1))), n_features, zero_based)
            lines.forget()


def read_multilabel_svmlight(
    source: Source, *, n_features: int | None = None, zero_based: ZeroBased = "auto", max_bytes: int = MAX_BYTES
) -> MultilabelRows:
    """Read rows such as `1,5,7 3:0.5`; a row without labels begins with its features."""
    with open_lines(source, max_bytes=max_bytes) as lines:
        rows = _Rows(lines, _data_lines(lines))
        X, found = rows.parse(n_features, zero_based, multilabel=True)
        for row, labels in enumerate(found):
            if rows.queries[row] is not None:
                raise rows.error(row, "a qid beside several labels; leave it out.")
            if any(not 0 <= label <= LARGEST or label != int(label) for label in labels):
                raise rows.error(row, "a label is not a whole number from 0 up; number the labels.")
            if len(set(labels)) < len(labels):
                raise rows.error(row, "a label is there twice; keep one.")
        return MultilabelRows(X, tuple(tuple(map(int, labels)) for labels in found), rows.zero_based)


def read_letor(
    source: Source, *, n_features: int | None = None, zero_based: ZeroBased = False, max_bytes: int = MAX_BYTES
) -> JudgedDocuments:
    """Read the judged documents of all queries."""
    with open_lines(source, max_bytes=max_bytes) as lines:
        return _judged(_Rows(lines, _data_lines(lines)), n_features, zero_based)


def stream_letor(source: Source, n_features: int, *, zero_based: bool = False) -> Iterator[JudgedDocuments]:
    """Read the judged documents of one query after the other; the rows of a query stand together."""
    with open_lines(source) as lines:
        for _, group in groupby(_data_lines(lines), key=lambda line: line.split(None, 2)[1:2]):
            yield _judged(_Rows(lines, group), n_features, zero_based)
            lines.forget()


def write_svmlight(data: LabelledRows, target: Target, *, zero_based: bool = False) -> None:
    """Write rows of one label; numbers read back exactly."""
    queries = [""] * len(data.y) if data.queries is None else [f" qid:{query}" for query in data.queries]
    _write(target, zero_based, data.X, (shortest(y) + query for y, query in zip(data.y, queries, strict=True)))


def write_multilabel_svmlight(data: MultilabelRows, target: Target, *, zero_based: bool = False) -> None:
    """Write rows of several labels; a row needs a label or a feature, since a blank line is no row."""
    for row, labels in enumerate(data.labels):
        if not labels and data.X.indptr[row] == data.X.indptr[row + 1]:
            raise ValueError(f"Row {row} has no label and no feature, which this format cannot hold; store a zero.")
    _write(target, zero_based, data.X, (",".join(map(str, labels)) for labels in data.labels))


def write_letor(data: JudgedDocuments, target: Target, *, zero_based: bool = False) -> None:
    """Write judged documents with their comments."""
    starts = (f"{level} qid:{query}" for level, query in zip(data.relevance, data.queries, strict=True))
    ends = (f" # {trimmed(comment, 'A comment')}" if comment else "" for comment in data.comments)
    _write(target, zero_based, data.X, starts, ends)


def _write(target: Target, zero_based: bool, X: Any, starts: Iterable[str], ends: Iterable[str] | None = None) -> None:
    X = csr_array(X, copy=True)
    X.sum_duplicates()
    with open_writer(target) as file:
        for row, (start, end) in enumerate(zip(starts, ends or [""] * X.shape[0], strict=True)):
            part = slice(X.indptr[row], X.indptr[row + 1])
            pairs = zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True)
            file.write(start + "".join(f" {j + (not zero_based)}:{shortest(v)}" for j, v in pairs) + end + "\n")


def _labelled(rows: _Rows, n_features: int | None, zero_based: ZeroBased) -> LabelledRows:
    X, y = rows.parse(n_features, zero_based)
    grouped = [row for row, query in enumerate(rows.queries) if query is not None]
    if grouped and len(grouped) < len(y):
        raise rows.error(grouped[0], "some rows have a qid and some have none; give one to each row or to none.")
    return LabelledRows(X, y, rows.query_numbers() if grouped else None, rows.zero_based)


def _judged(rows: _Rows, n_features: int | None, zero_based: ZeroBased) -> JudgedDocuments:
    X, y = rows.parse(n_features, zero_based)
    for row in np.flatnonzero((y != np.floor(y)) | (np.abs(y) > LARGEST)):
        raise rows.error(int(row), f"relevance is {shortest(y[row])}; it must be a whole number.")
    return JudgedDocuments(X, y.astype(np.int64), rows.query_numbers(), tuple(rows.comments))


def _data_lines(lines: Lines) -> Iterator[bytes]:
    """Leave out blank lines and lines of comment."""
    return (line for line in lines.binary() if line.partition(b"#")[0].strip())


class _Rows:
    """The file that scikit-learn believes to read; it keeps what scikit-learn drops: line numbers, qids, comments."""

    def __init__(self, lines: Lines, data_lines: Iterable[bytes]) -> None:
        self.lines, self.data_lines = lines, data_lines
        self.numbers, self.queries, self.comments = array("q"), list[bytes | None](), list[str]()
        self.present, self.zero_based = b"", False

    def __iter__(self) -> Iterator[bytes]:
        for line in self.data_lines:
            self.present, _, comment = line.partition(b"#")
            if b"_" in self.present:
                raise ValueError("an underscore is part of no number")
            tokens = self.present.split(None, 2)[:2]
            self.numbers.append(self.lines.number)
            self.queries.append(next((token[4:] for token in tokens if token.startswith(b"qid")), None))
            self.comments.append(self.lines.decode(comment).strip())
            yield self.present

    def read(self) -> bytes:
        """Look like an open file."""
        raise NotImplementedError

    def error(self, row: int, problem: str) -> FormatError:
        """Return the error to raise about a row."""
        return self.lines.error(problem, self.numbers[row])

    def parse(self, n_features: int | None, zero_based: ZeroBased, multilabel: bool = False) -> tuple[csr_array, Any]:
        """Return features and labels, all finite; `zero_based` is then what was found."""
        from sklearn.datasets import load_svmlight_file  # slow to import

        try:
            X, y = load_svmlight_file(self, zero_based=zero_based is not False, multilabel=multilabel)
        except FormatError:
            raise
        except (ValueError, OverflowError) as problem:
            culprit = _culprit(self.present, multilabel, zero_based is False)
            raise self.lines.error(culprit or f"scikit-learn cannot read it: {problem}.") from None
        if not self.numbers:
            raise self.lines.error("no rows; the file is empty or all comment.")
        X = csr_array(X)
        self.zero_based = bool((X.indices == 0).any()) if zero_based == "auto" else zero_based
        if zero_based == "auto" and X.indices.size and not self.zero_based:
            X = csr_array((X.data, X.indices - 1, X.indptr), shape=(X.shape[0], X.shape[1] - 1))
        width = min(X.shape[1], LARGEST) if n_features is None else n_features
        self._check(X, X.indices < width, f"an index beyond the {width} features; raise n_features or renumber.")
        self._check(X, np.isfinite(X.data), "a value is not finite; replace it.")
        if not multilabel:
            for row in np.flatnonzero(~np.isfinite(y)):
                raise self.error(int(row), "the label is not finite; replace it.")
        return csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width)), y

    def _check(self, X: csr_array, fine: Bools, problem: str) -> None:
        if not fine.all():
            raise self.error(int(np.searchsorted(X.indptr, np.argmin(fine), side="right")) - 1, problem)

    def query_numbers(self) -> Ints:
        """Return the qid of every row."""
        queries = [query or b"" for query in self.queries]
        for row, query in enumerate(queries):
            if not re.fullmatch(rb"[0-9]{1,18}", query):
                raise self.error(row, f"qid is {show(query)}; each row needs a whole number, `label qid:3 1:0.5`.")
        return np.array(list(map(int, queries)), dtype=np.int64)


def _culprit(line: bytes, multilabel: bool, one_based: bool) -> str:
    """Say what is wrong with a row, or nothing where scikit-learn must be quoted."""
    tokens = [token.decode("utf-8", "replace") for token in line.split()]
    if not (multilabel and ":" in tokens[0]):
        label = tokens.pop(0)
        if not all(map(is_real, label.split(",") if multilabel else [label])):
            cure = "write a number" if multilabel or "," not in label else "use read_multilabel_svmlight"
            return f"the label {show(label)} is not a number; {cure}."
    previous = 0 if one_based else -1
    for token in tokens[1:] if tokens and tokens[0].startswith("qid:") else tokens:
        index, _, value = token.partition(":")
        if not re.fullmatch("[0-9]{1,18}", index) or not is_real(value):
            return f"{show(token)} is not index:value with finite numbers."
        if int(index) > LARGEST:
            return f"the index {index} is above {LARGEST}; number the features anew."
        if int(index) <= previous:
            start = "they begin at 1" if previous == 0 else "they must increase"
            return f"the index {index} is out of order; {start}."
        previous = int(index)
    return ""
