"""Rankings as they are written: labels, the best first, some of which tie."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Order = tuple[tuple[Any, ...], ...]  # labels that tie, the best first


def order_of_text(text: str) -> Order:
    """Read "b>a=d>c": b before a and d, which tie, before c."""
    return tuple(tuple(label.strip() for label in tied.split("=")) for tied in text.split(">"))


def items_of(order: Order) -> tuple[Any, ...]:
    """Return a ranking as users write it: labels, and sets of labels that tie."""
    return tuple(tied[0] if len(tied) == 1 else frozenset(tied) for tied in order)


def order_of(items: Iterable[Any]) -> Order:
    """Return what `items_of` was made of, labels that tie in sorted order."""
    return tuple(tuple(sorted(item)) if isinstance(item, (set, frozenset)) else (item,) for item in items)


def text_of(items: Iterable[Any]) -> str:
    """Write a ranking as `order_of_text` reads it."""
    return ">".join("=".join(map(str, tied)) for tied in order_of(items))


def labels_in(items: Iterable[Any]) -> list[Any]:
    """Return the labels that a ranking lists."""
    return [label for tied in order_of(items) for label in tied]


def problem_of(order: Order) -> str | None:
    """Say what is wrong with a ranking."""
    listed = [label for tied in order for label in tied]
    if "" in listed:
        return "has an empty label; write 'b>a=d>c'"
    if len(set(listed)) < len(listed):
        twice = next(label for label in listed if listed.count(label) > 1)
        return f"lists the label {twice!r} twice; a label has one place in a ranking"
    number = next((label for label in listed if isinstance(label, float) and not label.is_integer()), None)
    if number is not None:
        return (
            f"lists {number!r}, a number that is no label; say target='scores' where y holds scores of labels, or "
            "target='positions'"
        )
    return None
