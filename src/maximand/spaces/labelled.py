"""Spaces whose outputs give a label to each of several slots."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from maximand.spaces.base import OutputSpace
from maximand.spaces.label_states import LabelStates
from maximand.support import Array, Bools, Ints


class LabelledSpace(OutputSpace):
    """Outputs are labels of slots: the classes of rows, the tags of tokens, the positions of items.

    A cost that is a sum over slots reaches the parts through two methods. Where parts are `indicators`, `nodes` views
    the first of them as a matrix (slot, label), and these methods need not be written.
    """

    n_labels: int
    indicators: bool = False
    hidden: Bools | None = None  # per slot: whether it is never annotated; None: no slot is
    states: LabelStates | None = None  # what stands in the place of labels, where these have hidden states

    @property
    @abstractmethod
    def slots(self) -> Ints:
        """The example that each slot belongs to."""

    @property
    def log_outputs(self) -> float:
        """Slots are labelled one by one, at the most."""
        return float(np.bincount(self.slots).max(initial=0) * np.log(self.n_labels))

    def nodes(self, theta: Array) -> Array:
        """View the parts that are indicators as the matrix (slot, label)."""
        raise NotImplementedError(f"The parts of a {type(self).__name__} are no indicators of labels.")

    def restricted(self, theta: Array, annotation: Any) -> Array:
        """Forbid the labels that the annotation excludes; what is made of them follows."""
        theta = theta.copy()
        self.nodes(theta)[~annotation.allowed_nodes] = -np.inf
        return theta

    def possible(self, annotation: Any) -> Bools:
        """Whether every slot is left a label, and an output has such labels."""
        left = np.bincount(self.slots, ~annotation.allowed_nodes.any(axis=1), self.n_examples) == 0
        return left & super().possible(annotation)

    def open(self, annotation: Any) -> Any:
        """Say which slots have a label that the annotation leaves open: of a known label the state may be hidden."""
        return annotation.open if self.states is None else self.states.labels(annotation) < 0

    @property
    def label_of_codes(self) -> Ints | None:
        """The label of each state, where these take the place of labels."""
        return None if self.states is None else self.states.label_of

    def unknown_slots(self, annotation: Any) -> Ints:
        """Return the open slots but for those that never have a label."""
        unknown = np.asarray(self.open(annotation))
        return np.flatnonzero(unknown if self.hidden is None else unknown & ~self.hidden)

    def expected(self, matrix: Array, mean: Array) -> Array:
        """Return the expected costs (slot, label) of labels, matrix[true label, label], when psi has the given mean."""
        return self.nodes(mean) @ matrix

    def affine(self, values: Array) -> tuple[Array, Array]:
        """Return v, c with v_i @ psi(y) + c_i = the sum over the slots s of example i of values[s, label of s in y]."""
        vector = np.zeros(self.n_parts)
        self.nodes(vector)[:] = values
        return vector, np.zeros(self.n_examples)

    def slot_sums(self, values: Array) -> Array:
        """Return for each example the sum of the values of its slots."""
        return np.bincount(self.slots, weights=values, minlength=self.n_examples).astype(float)


def joined_hidden(space: LabelledSpace, hidden: Bools | None) -> Bools:
    """Return for each slot whether it always is hidden, or is among those given."""
    always = np.zeros(space.slots.size, dtype=bool) if space.hidden is None else space.hidden
    return always if hidden is None else always | hidden
