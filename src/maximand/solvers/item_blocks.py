"""The dual of sets of independent items, where every item is a problem of its own."""

from __future__ import annotations

import numpy as np

from maximand.features import PerLabel
from maximand.objective import Objective
from maximand.shards import Shard
from maximand.solvers.items_of_shards import Items
from maximand.solvers.simplex_blocks import NAME, SimplexBlocks, largest_of_all
from maximand.spaces import Subset
from maximand.support import EPSILON, Array, Ints


class ItemBlocks(SimplexBlocks):
    """The same for sets of any size: the units that sweeps visit are items, and weights are kept item by item."""

    kind = Items
    averages = False

    @staticmethod
    def fit(objective: Objective) -> bool:
        """Whether the objective has this form: any set of items, a weight for every pair, a maximum as penalty."""
        features = objective.features
        return (
            largest_of_all(objective.loss.penalty)
            and isinstance(features, PerLabel)
            and features.every_pair
            and all(
                isinstance(space, Subset) and not space.min_size and space.most == space.n_items == features.n_labels
                for space in (batch.space for batch in objective.batches)
            )
        )

    def _find_units(self) -> None:
        self.violation = np.zeros(next(self._ask("n_units")))
        self.visits = sum(self._ask("n_visits"))  # each changes the weights of one item

    def own(self, weights: Array) -> Array:
        """Return weights item by item."""
        n_pairs, width = self.n_pairs
        return np.concatenate([weights[:n_pairs].reshape(-1, width).T.ravel(), weights[n_pairs:]])

    def reduced(self, own: Array) -> Array:
        """Return a copy of such weights in the order of the feature map."""
        n_pairs, width = self.n_pairs
        return np.concatenate([own[:n_pairs].reshape(width, -1).T.ravel(), own[n_pairs:]])

    @property
    def n_pairs(self) -> tuple[int, int]:
        """The number of weights that are no biases, and of items."""
        features = self.objective.features
        assert isinstance(features, PerLabel)
        return features.n_pairs, features.n_labels

    def _visit(self, units: Ints) -> None:
        """Visit items, shard after shard."""
        self.violation[units] = 0.0
        for shard in self.objective.placed:
            self.expanded, violation = next(
                self.objective.engine.map(
                    Shard.ask, [shard], NAME, "sweep", self.expanded, units, self.regularization, self.n_averaged
                )
            )
            self.violation[units] += violation
        self.rounding += EPSILON * self.most * self.visits
        self.objective.tally.ascents += self.visits * units.size / self.violation.size
