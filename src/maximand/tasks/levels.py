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

    classes: the levels from the lowest to the highest; None for those that occur, sorted.
    """

    bias: bool = True
    cost: Cost | None = None
    classes: Any = None

    def bind(self, X: Any, Y: Any) -> tuple[BoundOrdinal, Examples, Labels]:
        """Find the levels."""
        names = classes_of(Y, self.classes)
        bound = BoundOrdinal(names, self.cost or Absolute(), PerLabel(X.shape[1], names.count - 1, self.bias))
        examples = bound.encode(X)
        return bound, examples, bound.annotation(examples, Y)


class BoundOrdinal(BoundMulticlass):
    """An ordinal task with known levels."""

    @property
    def n_columns(self) -> int:
        """A threshold between neighbouring levels."""
        return self.names.count - 1

    def space(self, n_examples: int) -> Ordinal:
        """Return one level for each row."""
        return Ordinal(n_examples, self.names.count)

    def means(self, examples: Examples, mean: Array) -> Array:
        """Return the chances of the levels, (row, level)."""
        return self.space(examples.n_examples).distribution(mean)
