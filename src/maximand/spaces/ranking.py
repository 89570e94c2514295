"""Permutations as vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np

from maximand.capabilities import Can
from maximand.numerics import permutahedron
from maximand.spaces.labels import Labels
from maximand.spaces.matching import Matching
from maximand.spaces.table import TableSpace
from maximand.support import Array, Bools, Geometry, Ints, Support


@dataclass(frozen=True)
class Ranking(TableSpace):
    """Each of k items gets one of k positions, all different: psi holds for each item the weight of its position.

    Weights descend from the first position to the last, by default k, ..., 1; the hull of their permutations is the
    permutahedron that they induce. A slot is an item, its label the position.
    """

    n_items: int
    weights: Array | None = None

    def __post_init__(self) -> None:
        if self.weights is None:
            object.__setattr__(self, "weights", np.arange(self.n_items, 0.0, -1.0))
        weights = np.ascontiguousarray(self.weights, dtype=float)
        if weights.shape != (self.n_items,) or not np.isfinite(weights).all() or (np.diff(weights) > 0).any():
            raise ValueError(
                f"The weights of positions are {weights}; give {self.n_items} finite numbers, from the first position "
                "to the last, none larger than the one before."
            )
        object.__setattr__(self, "weights", weights)

    @property
    def _weights(self) -> Array:
        assert self.weights is not None
        return self.weights

    @property
    def n_labels(self) -> int:  # type: ignore[override]
        """As many positions as items."""
        return self.n_items

    @property
    def can(self) -> Can:
        """No sums."""
        return self._usual | Can.DIRECT_PROJECTIONS

    @property
    def width(self) -> int:
        """A part for each item."""
        return self.n_items

    @property
    def n_slots(self) -> int:
        """A slot for each item."""
        return self.n_items

    @property
    def nonnegative(self) -> bool:
        """Whether no weight is negative."""
        return bool(self._weights[-1] >= 0)

    def encode(self, annotation: Labels) -> Array:
        """Return the weights of the known positions."""
        return np.where(annotation.codes >= 0, self._weights[np.maximum(annotation.codes, 0)], 0.0)

    def decode(self, psi: Array) -> list[Ints]:
        """Return the position of every item; items of equal weight stand in their own order."""
        order = np.argsort(-self.by_example(psi), axis=1, kind="stable")
        positions = np.empty_like(order)
        np.put_along_axis(positions, order, np.arange(self.n_items)[None], axis=1)
        return list(positions)

    def argmax(self, theta: Array, state: Any = None) -> Support:
        """Sort: the largest score gets the largest weight."""
        return self._orders(permutahedron.best_orders, theta)

    def argmax_given(self, theta: Array, annotation: Labels, state: Any = None) -> Support:
        """Best order that agrees with the annotation: an assignment of positions, with score times weight."""
        pairs = _products(theta, self._weights).ravel()
        found = Matching(self.n_examples, self.n_items).argmax_given(pairs, annotation)
        return replace(found, mean=found.mean.reshape(-1, self.n_items) @ self._weights)

    def project(self, theta: Array, geometry: Geometry = Geometry.EUCLIDEAN, state: Any = None) -> Support:
        """Sort, then isotonic regression."""
        if geometry is Geometry.EUCLIDEAN:
            return self._orders(permutahedron.project_euclidean, theta)
        return self._orders(permutahedron.project_entropic, theta)

    def project_given(self, theta: Array, annotation: Labels, geometry: Geometry = Geometry.EUCLIDEAN) -> Support:
        """Mix orders that agree with the annotation. Their parts must be counts, so negative weights are raised to 0.

        All orders have the same sum of weights: a Euclidean projection moves with them.
        """
        if self.nonnegative:
            return super().project_given(theta, annotation, geometry)
        least = self._weights[-1]
        found = replace(self, weights=self._weights - least).project_given(theta, annotation, geometry)
        mean = found.mean + least
        value = self.layout.dot(theta, mean) - self.layout.dot(mean, 0.5 * mean)
        return replace(found, value=np.where(found.value > -np.inf, value, -np.inf), mean=mean, bound=None)

    def _orders(self, kernel, theta: Array) -> Support:  # type: ignore[no-untyped-def]
        values, mean = np.empty(self.n_examples), np.empty(self.n_parts)
        kernel(self.by_example(theta), self._weights, values, self.by_example(mean))
        return Support(values, mean)

    def outputs(self) -> Array:
        """Return every order of the weights."""
        orders = np.array(list(permutations(range(self.n_items))))
        return np.unique(self._weights[orders], axis=0)

    def expected(self, matrix: Array, mean: Array) -> Array:
        """Expected costs of positions, where they depend on the true position through its weight alone.

        matrix[a, b] = f(a) + g(b) + s w(a) w(b); f sums to a constant over all items.
        """
        f, g, s = self._products_of_weights(matrix)
        return f.mean() + g + s * np.outer(mean, self._weights)

    def affine(self, values: Array) -> tuple[Array, Array]:
        """values[l, j] = f(l) + g(j) + slope(l) w(j) with the same g for all items of an example."""
        by_item = values.reshape(self.n_examples, self.n_items, self.n_items)
        centred = self._weights - self._weights.mean()
        rest = by_item - by_item.mean(axis=1, keepdims=True)
        rest = rest - rest.mean(axis=2, keepdims=True)
        slopes = rest @ centred / max(float(centred @ centred), np.finfo(float).tiny)
        self._require(np.allclose(rest, slopes[:, :, None] * centred, atol=1e-9 * (1.0 + np.abs(values).max())))
        constant = by_item.mean(axis=2).sum(axis=1) - slopes.sum(axis=1) * self._weights.mean()
        return slopes.ravel(), constant

    def _products_of_weights(self, matrix: Array) -> tuple[Array, Array, float]:
        w = self._weights
        centred = w - w.mean()
        rest = matrix - matrix.mean(axis=0) - matrix.mean(axis=1, keepdims=True) + matrix.mean()
        s = float(centred @ rest @ centred) / max(float(centred @ centred) ** 2, np.finfo(float).tiny)
        self._require(np.allclose(rest, s * np.outer(centred, centred), atol=1e-9 * (1.0 + np.abs(matrix).max())))
        remainder = matrix - s * np.outer(w, w)
        g = remainder.mean(axis=0)
        return remainder.mean(axis=1) - g.mean(), g, s

    def _require(self, affine: Bools | bool) -> None:
        if not affine:
            raise ValueError(
                "This cost is not affine in the weights of positions, the parts of a Ranking, as Squared() is on full "
                "rankings; use a loss that needs no cost, such as euclidean, or a Matching (encoding='matrix'), in "
                "whose parts every cost of positions is affine."
            )


def _products(theta: Array, weights: Array) -> Array:
    """theta[l] * weights[j], where a forbidden part may have weight 0."""
    finite = np.where(np.isfinite(theta), theta, 0.0)
    forbidden = ~np.isfinite(theta)[:, None] & (weights != 0)
    return np.where(forbidden, -np.inf, np.outer(finite, weights))
