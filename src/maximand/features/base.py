"""The contract of a feature map."""

from __future__ import annotations

from abc import ABC, abstractmethod

from scipy.sparse import csr_array

from maximand.features.rows import Rows
from maximand.support import Array


class FeatureMap(ABC):
    """A linear map from weights to scores of parts, theta = A_x w, for a batch of inputs."""

    n_weights: int

    @abstractmethod
    def scores(self, inputs: Rows, weights: Array) -> Array:
        """Return theta = A_x w."""

    @abstractmethod
    def add_sums(self, inputs: Rows, mean: Array, out: Array) -> None:
        """Add A_x' mean to out."""

    @abstractmethod
    def slopes(self, inputs: Rows, mean: Array) -> csr_array:
        """Return A_{x_i}' mean_i of every example as a sparse row, without duplicate entries."""
