"""One of k labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.capabilities import NOTHING, USUAL, Can
from maximand.numerics.choice import best_columns, hinge_columns, soft_columns
from maximand.numerics.simplex import project_simplex
from maximand.spaces.label_states import LabelStates
from maximand.spaces.labels import Labels
from maximand.spaces.table import TableSpace
from maximand.support import Array, Bools, Geometry, Support


@dataclass(frozen=True)
class Choice(TableSpace):
    """Multiclass outputs: part l of example i says that its label is l, so theta is a matrix (example, label).

    The hull is the simplex. `states` says what labels stand for where they are hidden states of others.
    """

    n_labels: int
    states: LabelStates | None = None

    n_slots = 1
    indicators = True

    @property
    def can(self) -> Can:
        """Sums too."""
        hidden = Can.HIDDEN if self.states is not None and self.states.several else NOTHING
        return USUAL | Can.LISTS | Can.DIRECT_PROJECTIONS | Can.MARGINALS | Can.MIXED | hidden

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

    def marginals(self, theta: Array, temperature: float = 1.0, state: Any = None) -> Support:
        """Log-sum-exp and softmax of each row."""
        values, mean = np.empty(self.n_examples), np.empty(self.n_parts)
        soft_columns(self.nodes(theta), temperature, values, self.nodes(mean))
        return Support(values, mean)

    def mixed(
        self, theta: Array, temperatures: tuple[float, float], hidden: Bools | None = None, state: Any = None
    ) -> Support:
        """Soft maximum over labels of that over their states; over all states where the label is hidden too."""
        if self.states is None or not self.states.several:
            return super().mixed(theta, temperatures, hidden)
        n, (outer, inner) = self.n_examples, temperatures
        blocks = np.split(self.nodes(theta), self.states.first[1:-1], axis=1)
        inside = [Choice(n, block.shape[1]).soft(block.ravel(), inner) for block in blocks]
        labels = Choice(n, len(blocks)).soft(np.stack([own.value for own in inside], axis=1).ravel(), outer)
        shares = np.split(labels.mean.reshape(n, -1), len(blocks), axis=1)
        mean = np.hstack([share * own.mean.reshape(n, -1) for share, own in zip(shares, inside, strict=True)]).ravel()
        if hidden is None or not hidden.any():
            return Support(labels.value, mean)
        whole = self.soft(theta, inner)
        return Support(np.where(hidden, whole.value, labels.value), self.layout.choose(mean, whole.mean, hidden))

    def argmax_other(self, theta: Array, annotation: Labels, state: Any = None) -> Support:
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

    def one_versus_all(self, theta: Array, target: Any) -> Support:
        """Each label by itself."""
        values, mean = np.empty(self.n_examples), np.empty(self.n_parts)
        hinge_columns(self.nodes(theta), target.annotation.allowed_nodes, values, self.nodes(mean))
        return Support(values, mean)

    def outputs(self) -> Array:
        """Return the k indicators."""
        return np.eye(self.n_labels)
