"""Spaces in which every example has the same parts: theta is a matrix with a row for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from maximand.spaces.labelled import LabelledSpace
from maximand.spaces.labels import Labels
from maximand.support import Array, Ints, Support


@dataclass(frozen=True)
class TableSpace(LabelledSpace):
    """The same output set for every example, `width` parts and `n_slots` slots each."""

    n_examples: int

    @property
    def width(self) -> int:
        """Parts per example."""
        raise NotImplementedError

    @property
    def n_slots(self) -> int:
        """Slots per example."""
        raise NotImplementedError

    @property
    def n_parts(self) -> int:  # type: ignore[override]
        """Examples times parts."""
        return self.n_examples * self.width

    @property
    def slots(self) -> Ints:
        """The example that each slot belongs to."""
        return np.repeat(np.arange(self.n_examples), self.n_slots)

    def rows(self, theta: Array) -> Array:
        """View theta as the matrix (example, part)."""
        return theta.reshape(self.n_examples, self.width)

    def take(self, examples: Ints | slice) -> Self:
        """Return the batch of some of the examples."""
        n = examples.stop - examples.start if isinstance(examples, slice) else len(examples)
        return replace(self, n_examples=n)

    @property
    def fields(self) -> tuple[Ints, Ints]:
        """A row for each example."""
        return np.arange(self.n_examples + 1) * self.width, np.zeros(self.n_examples + 1, dtype=np.int64)

    def argmax_other(self, theta: Array, annotation: Labels) -> Support:
        """Best output that contradicts the annotation, over the pieces of Y°."""
        examples, turned = annotation.contradictions()
        found = self.take(examples).argmax_given(self.rows(theta)[examples].ravel(), turned)
        values, mean = np.full(self.n_examples, -np.inf), np.zeros((self.n_examples, self.width))
        order = np.lexsort((-found.value, examples))
        best = order[np.unique(examples[order], return_index=True)[1]]
        values[examples[best]] = found.value[best]
        mean[examples[best]] = found.mean.reshape(-1, self.width)[best]
        return Support(values, mean.ravel(), found.guarantee)

    def marginals_other(self, theta: Array, annotation: Labels, temperature: float = 1.0) -> Support:
        """Soft maximum over the outputs that contradict the annotation: the soft sum over the pieces of Y°."""
        examples, turned = annotation.contradictions()
        found = self.take(examples).marginals_given(self.rows(theta)[examples].ravel(), turned, temperature)
        top = np.full(self.n_examples, -np.inf)
        np.maximum.at(top, examples, found.value)
        finite = np.isfinite(top)
        weights = np.exp((found.value - np.where(finite, top, 0.0)[examples]) / temperature)
        totals = np.bincount(examples, weights=weights, minlength=self.n_examples)
        mean = np.zeros((self.n_examples, self.width))
        np.add.at(mean, examples, weights[:, None] * found.mean.reshape(-1, self.width))
        mean[finite] /= totals[finite, None]
        values = np.full(self.n_examples, -np.inf)
        values[finite] = top[finite] + temperature * np.log(totals[finite])
        return Support(values, mean.ravel(), found.guarantee)
