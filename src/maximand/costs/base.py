"""What a mistake costs the user: Delta(y_true, y), affine in the parts of y."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any

import numpy as np

from maximand.numerics.rows import with_rows_added
from maximand.spaces import Labels, OutputSpace, Product
from maximand.spaces.labelled import LabelledSpace
from maximand.support import Array, Ints


class Cost(ABC):
    """A cost that is affine in the parts of the prediction. One method serves training and prediction."""

    @abstractmethod
    def __call__(self, y_true: Any, y: Any) -> float:
        """Return the cost of predicting y, in decoded form, where y_true holds; both fully known."""

    @abstractmethod
    def linear(self, space: OutputSpace, mean: Array) -> tuple[Array, Array]:
        """Return v, c with E[cost(Y, y)] = v_i @ psi(y) + c_i for every example i, when psi(Y) has the given mean."""

    def against(self, space: OutputSpace, annotation: Any) -> tuple[Array, Array]:
        """Return v, c with cost = v_i @ psi(y) + c_i, the least over the outputs that agree with the annotation."""
        return self.linear(space, space.encode(annotation))

    def augmented(
        self, theta: Array, space: OutputSpace, annotation: Any, factor: float
    ) -> tuple[Array, Array | float]:
        """Return theta + factor * v and factor * c, for v, c as `against` gives them."""
        vector, constant = self.against(space, annotation)
        return space.layout.expand(theta) + factor * vector, factor * constant


class LabelCost(Cost):
    """A sum over slots of matrix[true label, label]; a slot whose label is not known costs nothing."""

    normalized: bool = False

    @abstractmethod
    def matrix(self, n_labels: int) -> Array:
        """Return the cost of a slot, (true label, label), with a zero diagonal."""

    def __call__(self, y_true: Any, y: Any) -> float:
        """Return the cost of one example of known labels."""
        y_true, y = np.atleast_1d(y_true), np.atleast_1d(y)
        slot_costs = self.matrix(int(max(y_true.max(), y.max())) + 1)[y_true, y]
        return float(slot_costs.mean() if self.normalized else slot_costs.sum())

    def linear(self, space: Any, mean: Array) -> tuple[Array, Array]:
        """Expected cost of every label at every slot."""
        self._require(space)
        values = space.expected(self._matrix(space), mean)
        return space.affine(values * self._shares(space)[:, None] if self.normalized else values)

    def against(self, space: Any, annotation: Labels) -> tuple[Array, Array]:
        """Least cost of every label over the candidates of the slot."""
        table, codes, weights = self.of_slots(space, annotation)
        return space.affine(table[codes] * weights[:, None] if weights.size else table[codes])

    def augmented(self, theta: Array, space: Any, annotation: Labels, factor: float) -> tuple[Array, Array | float]:
        """Add those least costs; where parts are indicators, in place of the slots, which are the first parts."""
        self._require(space)
        if not space.indicators:
            return super().augmented(theta, space, annotation, factor)
        return with_rows_added(theta, *self.of_slots(space, annotation), factor), 0.0

    def of_slots(self, space: Any, annotation: Labels) -> tuple[Array, Ints, Array]:
        """Return a table of costs, (line, label), the line that each slot has, and the weight of the slot.

        Empty weights are ones; lines may count from the end of the table.
        """
        self._require(space)
        table, lines = annotation.cost_rows(self._matrix(space))
        weights = annotation.weights if annotation.weights is not None else np.empty(0)
        if self.normalized:
            weights = self._shares(space) * (weights if weights.size else 1.0)
        return table, lines, weights

    def _matrix(self, space: Any) -> Array:
        """Return the costs (true, predicted) of the labels of a space, or of their states."""
        if space.states is None:
            return self.matrix(space.n_labels)
        return np.asarray(space.states.costs(self.matrix(space.states.n_labels)))

    def _shares(self, space: Any) -> Array:
        return 1.0 / np.bincount(space.slots)[space.slots]

    def _require(self, space: Any) -> None:
        """Refuse a space without labels, and one that the cost is not for."""
        name = type(self).__name__
        if isinstance(space, Product):
            raise ValueError(
                f"{name} compares labels, and the outputs of a Product are tuples; give Sum((...)) a cost for each of "
                f"its {len(space.factors)} factors."
            )
        if not isinstance(space, LabelledSpace):
            raise ValueError(
                f"{name} compares labels, and the outputs of type {type(space).__name__} have parts but no labels; use "
                "DifferentParts(), or a cost of your own."
            )
        self._check(space)

    def _check(self, space: Any) -> None:
        """Refuse a space in whose parts the cost is not affine."""


def check_top(top: Any) -> None:
    """Refuse a number of first places that is none."""
    if not isinstance(top, Integral) or top < 1:
        raise ValueError(f"top is {top!r}; it must be a whole number, at least 1.")
