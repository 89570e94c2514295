"""An ordered level for each row of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maximand.costs import Absolute, Cost
from maximand.features import PerLabel, Rows
from maximand.spaces import Labels, Ordinal, OutputSpace
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

    def bind(self, X: Any, Y: Any) -> tuple[BoundOrdinal, Rows, Labels]:
        """Find the levels."""
        names = classes_of(Y, self.classes)
        bound = BoundOrdinal(names, self.cost or Absolute(), PerLabel(X.shape[1], names.count - 1, self.bias))
        inputs = bound.inputs(X)
        return bound, inputs, bound.annotation(X, Y, inputs)


class BoundOrdinal(BoundMulticlass):
    """An ordinal task with known levels."""

    @property
    def n_columns(self) -> int:
        """A threshold between neighbouring levels."""
        return self.names.count - 1

    def space(self, X: Any, inputs: Rows) -> Ordinal:  # type: ignore[override]
        """Return one level for each row."""
        return Ordinal(inputs.offsets.size - 1, self.names.count)

    def means(self, space: OutputSpace, mean: Array) -> Array:
        """Return the chances of the levels, (row, level)."""
        assert isinstance(space, Ordinal)
        return space.distribution(mean)
