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
from maximand.support import Array, Guarantee, Ints, Plane

CHUNK_PARTS = 1 << 16  # a chunk's theta and mean stay in the cache
SMALLEST_CHUNK = 1 << 12  # below this a chunk is not worth a thread
LANES = 8  # how many sums run side by side: fixed, so that the answer does not depend on the number of threads
LANES_OF_LARGE_MODELS = 4  # each sum is as long as the weights
LARGE_MODEL = 1 << 16


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
    edges = np.searchsorted(done, total * np.arange(1, n_chunks) / n_chunks)
    bounds = np.unique(np.concatenate([[0], edges, [work.size]])).tolist()
    return [slice(a, b) for a, b in itertools.pairwise(bounds)]


class Lanes:
    """A batch cut into lanes of about equal work, each a list of chunks.

    It notes the oracle calls made so far, and what holds for the values of the loss that came of them.

    Each lane has a sum of its own; the lanes are added up in order.
    """

    def __init__(self, batch: Batch, n_weights: int):
        self.batch = batch
        self.calls, self.guarantee = 0, Guarantee.EXACT
        self.annotated_score: Plane | None = None
        n_lanes = LANES if n_weights <= LARGE_MODEL else LANES_OF_LARGE_MODELS
        chunks = [batch.take(examples) for examples in cut(batch.space.layout.work, n_lanes)]
        # Cost vectors are kept between calls while they take no more memory than the input itself.
        keep = 8 * batch.space.n_parts <= max(batch.examples.inputs.n_bytes, 1 << 24)
        pieces = [(chunk, chunk.target if keep else None) for chunk in chunks]
        n_lanes = min(n_lanes, len(pieces))
        cuts = [len(pieces) * lane // n_lanes for lane in range(n_lanes + 1)]
        self.lanes = [pieces[a:b] for a, b in itertools.pairwise(cuts)]

    def note(self, calls: int, guarantee: Guarantee) -> None:
        """Take note of oracle calls."""
        self.calls += calls
        self.guarantee = self.guarantee & guarantee
