"""Which pairs of labels have a weight at the ends of an edge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from maximand.support import Ints

Ends = tuple[Any, Any]  # the names of the types of the two nodes of an edge


def chosen(tables: Any, joined: list[Ends]) -> dict[Ends, Any]:
    """Return the tables of each pair of types of nodes that edges join; of those that a dict leaves out, "full"."""
    if not isinstance(tables, Mapping):
        return dict.fromkeys(joined, tables)
    other = next((ends for ends in tables if ends not in joined), None)
    if other is not None:
        what = "no edges join" if joined != [(None, None)] else "is for nodes of types, and these have none"
        raise ValueError(f"tables names {other!r}, which {what}; leave it out.")
    return {ends: tables.get(ends, "full") for ends in joined}


def pattern(tables: str | Any, shape: tuple[int, int], ends: tuple[Any, Any] = (None, None)) -> Ints:
    """Return which weight each pair of labels has, -1 for none; `ends` names the types of nodes that have them.

    "full": one for each ordered pair. "symmetric": one for each unordered pair. "diagonal": one for each label, where
    both ends have it. "potts": one weight, where both ends agree. "none": no weights. Or a matrix of such numbers.
    """
    if not isinstance(tables, str):
        return _numbered(np.asarray(tables), shape)
    square, n_labels = np.full(shape, -1), shape[0]
    if ends[0] != ends[1] and tables in ("symmetric", "diagonal", "potts"):
        raise ValueError(
            f"tables={tables!r} compares labels of one type, and edges join {ends}; give a dict of tables such as "
            f"{{{ends}: 'full'}}."
        )
    match tables:
        case "full":
            return np.arange(square.size).reshape(shape)
        case "symmetric":
            upper = np.triu_indices(n_labels)
            square[upper] = np.arange(upper[0].size)
            return np.maximum(square, square.T)
        case "diagonal":
            np.fill_diagonal(square, np.arange(n_labels))
        case "potts":
            np.fill_diagonal(square, 0)
        case "none":
            pass
        case _:
            raise ValueError(f"There are no tables {tables!r}; choose full, symmetric, diagonal, potts or none.")
    return square


def _numbered(tables: np.ndarray, shape: tuple[int, int]) -> Ints:
    if tables.shape != shape:
        there = f"{shape[0]} labels" if shape[0] == shape[1] else f"{shape[0]} and {shape[1]} labels at its ends"
        raise ValueError(
            f"tables has shape {tables.shape} and there are {there}; give a matrix {shape} with the number of the "
            "weight of each pair of labels, or -1 for none."
        )
    if tables.dtype.kind not in "iu" or (tables < -1).any():
        raise ValueError("tables holds something else than whole numbers from 0, or -1 for pairs without a weight.")
    used = np.unique(tables[tables >= 0])
    if used.size and used[-1] >= used.size:
        skipped = int(np.argmax(used != np.arange(used.size)))
        raise ValueError(f"tables skips the number {skipped}; number the weights 0, 1, ... without gaps.")
    return tables.astype(np.int64)
