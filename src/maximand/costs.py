"""What a mistake costs the user: Delta(y_true, y), affine in the parts of y."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.numerics.rows import with_rows_added
from maximand.spaces import Labels, OutputSpace, Parts
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
        return theta + factor * vector, factor * constant


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
        self._check(space)
        vector = np.zeros(space.n_parts)
        by_label = space.nodes(mean) @ self.matrix(space.n_labels)
        space.nodes(vector)[:] = by_label * self._shares(space)[:, None] if self.normalized else by_label
        return vector, np.zeros(space.n_examples)

    def against(self, space: Any, annotation: Labels) -> tuple[Array, Array]:
        """Least cost of every label over the candidates of the slot."""
        vector, _ = self.augmented(np.zeros(space.n_parts), space, annotation, 1.0)
        return vector, np.zeros(space.n_examples)

    def augmented(self, theta: Array, space: Any, annotation: Labels, factor: float) -> tuple[Array, float]:
        """Add those least costs; the slots are the first parts of the space."""
        return with_rows_added(theta, *self.rows(space, annotation), factor), 0.0

    def rows(self, space: Any, annotation: Labels) -> tuple[Array, Ints, Array]:
        """Return a table whose rows are the costs of the labels of a slot, the row of each slot, and its weight.

        Empty weights are ones; rows may count from the end of the table.
        """
        self._check(space)
        matrix = self.matrix(space.n_labels)
        ambiguous = [matrix[candidates].min(axis=0) for candidates in reversed(annotation.candidates)]
        table = np.vstack([matrix, *ambiguous, np.zeros(space.n_labels)])  # negative codes count from the end
        weights = annotation.weights if annotation.weights is not None else np.empty(0)
        if self.normalized:
            weights = self._shares(space) * (weights if weights.size else 1.0)
        return table, annotation.codes, weights

    def _shares(self, space: Any) -> Array:
        return 1.0 / np.bincount(space.slots)[space.slots]

    def _check(self, space: Any) -> None:
        """Refuse a space in whose parts the cost is not affine."""


@dataclass(frozen=True)
class Hamming(LabelCost):
    """The number of wrong labels, each weighted by the class it should have had; normalized: their share."""

    class_weight: Array | None = None
    normalized: bool = False

    def matrix(self, n_labels: int) -> Array:
        """Return class_weight[true] off the diagonal."""
        weight = np.ones(n_labels) if self.class_weight is None else np.asarray(self.class_weight, dtype=float)
        return weight[:n_labels, None] * (1.0 - np.eye(n_labels))


@dataclass(frozen=True)
class ZeroOne(Hamming):
    """1 for a wrong output, 0 for the right one: affine in the parts of spaces with one slot only."""

    def __call__(self, y_true: Any, y: Any) -> float:
        """Return whether the outputs differ."""
        return float(super().__call__(y_true, y) > 0)

    def _check(self, space: Any) -> None:
        if space.slots.size != space.n_examples:
            raise ValueError(
                f"ZeroOne is not affine in the parts of a {type(space).__name__}; use Hamming(), or "
                "Hamming(normalized=True) to stay between 0 and 1."
            )


@dataclass(frozen=True)
class CostMatrix(LabelCost):
    """costs[true label, label] at every slot, any nonnegative matrix with a zero diagonal."""

    costs: Any
    normalized: bool = False

    def __post_init__(self) -> None:
        costs = np.asarray(self.costs, dtype=float)
        if costs.ndim != 2 or costs.shape[0] != costs.shape[1]:
            raise ValueError(f"A cost matrix is square, one row and column for each label; got shape {costs.shape}.")
        if not np.isfinite(costs).all() or (costs < 0).any() or np.diag(costs).any():
            raise ValueError("A cost matrix has finite entries, none negative, and zeros on its diagonal.")

    def matrix(self, n_labels: int) -> Array:
        """Return the given costs."""
        costs = np.asarray(self.costs, dtype=float)
        if len(costs) < n_labels:
            raise ValueError(f"The cost matrix has {len(costs)} rows but there are {n_labels} labels.")
        return costs[:n_labels, :n_labels]


@dataclass(frozen=True)
class DifferentParts(Cost):
    """The number of parts in which two outputs differ, for spaces whose parts occur once or not at all."""

    def __call__(self, y_true: Any, y: Any) -> float:
        """Return the number of differing parts of one example."""
        return float(np.abs(np.asarray(y_true, dtype=float) - np.asarray(y, dtype=float)).sum())

    def linear(self, space: OutputSpace, mean: Array) -> tuple[Array, Array]:
        """|p - q| = p + q - 2 p q for p, q in {0, 1}."""
        return 1.0 - 2.0 * mean, space.dot(np.ones_like(mean), mean)

    def against(self, space: OutputSpace, annotation: Parts) -> tuple[Array, Array]:
        """Count annotated parts only."""
        vector, constant = self.linear(space, space.encode(annotation))
        return np.where(annotation.psi >= 0, vector, 0.0), constant
