"""ARFF tables of numeric and nominal attributes, dense or sparse: `0.5,red,1` or `{0 0.5,2 1}`."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from maximand.formats.errors import show
from maximand.formats.fields import integer, is_plain, is_real, one_line, shortest
from maximand.formats.records import Matrix, Record
from maximand.formats.sources import MAX_BYTES, Lines, Source, Target, open_lines, open_writer

_QUOTED = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
_ATTRIBUTE = re.compile(rf"@attribute\s++({_QUOTED}|[^\s{{]++)\s*+(.++)", re.IGNORECASE)
_FIELD = re.compile(rf"((?:[^,'\"]++|{_QUOTED})*+)(,|$)")
_BARE = re.compile(r"[A-Za-z0-9_.+-]+")


@dataclass(frozen=True)
class Attribute:
    """A column: numeric, or nominal with its values in order."""

    name: str
    values: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Arff(Record):
    """A table. A nominal value is stored as its position among the values, a missing one (?) as nan.

    data: an array for a dense file, a csr_array for a sparse one, in which an entry that is left out is the number 0
    or the first nominal value.
    """

    relation: str
    attributes: tuple[Attribute, ...]
    data: Matrix


def read_arff(source: Source, *, max_bytes: int = MAX_BYTES) -> Arff:
    """Read a table; string, date and relational attributes are refused."""
    with open_lines(source, max_bytes=max_bytes) as lines:
        return read_numbered(lines)[0]


def read_numbered(lines: Lines) -> tuple[Arff, Sequence[int]]:
    """Return a table and the number of the line of each row."""
    content = (stripped for line in lines if (stripped := line.strip()) and not stripped.startswith("%"))
    relation, attributes = "", dict[str, Attribute]()
    for line in content:
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@relation":
            relation = _unquoted(line[len(keyword) :].strip())
        elif keyword == "@attribute":
            attribute = _attribute(lines, line)
            if attribute.name in attributes:
                raise lines.error(f"the attribute {show(attribute.name)} is there twice; rename one.")
            attributes[attribute.name] = attribute
        elif keyword == "@data" and attributes:
            break
        else:
            raise lines.error(f"{show(line)} where @relation, @attribute or, after attributes, @data must stand.")
    else:
        raise lines.error("no @data line; the file is not ARFF or is cut off.")
    rows = _Rows(lines, tuple(attributes.values()))
    for line in content:
        rows.append(line)
    return Arff(relation, rows.attributes, rows.table()), rows.numbers


class _Rows:
    """The rows so far. The first row says whether the table is sparse."""

    def __init__(self, lines: Lines, attributes: tuple[Attribute, ...]) -> None:
        self.lines, self.attributes = lines, attributes
        self.codes = [{value: code for code, value in enumerate(a.values or ())} for a in attributes]
        self.readers: list[Any] = [
            float if attribute.values is None else codes.__getitem__
            for attribute, codes in zip(attributes, self.codes, strict=True)
        ]
        self.sparse = False
        self.numbers, self.values, self.columns, self.starts = array("q"), array("d"), array("q"), array("q", [0])

    def append(self, line: str) -> None:
        sparse = line.startswith("{")
        if not self.numbers:
            self.sparse = sparse
        if sparse != self.sparse:
            raise self.lines.error("sparse rows {...} and dense rows in one file; choose one kind.")
        texts = _split(self.lines, line[1:-1] if sparse else line)
        if sparse:
            texts = self._sparse(line, texts)
            columns: Sequence[int] = self.columns[self.starts[-1] :]
        else:
            columns = range(len(self.attributes))
        if len(texts) != len(columns):
            raise self.lines.error(
                f"{len(texts)} values but {len(columns)} attributes; each row needs a value (? where unknown) for each."
            )
        self.values.extend(self._values(columns, texts))
        self.starts.append(len(self.values))
        self.numbers.append(self.lines.number)

    def _sparse(self, line: str, texts: list[str]) -> list[str]:
        """Keep the columns of a sparse row; return its values."""
        if not line.endswith("}"):
            raise self.lines.error("a sparse row without its closing }; is the file cut off?")
        values, previous = [], -1
        for text in texts if texts != [""] else []:
            column, _, value = text.replace("\t", " ").partition(" ")
            found = integer(self.lines, column, "an index", 0, len(self.attributes) - 1)
            if found <= previous:
                raise self.lines.error(f"the index {found} after {previous}; indices must increase, each once.")
            self.columns.append(found)
            values.append(value.strip())
            previous = found
        return values

    def _values(self, columns: Sequence[int], texts: list[str]) -> list[float]:
        if all(map(is_plain, texts)):
            try:
                values = [self.readers[column](text) for column, text in zip(columns, texts, strict=True)]
                if all(map(isfinite, values)):
                    return values
            except (KeyError, ValueError):
                pass
        return [self._value(column, text) for column, text in zip(columns, texts, strict=True)]

    def _value(self, column: int, text: str) -> float:
        """Read what is not a plain number or name: missing, quoted or wrong."""
        attribute, bare = self.attributes[column], _unquoted(text)
        if text == "?":
            return nan
        if attribute.values is not None and bare in self.codes[column]:
            return self.codes[column][bare]
        if attribute.values is None and is_real(bare):
            return float(bare)
        wanted = "a finite number" if attribute.values is None else "one of its declared values"
        raise self.lines.error(f"attribute {show(attribute.name)} is {show(text)}; it must be {wanted}, or ?.")

    def table(self) -> Matrix:
        """Return all rows as a matrix."""
        shape, values = (len(self.numbers), len(self.attributes)), np.array(self.values, dtype=float)
        if not self.sparse:
            return values.reshape(shape)
        return csr_array((values, np.array(self.columns), np.array(self.starts)), shape=shape)


def write_arff(table: Arff, target: Target) -> None:
    """Write a table: sparse rows for a csr_array, dense rows for an array."""
    writers: list[Any] = [
        shortest if a.values is None else [_quoted(value) for value in a.values].__getitem__ for a in table.attributes
    ]

    def text(column: int, value: float) -> str:
        if isnan(value):
            return "?"
        return writers[column](value if table.attributes[column].values is None else int(value))

    with open_writer(target) as file:
        file.write(f"@relation {_quoted(table.relation)}\n\n")
        for attribute in table.attributes:
            values = attribute.values
            kind = "numeric" if values is None else "{" + ",".join(map(_quoted, values)) + "}"
            file.write(f"@attribute {_quoted(attribute.name)} {kind}\n")
        file.write("\n@data\n")
        if issparse(table.data):
            for start, stop in zip(table.data.indptr, table.data.indptr[1:], strict=False):
                columns, data = table.data.indices[start:stop].tolist(), table.data.data[start:stop].tolist()
                row = ",".join(f"{column} {text(column, v)}" for column, v in zip(columns, data, strict=True))
                file.write("{" + row + "}\n")
        else:
            for values in table.data.tolist():
                file.write(",".join(text(column, value) for column, value in enumerate(values)) + "\n")


def _attribute(lines: Lines, line: str) -> Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if not match:
        raise lines.error(f"{show(line)} is not `@attribute name numeric` or `@attribute name {{value,value}}`.")
    name, kind = _unquoted(match[1]), match[2].strip()
    if kind.lower() in ("numeric", "real", "integer"):
        return Attribute(name)
    if not (kind.startswith("{") and kind.endswith("}")):
        raise lines.error(f"attribute {show(name)} is of kind {show(kind)}; only numeric and nominal ones are read.")
    values = tuple(_unquoted(value) for value in _split(lines, kind[1:-1]))
    if len(set(values)) < len(values) or "" in values:
        raise lines.error(f"attribute {show(name)} has an empty value or one twice; name each value once.")
    return Attribute(name, values)


def _split(lines: Lines, text: str) -> list[str]:
    """Split at commas outside quotes."""
    if "'" not in text and '"' not in text:
        return [field.strip() for field in text.split(",")]
    fields, at, comma = [], 0, ","
    while comma:
        match = _FIELD.match(text, at)
        if not match:
            raise lines.error(f"a quote without its other end in {show(text[at:])}; close it or write \\' for it.")
        fields.append(match[1].strip())
        at, comma = match.end(), match[2]
    return fields


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _quoted(text: str) -> str:
    if _BARE.fullmatch(text):
        return text
    return "'" + re.sub(r"(['\\])", r"\\\1", one_line(text, "A name")) + "'"
