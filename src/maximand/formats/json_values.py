"""Values of JSON, checked: objects, lists, whole numbers, and matrices with or without their zeros."""

from __future__ import annotations

import json
import sys
from itertools import chain
from math import isfinite
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from maximand.formats.errors import FormatError, show
from maximand.formats.fields import LARGEST
from maximand.formats.records import Matrix
from maximand.formats.sources import Lines

SPARSE = ("n_features", "indices", "values")


def read_object(lines: Lines, row: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Read an object from a line, with some of these names; what is null is left out."""

    def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise lines.error("a name is there twice; keep one.")
        return found

    def refuse(constant: str) -> None:
        raise lines.error(f"{constant} is no number of JSON; replace it by a finite one.")

    try:
        found = json.loads(row, object_pairs_hook=without_repeats, parse_constant=refuse)
    except FormatError:
        raise
    except json.JSONDecodeError as problem:
        raise lines.error(f"not JSON at character {problem.pos + 1} ({problem.msg}).") from None
    except (ValueError, RecursionError):
        raise lines.error("JSON with too many digits, or with too many brackets within brackets.") from None
    if not isinstance(found, dict):
        raise lines.error(f"{show(row)} is no object; a line holds one, in braces.")
    unknown = next((name for name in found if name not in names), None)
    if unknown is not None:
        raise lines.error(f"{show(unknown)} is not known; the names are {', '.join(names)}.")
    return {name: value for name, value in found.items() if value is not None}


def shown(value: Any) -> str:
    """Quote a value for a message."""
    return show(json.dumps(value, ensure_ascii=False))


def lists(lines: Lines, value: Any, what: str, name: str) -> list[list[Any]]:
    """Check that a value is a list of lists."""
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        raise lines.error(f"{name} is {shown(value)}; give a list with a list for each {what}.")
    return value


def wholes(lines: Lines, value: Any, name: str, most: int = LARGEST) -> list[int]:
    """Check that a value is a list of whole numbers from 0 to `most`."""
    if not isinstance(value, list):
        raise lines.error(f"{name} is {shown(value)}; give a list of whole numbers.")
    for number in value:
        if type(number) is not int or not 0 <= number <= most:
            raise lines.error(f"{name} has {shown(number)}; give whole numbers from 0 to {most}.")
    return value


def read_matrix(lines: Lines, value: Any, what: str, name: str) -> Matrix:
    """Read a row of numbers for each node, edge, ...; or an object with the columns that are not zero."""
    if isinstance(value, dict):
        return _sparse(lines, value, what, name)
    rows = lists(lines, value, what, name)
    width = len(rows[0]) if rows else 0
    for i, row in enumerate(rows):
        if len(row) != width:
            raise lines.error(f"{what} {i} has {len(row)} features but {what} 0 has {width}; all need the same.")
    return np.array(_reals(lines, rows, what), dtype=float).reshape(len(rows), width)


def _sparse(lines: Lines, value: dict[str, Any], what: str, name: str) -> csr_array:
    if set(value) != set(SPARSE):
        raise lines.error(f"{name} has {show(', '.join(value))}; an object needs {', '.join(SPARSE)}.")
    [width] = wholes(lines, [value["n_features"]], "n_features")
    columns, values = (lists(lines, value[part], what, f"{part} of {name}") for part in ("indices", "values"))
    if len(columns) != len(values):
        raise lines.error(f"{name} has {len(columns)} lists of indices but {len(values)} of values.")
    for i, (row, own) in enumerate(zip(columns, values, strict=True)):
        wholes(lines, row, f"indices of {what} {i}", width - 1)
        if len(row) != len(own):
            raise lines.error(f"{what} {i} has {len(row)} indices but {len(own)} values; give as many.")
        if sorted(set(row)) != row:
            raise lines.error(f"the indices of {what} {i} are {shown(row)}; they must increase.")
    data = np.array(_reals(lines, values, what), dtype=float)
    indices = np.array(list(chain.from_iterable(columns)), dtype=np.int64)
    return csr_array((data, indices, np.cumsum([0, *map(len, columns)])), shape=(len(columns), width))


def _reals(lines: Lines, rows: list[list[Any]], what: str) -> list[float]:
    """Check numbers and put them one after the other."""
    for i, row in enumerate(rows):
        for number in row:
            if type(number) not in (int, float) or abs(number) > sys.float_info.max or not isfinite(number):
                raise lines.error(f"{what} {i} has the feature {shown(number)}; give finite numbers.")
    return [float(number) for row in rows for number in row]


def matrix_value(matrix: Matrix) -> Any:
    """Return a matrix as JSON has it."""
    if not np.isfinite(matrix.data if issparse(matrix) else matrix).all():
        raise ValueError("A matrix with NaN or infinity cannot be written in this format; replace them.")
    if not issparse(matrix):
        return matrix.tolist()
    matrix = csr_array(matrix)
    matrix.sum_duplicates()
    cuts = matrix.indptr[1:-1]
    return {
        "n_features": matrix.shape[1],
        "indices": [row.tolist() for row in np.split(matrix.indices, cuts)],
        "values": [row.tolist() for row in np.split(matrix.data, cuts)],
    }
