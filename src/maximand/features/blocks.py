"""The summands of A: each scores the parts of one kind with weights of its own.

A block is described once; scores, their transpose sums and the stencils of single parts follow from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from maximand.caching import cached_property
from maximand.features.inputs import Inputs
from maximand.numerics.lowering import FIRST, LAST, TIED, Lowered
from maximand.support import Array, Ints


class Block(Protocol):
    """A linear map from weights to the scores of one kind of parts.

    Scores and sums work on weights in an expanded form, which may have room for more than the weights.
    """

    @property
    def kind(self) -> str:
        """The kind of parts that it scores."""

    @property
    def n_weights(self) -> int:
        """The number of its weights."""

    @property
    def n_expanded(self) -> int:
        """Their number in expanded form."""

    def expand(self, weights: Array, out: Array) -> None:
        """Write the weights in expanded form."""

    def reduce(self, sums: Array, out: Array) -> None:
        """Write sums in the form of the weights: the transpose of `expand`."""

    def write_scores(self, inputs: Inputs, weights: Array, out: Array, add: bool) -> None:
        """Write the scores of all parts of the kind, or add them to what is there; weights may be in either form."""

    def add_sums(self, inputs: Inputs, mean: Array, out: Array) -> None:
        """Add A' mean to sums in expanded form, given the means of all parts of the kind."""

    def clear(self, inputs: Inputs, change: Array, expanded: Array) -> None:
        """Put zeros where sums of such a change reached room without a weight."""

    def lowered(self, inputs: Inputs, dense: bool) -> Lowered:
        """Return what the stencils of single parts are made of; `dense` says whether rows may stay dense."""

    def meaning(self, weight: int) -> tuple[int | str, Ints]:
        """Return what a weight is of, and the parts that it scores, numbered in their row, or example where tied.

        That is a feature of rows by its number, or "bias", "start" or "end"; nothing ("") where parts are tied.
        """


class Plain:
    """A block whose expanded weights are the weights."""

    n_weights: int

    @property
    def n_expanded(self) -> int:
        """As many as weights."""
        return self.n_weights

    def expand(self, weights: Array, out: Array) -> None:
        """Copy them."""
        out[:] = weights

    def reduce(self, sums: Array, out: Array) -> None:
        """Copy them."""
        out[:] = sums

    def clear(self, inputs: Inputs, change: Array, expanded: Array) -> None:
        """There is none."""


@dataclass(frozen=True)
class TiedBlock(Plain):
    """Every example has the same parts of the kind; part p has the weight tied[p], or none where that is -1."""

    kind: str
    tied: Ints
    n_weights: int

    @cached_property
    def _in_order(self) -> bool:
        """Whether part p has weight p."""
        return self.tied.size == self.n_weights and bool((self.tied == np.arange(self.n_weights)).all())

    def write_scores(self, inputs: Inputs, weights: Array, out: Array, add: bool) -> None:
        """Copy the weights to every example that has scores of its own."""
        known = weights if self._in_order else np.where(self.tied >= 0, np.append(weights, 0.0)[self.tied], 0.0)
        rows = out.reshape(-1, self.tied.size)
        rows[:] = rows + known if add else known

    def add_sums(self, inputs: Inputs, mean: Array, out: Array) -> None:
        """Count."""
        counts = mean.reshape(-1, self.tied.size).sum(axis=0)
        if self._in_order:
            out += counts
            return
        used = self.tied >= 0
        out += np.bincount(self.tied[used], counts[used], minlength=self.n_weights)

    def lowered(self, inputs: Inputs, dense: bool) -> Lowered:
        """A single weight for each part."""
        return Lowered(TIED, max(self.tied.size, 1), np.zeros(inputs.n_examples, dtype=np.int64), tied=self.tied)

    def meaning(self, weight: int) -> tuple[int | str, Ints]:
        """Parts are what a weight is of."""
        return "", np.flatnonzero(self.tied == weight)


@dataclass(frozen=True)
class EndBlock(Plain):
    """A weight for each label at the first row of every example, or at the last."""

    kind: str
    n_weights: int
    last: bool

    def _rows(self, inputs: Inputs) -> Ints:
        offsets = inputs.rows(self.kind).offsets
        return offsets[1:] - 1 if self.last else offsets[:-1]

    def write_scores(self, inputs: Inputs, weights: Array, out: Array, add: bool) -> None:
        """Add the weights at the ends."""
        if not add:
            out[:] = 0.0
        out.reshape(-1, self.n_weights)[self._rows(inputs)] += weights

    def add_sums(self, inputs: Inputs, mean: Array, out: Array) -> None:
        """Add the means at the ends."""
        out += mean.reshape(-1, self.n_weights)[self._rows(inputs)].sum(axis=0)

    def lowered(self, inputs: Inputs, dense: bool) -> Lowered:
        """A single weight for each part of the row."""
        return Lowered(LAST if self.last else FIRST, self.n_weights, inputs.rows(self.kind).offsets[:-1])

    def meaning(self, weight: int) -> tuple[int | str, Ints]:
        """A label at one of the ends."""
        return "end" if self.last else "start", np.array([weight])
