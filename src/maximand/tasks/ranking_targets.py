"""The forms in which rankings come, and what they say: which labels come before which, and which tie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.orders import Order, order_of_text, problem_of
from maximand.support import Array
from maximand.tasks.label_names import Candidates, coded, given_classes, is_frame, unknown

TARGETS = ("orders", "scores", "positions")


@dataclass(frozen=True)
class Ranked:
    """Rankings that were read from a table with a column for each of `labels`."""

    orders: list[Order]
    labels: np.ndarray


def read_orders(Y: Any, classes: Any = None) -> list[Order]:
    """Return every ranking as the labels that tie, the best first; -1 is skipped unless it is one of the classes."""
    if isinstance(Y, Ranked):
        return Y.orders
    if isinstance(Y, str) or not hasattr(Y, "__iter__"):
        raise ValueError(f"y is {Y!r}; give a ranking for each row, such as ['b', 'a', 'c'], the best first.")
    return [_order(ranking, i, classes) for i, ranking in enumerate(_rows(Y))]


def _rows(Y: Any) -> Any:
    if not is_frame(Y):
        return Y.tolist() if isinstance(Y, np.ndarray) else Y
    values = Y.to_numpy()
    if values.dtype.kind in "biuf":
        raise ValueError(
            "y is a data frame of numbers; say target='scores' or target='positions', whose columns are labels, or "
            "give an array where its numbers are labels in order."
        )
    return values.tolist()


def _order(ranking: Any, i: int, classes: Any) -> Order:
    if unknown(ranking):
        return ()
    order = order_of_text(ranking) if isinstance(ranking, str) else _listed(ranking, i, classes)
    problem = problem_of(order)
    if problem is not None:
        raise ValueError(f"y[{i}] {problem}.")
    return order


def _listed(ranking: Any, i: int, classes: Any) -> Order:
    if isinstance(ranking, (dict, bytes, *Candidates)) or not hasattr(ranking, "__iter__"):
        raise ValueError(f"y[{i}] is {ranking!r}; list the labels in order, such as ['b', 'a', 'c'], the best first.")
    try:
        order = tuple(_tied(label, classes) for label in coded(ranking, classes) if label is not None)
        hash(order)
        return tuple(group for group in order if group)
    except TypeError:
        raise ValueError(f"y[{i}] is {ranking!r}; labels are strings, numbers or tuples.") from None


def _tied(label: Any, classes: Any) -> tuple[Any, ...]:
    """Return the labels in a place of an order: one, or those known of a set that ties."""
    if not isinstance(label, Candidates):
        return (label,)
    return tuple(tied for tied in coded(label, classes) if tied is not None)


def read_target(Y: Any, target: str, classes: Any) -> Any:
    """Return rankings as `read_orders` takes them, of scores (higher is better) or positions (lower is better).

    These are tables with a column for each label: those of a data frame are named, others are the classes in their
    order, or else 0, 1, ... What is equal ties, and what is not known (-1 is no position) is not listed.
    """
    if target not in TARGETS:
        raise ValueError(f"target is {target!r}; choose one of {', '.join(map(repr, TARGETS))}.")
    if target == "orders" or isinstance(Y, Ranked):
        return Y
    table = _table(Y, target)
    if is_frame(Y):
        labels = list(Y.columns)
    else:
        labels = list(range(table.shape[1])) if classes is None else given_classes(classes).tolist()
    if len(labels) != table.shape[1]:
        raise ValueError(f"y has {table.shape[1]} columns but there are {len(labels)} labels; give each a column.")
    ranks = -table if target == "scores" else table
    return Ranked([_groups(row, labels) for row in ranks], given_classes(labels))


def _table(Y: Any, target: str) -> Array:
    rows = Y.to_numpy() if is_frame(Y) else Y
    try:
        table = np.array([[np.nan if unknown(value) else value for value in row] for row in rows], dtype=float)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2:
        raise ValueError(f"y is no table of numbers, which target={target!r} asks for; give a row for each example.")
    if target == "positions":
        table[table == -1] = np.nan
    wrong = np.argwhere(np.isinf(table) | ((target == "positions") & (table < 0)))
    if wrong.size:
        i, j = wrong[0].tolist()
        raise ValueError(f"y[{i}, {j}] is {table[i, j]}; give finite {target}, None where one is not known.")
    return table


def _groups(ranks: Array, labels: list[Any]) -> Order:
    levels = np.unique(ranks[ranks == ranks])
    return tuple(tuple(labels[j] for j in np.flatnonzero(ranks == level)) for level in levels)
