"""Every part of every example brings its own row of features."""

from __future__ import annotations

from dataclasses import dataclass

from maximand.caching import cached_property
from maximand.features.base import FeatureMap
from maximand.features.row_block import RowBlock


@dataclass(frozen=True)
class PartFeatures(FeatureMap):
    """Scores of parts from their own features: theta = X w, with one row of X for each part."""

    n_features: int

    @cached_property
    def blocks(self) -> tuple[RowBlock, ...]:
        """The rows of X, each with a single label."""
        return (RowBlock("parts", self.n_features, 1),)
