"""Costs of labels, slot by slot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.costs.base import LabelCost, check_top
from maximand.spaces import Subset
from maximand.support import Array


def _check_weights(weights: Any) -> None:
    array = np.asarray(weights, dtype=float)
    if array.ndim != 1 or not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(f"The weights are {weights}; give a finite number for each label, none negative.")


def _weights_of(weights: Any, n_labels: int) -> Array:
    """Return the weights of so many labels."""
    if len(weights) < n_labels:
        raise ValueError(f"There are {len(weights)} weights of labels but {n_labels} labels.")
    return np.asarray(weights, dtype=float)[:n_labels]


@dataclass(frozen=True)
class Hamming(LabelCost):
    """The number of wrong labels, each weighted by the class it should have had; normalized: their share."""

    class_weight: Array | None = None
    normalized: bool = False

    def __post_init__(self) -> None:
        if self.class_weight is not None:
            _check_weights(self.class_weight)

    def matrix(self, n_labels: int) -> Array:
        """Return class_weight[true] off the diagonal."""
        weight = np.ones(n_labels) if self.class_weight is None else _weights_of(self.class_weight, n_labels)
        return weight[:, None] * (1.0 - np.eye(n_labels))


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
class Absolute(LabelCost):
    """How many levels, or positions, apart two labels are; summed over the items of rankings, Spearman's footrule."""

    normalized: bool = False

    def matrix(self, n_labels: int) -> Array:
        """Return |a - b|."""
        return np.abs(np.subtract.outer(np.arange(n_labels), np.arange(n_labels))).astype(float)


@dataclass(frozen=True)
class Squared(Absolute):
    """The square of that distance; summed over the items of rankings, Spearman's distance."""

    def matrix(self, n_labels: int) -> Array:
        """Return (a - b)^2."""
        return super().matrix(n_labels) ** 2


@dataclass(frozen=True)
class Weighted(LabelCost):
    """Another cost of labels, times a weight for the label that should have been."""

    cost: LabelCost
    weights: Any

    def __post_init__(self) -> None:
        _check_weights(self.weights)

    @property
    def normalized(self) -> bool:  # type: ignore[override]
        """As the cost is."""
        return self.cost.normalized

    def matrix(self, n_labels: int) -> Array:
        """Return weights[true] times the cost."""
        return _weights_of(self.weights, n_labels)[:, None] * self.cost.matrix(n_labels)

    def _check(self, space: Any) -> None:
        self.cost._check(space)


@dataclass(frozen=True)
class PrecisionAt(LabelCost):
    """1 - precision at `top`: the share of a predicted set of that size that is not in the true set, of any size."""

    top: int

    def __post_init__(self) -> None:
        check_top(self.top)

    def matrix(self, n_labels: int) -> Array:
        """Return 1 / top for an item that is absent and predicted."""
        return np.array([[0.0, 1.0 / self.top], [0.0, 0.0]])

    def _check(self, space: Any) -> None:
        if not isinstance(space, Subset) or not space.min_size == space.most == self.top:
            raise ValueError(
                f"PrecisionAt({self.top}) compares sets of that size with others; predict a Subset with "
                f"min_size=max_size={self.top}."
            )
