"""The contract of a feature map."""

from __future__ import annotations

from abc import ABC, abstractmethod

from maximand.features.rows import Rows
from maximand.numerics.part_rows import PartRows
from maximand.support import Array


class FeatureMap(ABC):
    """A linear map from weights to scores of parts, theta = A_x w, for a batch of inputs.

    Scores and sums work on the weights in a layout of the map's own, which may have room for more: `spread` and
    `gather` translate. They are called once a pass, the others once a chunk.
    """

    n_weights: int

    @property
    def n_spread(self) -> int:
        """The length of spread weights."""
        return self.n_weights

    @property
    def nonnegative(self) -> slice:
        """The weights that may not be negative; by default none."""
        return slice(0, 0)

    def spread(self, weights: Array) -> Array:
        """Return the weights in the layout that `scores` takes."""
        return weights

    def gather(self, sums: Array) -> Array:
        """Return sums in the layout of the weights: the transpose of `spread`."""
        return sums

    def check(self) -> None:
        """Refuse indices that point outside: the kernels trust them. Maps without indices have nothing to check."""
        return

    @abstractmethod
    def scores(self, inputs: Rows, spread: Array) -> Array:
        """Return theta = A_x w, given spread weights."""

    @abstractmethod
    def add_sums(self, inputs: Rows, mean: Array, out: Array) -> None:
        """Add A_x' mean to out, in the layout of spread weights."""

    @abstractmethod
    def part_rows(self, inputs: Rows) -> PartRows:
        """Return what the rows of A are made of, one for each part: for solvers that keep planes of single examples."""
