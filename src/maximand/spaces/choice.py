"""One of k labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.capabilities import USUAL, Can
from maximand.numerics.choice import best_columns, soft_columns
from maximand.numerics.simplex import project_simplex
from maximand.spaces.labels import Labels
from maximand.spaces.table import TableSpace
from maximand.support import Array, Geometry, Support


@dataclass(frozen=True)
class Choice(TableSpace):
    """Multiclass outputs: part l of example i says that its label is l, so theta is a matrix (example, label).

    The hull is the simplex.
    """

    n_labels: int

    n_slots = 1
    indicators = True

    @property
    def can(self) -> Can:
        """Sums too."""
        return USUAL | Can.DIRECT_PROJECTIONS | Can.MARGINALS | Can.MIXED

    @property
    def width(self) -> int:
        """A part for each label."""
        return self.n_labels

    @property
    def binary(self) -> bool:
        """Return True."""
        return True

    def nodes(self, theta: Array) -> Array:
        """View theta as the matrix (slot, label)."""
        return theta.reshape(self.n_examples, self.n_labels)

    def encode(self, annotation: Labels) -> Array:
        """Return the indicators of the known labels."""
        return annotation.one_hot.ravel()

    def decode(self, psi: Array) -> list[int]:
        """Return the label of every example."""
        return self.nodes(psi).argmax(axis=1).tolist()

    def argmax(self, theta: Array, state: Any = None) -> Support:
        """Largest score of each row."""
        values, mean = np.empty(self.n_examples), np.empty(self.n_parts)
        best_columns(self.nodes(theta), values, self.nodes(mean))
        return Support(values, mean)

    def marginals(self, theta: Array, temperature: float = 1.0) -> Support:
        """Log-sum-exp and softmax of each row."""
        values, mean = np.empty(self.n_examples), np.empty(self.n_parts)
        soft_columns(self.nodes(theta), temperature, values, self.nodes(mean))
        return Support(values, mean)

    def argmax_other(self, theta: Array, annotation: Labels) -> Support:
        """Largest score among the labels that the annotation excludes."""
        return self.argmax(np.where(annotation.allowed_nodes.ravel(), -np.inf, theta))

    def marginals_other(self, theta: Array, annotation: Labels, temperature: float = 1.0) -> Support:
        """Log-sum-exp over the labels that the annotation excludes."""
        return self.marginals(np.where(annotation.allowed_nodes.ravel(), -np.inf, theta), temperature)

    def project(self, theta: Array, geometry: Geometry = Geometry.EUCLIDEAN, state: Any = None) -> Support:
        """Sparsemax or softmax of each row."""
        if geometry is Geometry.ENTROPIC:
            return self.marginals(theta)
        values, mean = np.empty(self.n_examples), np.empty(self.n_parts)
        project_simplex(self.nodes(theta), values, self.nodes(mean))
        return Support(values, mean)

    def project_given(self, theta: Array, annotation: Labels, geometry: Geometry = Geometry.EUCLIDEAN) -> Support:
        """Project onto the simplex of the labels that the annotation allows."""
        return self.project(self.restricted(theta, annotation), geometry)

    def argmax_product(self, first: Array, first_constant: Array, second: Array, second_constant: Array) -> Support:
        """Largest product by trying every label."""
        a = self.nodes(first) + first_constant[:, None]
        b = self.nodes(second) + second_constant[:, None]
        return self.argmax(np.where(b > 0, a * b, 0.0).ravel())

    def outputs(self) -> Array:
        """Return the k indicators."""
        return np.eye(self.n_labels)
