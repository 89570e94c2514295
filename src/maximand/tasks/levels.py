"""An ordered level for each row of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maximand.costs import Absolute, Cost
from maximand.features import Examples, PerLabel
from maximand.spaces import Labels, Ordinal
from maximand.support import Array
from maximand.tasks.base import Task
from maximand.tasks.multiclass import BoundMulticlass, classes_of


@dataclass(frozen=True)
class OrdinalTask(Task):
    """Choose one of several ordered levels for each row; an annotation is a level, a set of candidates, or None.

    classes: the levels from the lowest to the highest; None for the categories of an ordered pandas Categorical, or
    else those that occur, sorted, which strings are not.
    """

    bias: bool = True
    cost: Cost | None = None
    classes: Any = None

    def bind(self, X: Any, Y: Any) -> tuple[BoundOrdinal, Examples, Labels]:
        """Find the levels."""
        listed = levels_of(Y) if self.classes is None else self.classes
        names = classes_of(Y, listed)
        if listed is None:
            _refuse_unordered(names.classes.tolist())
        bound = BoundOrdinal(names, self.cost or Absolute(), PerLabel(X.shape[1], names.count - 1, self.bias))
        examples = bound.encode(X)
        return bound, examples, bound.annotation(examples, Y)


def levels_of(Y: Any) -> list[Any] | None:
    """Return the categories of an ordered pandas Categorical, from the lowest to the highest; None of anything else."""
    kind: Any = getattr(Y, "dtype", None)
    return list(kind.categories) if getattr(kind, "ordered", False) else None


def _refuse_unordered(levels: list[Any]) -> None:
    """Refuse levels whose order cannot be told."""
    text = next((level for level in levels if isinstance(level, (str, bytes))), None)
    if text is not None:
        raise ValueError(
            f"y has the level {text!r}, and the order of text is not known; list the levels from the lowest to the "
            "highest with classes=, or give an ordered pandas Categorical."
        )


class BoundOrdinal(BoundMulticlass):
    """An ordinal task with known levels."""

    @property
    def n_columns(self) -> int:
        """A threshold between neighbouring levels."""
        return self.names.count - 1

    def space(self, n_examples: int) -> Ordinal:
        """Return one level for each row."""
        return Ordinal(n_examples, self.names.count)

    def quick(self, weights: Array) -> None:
        """Return None: levels are chosen by sums of scores."""
        return

    def means(self, examples: Examples, mean: Array) -> Array:
        """Return the chances of the levels, (row, level)."""
        return self.space(examples.n_examples).distribution(mean)
