"""Equality of records that hold arrays."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

Matrix = Any  # an array or a csr_array


class Record:
    """Base of frozen dataclasses (declared with eq=False) that are equal when all fields to compare are."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        names = [field.name for field in fields(self) if field.compare]  # type: ignore[arg-type]
        return all(same(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]


def same(first: Any, second: Any) -> bool:
    """Compare values; a missing number (nan) equals another, and a stored zero equals one left out."""
    if issparse(first) and issparse(second):
        one, two = _canonical(first), _canonical(second)
        return one.shape == two.shape and all(
            same(getattr(one, part), getattr(two, part)) for part in ("indptr", "indices", "data")
        )
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.array_equal(first, second, equal_nan=first.dtype.kind == "f" and second.dtype.kind == "f")
    if isinstance(first, dict) and isinstance(second, dict):
        return list(first) == list(second) and all(same(first[key], second[key]) for key in first)
    return type(first) is type(second) and bool(first == second)


def _canonical(matrix: Any) -> Any:
    matrix = csr_array(matrix, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix
