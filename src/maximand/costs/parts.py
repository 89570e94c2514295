"""Costs of parts, and of products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.costs.base import Cost
from maximand.spaces import Annotations, Chain, Graph, OutputSpace, Parts, Product, Ranking
from maximand.support import Array


@dataclass(frozen=True)
class DifferentParts(Cost):
    """The number of parts in which two outputs differ, for spaces whose parts occur once or not at all."""

    def __call__(self, y_true: Any, y: Any) -> float:
        """Return the number of differing parts of one example."""
        return float(np.abs(np.asarray(y_true, dtype=float) - np.asarray(y, dtype=float)).sum())

    def linear(self, space: OutputSpace, mean: Array) -> tuple[Array, Array]:
        """|p - q| = p + q - 2 p q for p, q in {0, 1}."""
        if _counts(space):
            raise ValueError(
                "DifferentParts() is for parts that occur once or not at all, and those of this "
                f"{type(space).__name__} may be other numbers; use Hamming(), or Squared() for positions."
            )
        return 1.0 - 2.0 * mean, space.layout.dot(np.ones_like(mean), mean)

    def against(self, space: OutputSpace, annotation: Any) -> tuple[Array, Array]:
        """Count annotated parts only."""
        psi = space.encode(annotation)
        vector, constant = self.linear(space, psi)
        if (psi > 1).any():
            raise ValueError(
                "DifferentParts() is for parts that occur once or not at all, and one occurs "
                f"{psi.max():g} times in an annotated output; give a cost of your own."
            )
        if isinstance(annotation, Parts):
            return np.where(annotation.psi >= 0, vector, 0.0), constant
        partial = np.flatnonzero(~annotation.full)
        if partial.size:
            raise ValueError(
                f"DifferentParts() does not know which parts the labels of example {partial[0]} leave open; use "
                "Hamming()."
            )
        return vector, constant


def _counts(space: OutputSpace) -> bool:
    """Whether it is known that parts may occur several times, as where edges share a table, or are other numbers."""
    if isinstance(space, Graph):
        return any(np.unique(graph.tables).size < graph.tables.size for graph in space.graphs.structures.graphs)
    if isinstance(space, Product):
        return any(map(_counts, space.factors))
    return isinstance(space, (Chain, Ranking))


@dataclass(frozen=True)
class Sum(Cost):
    """The costs of the factors of a product, added up."""

    costs: tuple[Cost, ...]

    def __call__(self, y_true: Any, y: Any) -> float:
        """Add up over the factors of one example."""
        return sum(cost(*pair) for cost, *pair in zip(self.costs, y_true, y, strict=True))

    def linear(self, space: Any, mean: Array) -> tuple[Array, Array]:
        """One after the other."""
        parts = zip(self.costs, space.factors, space.split(mean), strict=True)
        return _joined([cost.linear(factor, part) for cost, factor, part in parts])

    def against(self, space: Any, annotation: Annotations) -> tuple[Array, Array]:
        """One after the other."""
        parts = zip(self.costs, space.factors, annotation.factors, strict=True)
        return _joined([cost.against(factor, part) for cost, factor, part in parts])


def _joined(found: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    return np.concatenate([vector for vector, _ in found]), np.sum([constant for _, constant in found], axis=0)
