"""Ordered levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.capabilities import Can
from maximand.numerics import order_simplex
from maximand.spaces.choice import Choice
from maximand.spaces.labels import Labels
from maximand.spaces.table import TableSpace
from maximand.support import Array, Geometry, Support


@dataclass(frozen=True)
class Ordinal(TableSpace):
    """One of k ordered levels, 0 to k - 1: part i says that the level is above i, so psi(y) = e_0 + ... + e_(y-1).

    The hull is the order simplex: 1 >= u_0 >= ... >= u_(k-2) >= 0.
    """

    n_levels: int

    n_slots = 1

    @property
    def can(self) -> Can:
        """Sums too."""
        return self._usual | Can.DIRECT_PROJECTIONS | Can.MARGINALS

    @property
    def n_labels(self) -> int:  # type: ignore[override]
        """The levels."""
        return self.n_levels

    @property
    def width(self) -> int:
        """One threshold less than levels."""
        return self.n_levels - 1

    @property
    def binary(self) -> bool:
        """Return True."""
        return True

    def scores(self, theta: Array) -> Array:
        """Return the score of every level, (example, level)."""
        above = np.cumsum(self.by_example(theta), axis=1)
        return np.concatenate([np.zeros((self.n_examples, 1)), above], axis=1)

    def distribution(self, mean: Array) -> Array:
        """Return the chances of the levels, (example, level), that a mean stands for."""
        edges = np.ones((self.n_examples, 1))
        above = np.concatenate([edges, self.by_example(mean), 0.0 * edges], axis=1)
        return above[:, :-1] - above[:, 1:]

    def _above(self, chances: Array) -> Array:
        """Return the chances of being above each threshold: the inverse of `distribution`."""
        levels = chances.reshape(self.n_examples, self.n_levels)
        return np.cumsum(levels[:, :0:-1], axis=1)[:, ::-1].ravel()

    @property
    def _levels(self) -> Choice:
        return Choice(self.n_examples, self.n_levels)

    def encode(self, annotation: Labels) -> Array:
        """Return the thresholds below the known levels."""
        return (np.arange(self.width) < annotation.codes[:, None]).astype(float).ravel()

    def decode(self, psi: Array) -> list[int]:
        """Return the level of every example."""
        return (self.by_example(psi) > 0.5).sum(axis=1).tolist()

    def argmax(self, theta: Array, state: Any = None) -> Support:
        """Largest score of a level."""
        return self._found(self._levels.argmax(self.scores(theta).ravel()))

    def argmax_given(self, theta: Array, annotation: Labels, state: Any = None) -> Support:
        """Largest score among the levels that the annotation allows."""
        return self._found(self._levels.argmax_given(self.scores(theta).ravel(), annotation))

    def marginals(self, theta: Array, temperature: float = 1.0, state: Any = None) -> Support:
        """Log-sum-exp of the scores of levels."""
        return self._found(self._levels.marginals(self.scores(theta).ravel(), temperature))

    def marginals_given(self, theta: Array, annotation: Labels, temperature: float = 1.0, state: Any = None) -> Support:
        """Log-sum-exp over the levels that the annotation allows."""
        return self._found(self._levels.marginals_given(self.scores(theta).ravel(), annotation, temperature))

    def _found(self, levels: Support) -> Support:
        return Support(levels.value, self._above(levels.mean))

    def project(self, theta: Array, geometry: Geometry = Geometry.EUCLIDEAN, state: Any = None) -> Support:
        """Bounded isotonic regression."""
        kernel = order_simplex.project_euclidean if geometry is Geometry.EUCLIDEAN else order_simplex.project_entropic
        values, mean = np.empty(self.n_examples), np.empty(self.n_parts)
        kernel(self.by_example(theta), values, self.by_example(mean))
        return Support(values, mean)

    def outputs(self) -> Array:
        """Return the k vertices, the lowest level first."""
        return np.tri(self.n_levels, self.width, -1)

    def expected(self, matrix: Array, mean: Array) -> Array:
        """By the chances of the levels."""
        return self.distribution(mean) @ matrix

    def affine(self, values: Array) -> tuple[Array, Array]:
        """A level's value is that of the lowest plus all steps up to it."""
        return np.diff(values, axis=1).ravel(), values[:, 0].copy()
