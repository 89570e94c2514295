"""Tables in csv files: rankings of labels under a header, or levels without one."""

from __future__ import annotations

from array import array

import numpy as np

from maximand.formats.errors import show
from maximand.formats.fields import is_real, reals, unquoted
from maximand.formats.sources import Source, open_lines
from maximand.support import Array


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


def read_features(source: Source, header: bool, n_features: int) -> tuple[tuple[str, ...], Array]:
    """Read the names and the values of features; a row may have its output behind them, whatever it is.

    Without a header the names are empty.
    """
    values, n_rows = array("d"), 0
    names: tuple[str, ...] = ()
    with open_lines(source) as lines:
        rows = lines.rows()
        if header:
            listed = _fields(next(rows, ""))
            if all(map(is_real, listed)):
                raise lines.error("no header; the names of the columns must come first.")
            names = tuple(listed[:-1] if listed[-1].lower() == "ranking" else listed)
        for row in rows:
            fields = _fields(row)
            if not n_features <= len(fields) <= n_features + 1:
                raise lines.error(f"{len(fields)} columns; training had {n_features}, and an output may follow.")
            values.extend(reals(lines, fields[:n_features]))
            n_rows += 1
        if not n_rows:
            raise lines.error("no rows to predict.")
    return names, np.array(values).reshape(n_rows, n_features)


def _fields(row: str) -> list[str]:
    return list(map(unquoted, row.split(",") if "," in row else row.split()))
