"""Every part of every example brings its own row of features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maximand.features.base import FeatureMap
from maximand.features.rows import Rows
from maximand.numerics.part_rows import PartRows
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

    def part_rows(self, inputs: Rows) -> PartRows:
        """The rows of X."""
        matrix = inputs.csr
        return PartRows(
            matrix.indptr,
            matrix.indices,
            matrix.data,
            inputs.offsets,
            n_labels=1,
            width=1,
            columns=np.empty(0, np.int64),
        )
