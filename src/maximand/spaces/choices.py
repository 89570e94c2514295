"""Several independent choices."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from maximand.capabilities import Can
from maximand.spaces.choice import Choice
from maximand.spaces.labels import Labels
from maximand.spaces.table import TableSpace
from maximand.support import Array, Geometry, Ints, Support


@dataclass(frozen=True)
class Choices(TableSpace):
    """Each of several slots gets one of k labels, whatever the others get: part (s, l) says that slot s has label l.

    The hull is the set of row-stochastic matrices. With as many labels as slots it holds the permutation matrices.
    """

    n_choices: int
    n_labels: int

    indicators = True

    @property
    def can(self) -> Can:
        """Sums too."""
        return self._usual | Can.DIRECT_PROJECTIONS | Can.MARGINALS

    @property
    def n_slots(self) -> int:
        """A slot for each choice."""
        return self.n_choices

    @property
    def width(self) -> int:
        """Slots times labels."""
        return self.n_slots * self.n_labels

    @property
    def binary(self) -> bool:
        """Return True."""
        return True

    def nodes(self, theta: Array) -> Array:
        """View theta as the matrix (slot, label)."""
        return theta.reshape(-1, self.n_labels)

    def encode(self, annotation: Labels) -> Array:
        """Return the indicators of the known labels."""
        return annotation.one_hot.ravel()

    def decode(self, psi: Array) -> list[Ints]:
        """Return the labels of the slots of every example."""
        return list(self.nodes(psi).argmax(axis=1).reshape(self.n_examples, self.n_slots))

    def argmax(self, theta: Array, state: Any = None) -> Support:
        """Largest score of each slot."""
        return self._summed(self._each.argmax(theta))

    def marginals(self, theta: Array, temperature: float = 1.0, state: Any = None) -> Support:
        """Log-sum-exp of each slot."""
        return self._summed(self._each.marginals(theta, temperature))

    def project(self, theta: Array, geometry: Geometry = Geometry.EUCLIDEAN, state: Any = None) -> Support:
        """Sparsemax or softmax of each slot."""
        return self._summed(self._each.project(theta, geometry))

    def project_given(self, theta: Array, annotation: Labels, geometry: Geometry = Geometry.EUCLIDEAN) -> Support:
        """Project each slot onto the simplex of the labels that the annotation allows."""
        return self._summed(self._each.project_given(theta, annotation, geometry))

    @property
    def _each(self) -> Choice:
        return Choice(self.n_examples * self.n_slots, self.n_labels)

    def _summed(self, slots: Support) -> Support:
        value = slots.value.reshape(self.n_examples, self.n_slots).sum(axis=1)
        return Support(value, self.layout.scale(slots.mean, (value > -np.inf).astype(float)))

    def outputs(self) -> Array:
        """Return every combination of labels."""
        labels = np.array(list(product(range(self.n_labels), repeat=self.n_slots)))
        return np.eye(self.n_labels)[labels].reshape(len(labels), -1)
