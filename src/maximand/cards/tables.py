"""Tables in files: those of training and those to predict for have the same columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

from maximand.cards.data import Known, Unlabelled
from maximand.formats import Attribute
from maximand.formats.errors import show
from maximand.formats.fields import is_real, reals, unquoted
from maximand.formats.sources import Source, open_lines


def has_rankings(source: Source) -> bool:
    """Say by the first line whether a csv file holds rankings of labels or levels."""
    with open_lines(source) as lines:
        fields = _fields(next(lines.rows(), ""))
        if not fields:
            raise lines.error("no rows; the file is empty.")
        if fields[-1].lower() == "ranking":
            return True
        if not all(map(is_real, fields)):
            raise lines.error(
                f"the last column is {show(fields[-1])}; name it `ranking` where rankings follow, or delete this line "
                "where levels do: these have no header. Columns are separated by commas."
            )
        return False


def unlabelled_csv(source: Source, known: Known, header: bool) -> Iterator[Unlabelled]:
    """Read the features of a csv file; a row may have its output behind them, whatever it is.

    Without a header the columns have no names to check.
    """
    values, n_rows, n_features = array("d"), 0, known.n_features
    assert n_features is not None
    names: list[str] = []
    with open_lines(source) as lines:
        rows = lines.rows()
        if header:
            listed = _fields(next(rows, ""))
            if all(map(is_real, listed)):
                raise lines.error("no header; the names of the columns must come first.")
            names = listed[:-1] if listed[-1].lower() == "ranking" else listed
        for row in rows:
            fields = _fields(row)
            if not n_features <= len(fields) <= n_features + 1:
                raise lines.error(f"{len(fields)} columns; training had {n_features}, and an output may follow.")
            values.extend(reals(lines, fields[:n_features]))
            n_rows += 1
        if not n_rows:
            raise lines.error("no rows to predict.")
    if header:
        check_columns(source, known, tuple(map(Attribute, names)))
    yield Unlabelled(np.array(values).reshape(n_rows, n_features))


def check_columns(source: Source, known: Known, columns: tuple[Attribute, ...]) -> None:
    """Refuse a table whose columns are not those of training, in their order."""
    names = [column.name for column in columns]
    if known.columns and len(names) != len(known.columns):
        raise ValueError(f"{source} has {len(names)} columns that are no labels; training had {len(known.columns)}.")
    for place, (name, wanted) in enumerate(zip(names, known.columns, strict=False), start=1):
        if name != wanted:
            raise ValueError(f"{source}: column {place} is {name!r} where training had {wanted!r}; put it there.")


def check_width(source: Source, known: Known, X: Any) -> None:
    """Refuse a table with more or fewer columns than in training."""
    if known.n_features not in (None, X.shape[1]):
        raise ValueError(f"{source} has {X.shape[1]} features in a row; training had {known.n_features}.")


def _fields(row: str) -> list[str]:
    return list(map(unquoted, row.split(",") if "," in row else row.split()))
