"""Spaces in which every example has the same parts: theta is a matrix with a row for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import Any, Self

import numpy as np

from maximand.caching import cached_property
from maximand.capabilities import Can
from maximand.layout import Layout
from maximand.spaces.labelled import LabelledSpace, joined_hidden
from maximand.support import Array, Bools, Ints, Support


@dataclass(frozen=True)
class TableSpace(LabelledSpace):
    """The same output set for every example, `width` parts and `n_slots` slots each."""

    n_examples: int

    @property
    def quick(self) -> bool:
        """Return True."""
        return True

    @property
    def width(self) -> int:
        """Parts per example."""
        raise NotImplementedError

    @property
    def n_slots(self) -> int:
        """Slots per example."""
        raise NotImplementedError

    @cached_property
    def layout(self) -> Layout:
        """A row for each example."""
        return Layout.equal(self.n_examples, self.width)

    @property
    def log_outputs(self) -> float:
        """Slots are labelled one by one, at the most."""
        return self.n_slots * log(self.n_labels)

    @property
    def slots(self) -> Ints:
        """The example that each slot belongs to."""
        return np.repeat(np.arange(self.n_examples), self.n_slots)

    def by_example(self, theta: Array) -> Array:
        """View theta as the matrix (example, part)."""
        return theta.reshape(self.n_examples, self.width)

    def soft(self, theta: Array, temperature: float) -> Support:
        """Soft maximum, at temperature 0 the maximum."""
        return self.marginals(theta, temperature) if temperature else self.argmax(theta)

    def mixed(
        self, theta: Array, temperatures: tuple[float, float], hidden: Bools | None = None, state: Any = None
    ) -> Support:
        """With one slot an example is visible or hidden as a whole."""
        self.require(Can.MIXED)
        visible, inside = (self.soft(theta, heat) for heat in temperatures)
        hidden = joined_hidden(self, hidden)
        value = np.where(hidden, inside.value, visible.value)
        return Support(value, self.layout.choose(visible.mean, inside.mean, hidden))

    def take(self, examples: Ints | slice) -> Self:
        """Return the batch of some of the examples."""
        n = examples.stop - examples.start if isinstance(examples, slice) else len(examples)
        return replace(self, n_examples=n)
