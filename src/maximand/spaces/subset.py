"""Sets of labels of bounded size."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from maximand.capabilities import Can
from maximand.numerics import budget, counts
from maximand.spaces.labels import Labels, Sizes
from maximand.spaces.table import TableSpace
from maximand.support import Array, Geometry, Ints, Support


@dataclass(frozen=True)
class Subset(TableSpace):
    """Sets of at least `min_size` and at most `max_size` of k items (None: all); part l says that item l is there.

    The hull is the unit cube, cut by the bounds on the sum. An item that is known to be there, or not, is a slot with
    label 1, or 0.
    """

    n_items: int
    min_size: int = 0
    max_size: int | None = None

    n_labels = 2

    def __post_init__(self) -> None:
        if not 0 <= self.min_size <= self.most <= self.n_items:
            raise ValueError(
                f"Sets of {self.min_size} to {self.most} of {self.n_items} items do not exist; sizes must satisfy 0 <= "
                "min_size <= max_size <= the number of items."
            )

    @property
    def can(self) -> Can:
        """Sums too."""
        return self._usual | Can.DIRECT_PROJECTIONS | Can.MARGINALS

    @property
    def most(self) -> int:
        """The largest size."""
        return self.n_items if self.max_size is None else self.max_size

    @property
    def width(self) -> int:
        """A part for each item."""
        return self.n_items

    @property
    def n_slots(self) -> int:
        """A slot for each item."""
        return self.n_items

    @property
    def binary(self) -> bool:
        """Return True."""
        return True

    def encode(self, annotation: Labels) -> Array:
        """Return the indicators of the items that are known to be there."""
        return (annotation.codes == 1).astype(float)

    def decode(self, psi: Array) -> list[Ints]:
        """Return 1 for the items that are there and 0 for the others, for every example."""
        return list((self.by_example(psi) > 0.5).astype(np.int64))

    def argmax(self, theta: Array, state: Any = None) -> Support:
        """Take the items of positive score, as many as the bounds allow or ask for."""
        return self._subsets(budget.best_subsets, theta, self.min_size, self.most)

    def argmax_given(self, theta: Array, annotation: Labels, state: Any = None) -> Support:
        """Best set that agrees with the annotation."""
        return self._given(Subset.argmax, theta, annotation)

    def marginals(self, theta: Array, temperature: float = 1.0, state: Any = None) -> Support:
        """Soft maximum by a dynamic program over sizes."""
        return self._subsets(counts.soft_subsets, theta, self.min_size, self.most, temperature)

    def marginals_given(self, theta: Array, annotation: Labels, temperature: float = 1.0, state: Any = None) -> Support:
        """Soft maximum over the sets that agree with the annotation."""
        return self._given(Subset.marginals, theta, annotation, temperature)

    def marginals_other(self, theta: Array, annotation: Labels, temperature: float = 1.0) -> Support:
        """Soft maximum over the sets that contradict the annotation."""
        if isinstance(annotation, Sizes):
            return super().marginals_other(theta, annotation, temperature)
        codes = np.asarray(annotation.codes, dtype=np.int64).reshape(self.n_examples, self.n_items)
        return self._subsets(counts.soft_contradictions, theta, codes, self.min_size, self.most, temperature)

    def project(self, theta: Array, geometry: Geometry = Geometry.EUCLIDEAN, state: Any = None) -> Support:
        """Clip; where the sum is out of bounds, shift all scores before."""
        kernel = budget.project_euclidean if geometry is Geometry.EUCLIDEAN else budget.project_entropic
        return self._subsets(kernel, theta, self.min_size, self.most)

    def project_given(self, theta: Array, annotation: Labels, geometry: Geometry = Geometry.EUCLIDEAN) -> Support:
        """Project onto the hull of the sets that agree with the annotation."""
        return self._given(Subset.project, theta, annotation, geometry)

    def _subsets(self, kernel, theta: Array, *settings) -> Support:  # type: ignore[no-untyped-def]
        values, mean = np.empty(self.n_examples), np.empty(self.n_parts)
        kernel(self.by_example(theta), *settings, values, self.by_example(mean))
        return Support(values, mean)

    def _given(self, maximum, theta: Array, annotation: Labels, *settings) -> Support:  # type: ignore[no-untyped-def]
        """Force items with infinite scores, which the kernels leave out of the value."""
        allowed = annotation.allowed_nodes
        forced = allowed[:, 1] & ~allowed[:, 0]
        steered = np.where(forced, np.inf, np.where(allowed[:, 1], theta, -np.inf))
        if isinstance(annotation, Sizes):
            found = self._by_sizes(maximum, steered, annotation, *settings)
        else:
            found = maximum(self, steered, *settings)
        possible = found.value > -np.inf
        value = found.value + np.where(possible, self.layout.dot(np.where(forced, theta, 0.0), found.mean), 0.0)
        return Support(value, found.mean)

    def _by_sizes(self, maximum, theta: Array, annotation: Sizes, *settings) -> Support:  # type: ignore[no-untyped-def]
        """Ask for examples of the same sizes together."""
        value, mean = np.full(self.n_examples, -np.inf), np.zeros(self.n_parts)
        sizes = np.stack([np.maximum(annotation.least, self.min_size), np.minimum(annotation.most, self.most)])
        for least, most in np.unique(sizes, axis=1).T.tolist():
            rows = np.flatnonzero((sizes[0] == least) & (sizes[1] == most))
            if least <= most:
                space = Subset(rows.size, self.n_items, least, most)
                found = maximum(space, self.by_example(theta)[rows].ravel(), *settings)
                value[rows], self.by_example(mean)[rows] = found.value, space.by_example(found.mean)
        return Support(value, mean)

    def outputs(self) -> Array:
        """Return every set."""
        sets = np.array(list(product((0.0, 1.0), repeat=self.n_items)))
        sizes = sets.sum(axis=1)
        return sets[(sizes >= self.min_size) & (sizes <= self.most)]

    def expected(self, matrix: Array, mean: Array) -> Array:
        """Absent and present, by their chances."""
        return np.stack([1.0 - mean, mean], axis=1) @ matrix

    def affine(self, values: Array) -> tuple[Array, Array]:
        """Present instead of absent."""
        return values[:, 1] - values[:, 0], self.slot_sums(values[:, 0])
