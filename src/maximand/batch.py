"""Training examples laid side by side, and how they are cut up to be worked on."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maximand.costs import Cost
from maximand.features import Examples
from maximand.layout import Layout
from maximand.oracles import Target
from maximand.spaces import OutputSpace
from maximand.support import Array, Ints

CHUNK_PARTS = 1 << 16  # a chunk's theta and mean stay in the cache
SMALLEST_CHUNK = 1 << 12  # parts below which a chunk is not worth a thread
QUICK = 8  # times as many, where a part takes nanoseconds


@dataclass(frozen=True)
class Batch:
    """Examples with their annotation, the cost of mistakes and the weights of their losses."""

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

    def check_outputs(self, begins: int = 0) -> None:
        """Refuse partial annotations that no output agrees with; examples are numbered from `begins`."""
        require_agreement(self.space, self.annotation, np.flatnonzero(~self.annotation.full), begins)

    def evenly(self, weight: float) -> Batch:
        """Return the same examples, each with the same weight."""
        return replace(self, weight=np.full(self.n_examples, weight))

    def take(self, examples: Ints | slice) -> Batch:
        """Return some of the examples."""
        return replace(
            self,
            examples=self.examples.take(examples),
            annotation=self.annotation.take(examples),
            weight=self.weight[examples],
        )


def require_outputs(space: OutputSpace, numbers: Ints | None = None) -> None:
    """Refuse examples that have no output at all; `numbers` are those that the user knows them by."""
    empty = np.flatnonzero(~space.nonempty)
    if empty.size:
        example = empty[0] if numbers is None else numbers[empty[0]]
        raise ValueError(
            f"There is no legal output for example {example}: the rules of the {type(space).__name__} forbid all of "
            "them; change the rules or drop the example."
        )


def require_agreement(space: OutputSpace, annotation: Any, chosen: Ints, begins: int = 0) -> None:
    """Refuse annotations of chosen examples that no output agrees with; examples are numbered from `begins`."""
    if not chosen.size:
        return
    for chunk in cut(space.layout.take(chosen), 1):
        examples = chosen[chunk]
        some = space.take(examples)
        impossible = np.flatnonzero(~some.possible(annotation.take(examples)))
        if impossible.size:
            require_outputs(some, begins + examples)
            raise ValueError(
                f"No legal output agrees with the annotation of example {begins + examples[impossible[0]]}; "
                f"{some.remedy}."
            )


def cut(layout: Layout, n_lanes: int, quick: bool = False) -> list[slice]:
    """Cut examples into chunks of about equal work: at least one for each lane where that is worth it.

    Where they share many scores, the chunks are larger, as these are read once for each.
    """
    least = SMALLEST_CHUNK * (QUICK if quick else 1)
    return cut_evenly(layout.load, n_lanes, max(CHUNK_PARTS, layout.n_shared // 2), least)


def cut_evenly(work: Ints, n_lanes: int, most: int, least: int = 1) -> list[slice]:
    """Cut what takes some work each into chunks of about equal work, at most so much, and at least, for several."""
    done = np.cumsum(work)
    total = int(done[-1])
    n_chunks = max(-(-total // most), min(n_lanes, total // least), 1)
    if n_chunks == 1:
        return [slice(0, work.size)]
    edges = np.searchsorted(done, total * np.arange(1, n_chunks) / n_chunks)
    bounds = np.unique(np.concatenate([[0], edges, [work.size]])).tolist()
    return [slice(a, b) for a, b in itertools.pairwise(bounds)]
