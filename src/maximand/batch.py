"""Training examples laid side by side, and how they are cut up to be worked on."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maximand.costs import Cost
from maximand.features import Examples
from maximand.oracles import Target
from maximand.spaces import OutputSpace
from maximand.support import Array, Ints

CHUNK_PARTS = 1 << 16  # a chunk's theta and mean stay in the cache
SMALLEST_CHUNK = 1 << 12  # below this a chunk is not worth a thread


@dataclass(frozen=True)
class Batch:
    """Examples with their annotation, the cost of mistakes and their weights, which sum to one over all examples."""

    examples: Examples
    annotation: Any
    cost: Cost
    weight: Array

    @property
    def space(self) -> OutputSpace:
        """The outputs that the examples may have."""
        return self.examples.space

    @property
    def target(self) -> Target:
        """The target of the batch."""
        return Target(self.space, self.annotation, self.cost)

    @property
    def n_examples(self) -> int:
        """The number of examples."""
        return self.space.n_examples

    def evenly(self) -> Batch:
        """Return the same examples with equal weights that sum to one."""
        return replace(self, weight=np.full(self.n_examples, 1.0 / self.n_examples))

    def take(self, examples: Ints | slice) -> Batch:
        """Return some of the examples."""
        return replace(
            self,
            examples=self.examples.take(examples),
            annotation=self.annotation.take(examples),
            weight=self.weight[examples],
        )


def cut(work: Ints, n_lanes: int) -> list[slice]:
    """Cut examples into chunks of about equal work: at least one for each lane where that is worth it."""
    done = np.cumsum(work)
    total = int(done[-1])
    n_chunks = max(-(-total // CHUNK_PARTS), min(n_lanes, total // SMALLEST_CHUNK), 1)
    if n_chunks == 1:
        return [slice(0, work.size)]
    edges = np.searchsorted(done, total * np.arange(1, n_chunks) / n_chunks)
    bounds = np.unique(np.concatenate([[0], edges, [work.size]])).tolist()
    return [slice(a, b) for a, b in itertools.pairwise(bounds)]
