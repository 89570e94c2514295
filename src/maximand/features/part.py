"""Every part of every example brings its own row of features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import block_diag, csr_array

from maximand.features.base import FeatureMap
from maximand.features.rows import Rows
from maximand.support import Array


@dataclass(frozen=True)
class PartFeatures(FeatureMap):
    """Scores of parts from their own features: theta = X w, with one row of X for each part."""

    n_weights: int

    def scores(self, inputs: Rows, spread: Array) -> Array:
        """Return X w."""
        return np.asarray(inputs.matrix @ spread)

    def add_sums(self, inputs: Rows, mean: Array, out: Array) -> None:
        """Add X' mean."""
        out += inputs.matrix.T @ mean

    def slopes(self, inputs: Rows, mean: Array) -> csr_array:
        """Return X_i' mean_i for every example i."""
        pieces = np.split(mean, inputs.offsets[1:-1])
        by_example = block_diag([piece[None, :] for piece in pieces], format="csr")
        slopes = csr_array(by_example @ inputs.csr)
        slopes.sum_duplicates()
        return slopes
