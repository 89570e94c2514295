"""Annotations that give the labels of a slot shares: label proportions, or soft labels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from maximand.caching import cached_property
from maximand.layout import take_runs
from maximand.spaces.labels import Labels
from maximand.support import Array, Bools, Ints


@dataclass(frozen=True)
class Shares(Labels):
    """The mean of psi(y) in place of psi(y): `shares` is (slot, label), each row of sum 1. No slot has a code.

    A reward that is linear in psi is as linear in its mean, so that losses stay convex where annotations are full.
    """

    shares: Array = field(default_factory=lambda: np.zeros((0, 0)))

    @classmethod
    def of(cls, shares: Array) -> Shares:
        """Return shares for examples of one slot each."""
        n, k = shares.shape
        return cls(np.full(n, -1), np.arange(n + 1), k, np.zeros((0, k), dtype=bool), shares=shares)

    @cached_property
    def full(self) -> Bools:
        """All that there is to know is."""
        return np.ones(self.offsets.size - 1, dtype=bool)

    @cached_property
    def n_annotated(self) -> Ints:
        """Every row."""
        return np.diff(self.offsets)

    @property
    def allowed_nodes(self) -> Bools:
        """The labels that have a share."""
        return self.shares > 0

    @property
    def one_hot(self) -> Array:
        """The shares."""
        return self.shares

    def take(self, examples: Ints | slice) -> Self:
        """Return the shares of some examples."""
        slots, _ = take_runs(self.offsets, examples)
        return replace(super().take(examples), shares=self.shares[slots])

    def cost_rows(self, matrix: Array) -> tuple[Array, Ints]:
        """Return the expected costs of the labels of each slot."""
        return self.shares @ matrix, np.arange(len(self.shares))
