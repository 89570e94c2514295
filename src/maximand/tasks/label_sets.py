"""What labels of a set have to do with each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maximand.inference import Inference
from maximand.support import Ints


@dataclass(frozen=True)
class Budget:
    """Labels are decided together only in that there are at least `min_size` and at most `max_size` of them.

    max_size None: mean plus standard deviation of the numbers of labels in training, rounded up, as in blondel2019. A
    row with more labels than that is taken to have any `max_size` of them.
    """

    min_size: int = 0
    max_size: int | None = None

    def sizes(self, codes: Ints) -> tuple[int, int]:
        """Return the bounds for training rows with the given labels (row, label), -1 where not known."""
        known = codes[(codes >= 0).all(axis=1)].sum(axis=1)
        k = codes.shape[1]
        most = self.max_size
        if most is None:
            most = int(np.ceil(known.mean() + known.std())) if known.size else k
        most = min(max(most, self.min_size), k) if self.max_size is None else most
        if not 0 <= self.min_size <= most <= k:
            raise ValueError(
                f"Budget({self.min_size}, {self.max_size}) cannot be met with {k} labels; sizes must satisfy 0 <= "
                "min_size <= max_size <= the number of labels."
            )
        short = np.flatnonzero((codes != 0).sum(axis=1) < self.min_size)
        if short.size:
            raise ValueError(f"y[{short[0]}] has fewer than min_size={self.min_size} labels; lower min_size.")
        return self.min_size, most


@dataclass(frozen=True)
class Independent:
    """Each label is decided by itself."""

    def sizes(self, codes: Ints) -> tuple[int, int]:
        """Any number of labels."""
        return 0, codes.shape[1]


@dataclass(frozen=True)
class Pairwise:
    """Every two labels have a weight for occurring together; `search` is how to find the best set.

    None lists all sets of up to 17 labels and relaxes the problem (GraphCut) beyond.
    """

    search: Inference | None = None


Shape = Independent | Budget | Pairwise
