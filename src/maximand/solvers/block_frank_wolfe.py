"""Block-coordinate Frank-Wolfe on the dual."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maximand.objective import Objective
from maximand.solvers.base import Iterate, Result, Solver
from maximand.solvers.item_blocks import ItemBlocks
from maximand.solvers.simplex_blocks import ExactAscent, SimplexBlocks
from maximand.solvers.working_sets import Ascent
from maximand.support import Array, Ints

PROGRESS = 0.1  # exact blocks measure the gap when it has fallen to this share, or to the tolerance
NEGLIGIBLE = 0.01  # their weights are made again where rounding may make up more than this share of the gap
LAGGING = 0.5  # their average is dropped where the last weights have less than this share of its gap
EXPLORE = 0.1  # the share of each epoch that is drawn without regard to the gaps


@dataclass(frozen=True, kw_only=True)
class BlockFrankWolfe(Solver):
    """Pairwise block-coordinate Frank-Wolfe with gap sampling and a plane cache.

    An epoch asks as many oracles as there are examples, in small batches drawn in proportion to each example's last
    known part of the duality gap; every example then takes exact steps from its worst planes to its best, old or new,
    at the weights of that moment. Between epochs sweeps over the known planes alone bring their gap down to
    `inner` of the whole, at most `cache_sweeps` of them. The gap is measured at the end of an epoch with all oracles
    at the same weights, so it is a true one. With `averaging` the objective is also tried at an average of the
    weights so far.

    Where each block is a choice among labels, or several independent ones, its dual problem is solved exactly, in
    closed form, instead.
    """

    inner: float = 0.5
    cache_sweeps: int = 100
    batch_size: int | None = None
    averaging: bool = False
    patience: int = 0
    random_state: int = 0

    requires: ClassVar[frozenset[str]] = frozenset({"convex", "nonsmooth"})
    instead: ClassVar[str] = "LBFGS() for smooth losses, CCCP(inner=BlockFrankWolfe()) for those that are not convex"

    def begin(self, objective: Objective, start: Result | None) -> Ascent | ExactAscent:
        """Return the planes of an earlier run, where they fit."""
        for kind in (SimplexBlocks, ItemBlocks):
            if kind.fit(objective):
                return ExactAscent(kind, objective, start, self.random_state)
        return Ascent(objective, start, self.patience, self.random_state)

    def iterate(self, objective: Objective, state: Ascent | ExactAscent) -> Generator[Iterate, None, str]:
        """Yield the weights after each epoch."""
        sets = state.blocks if isinstance(state, ExactAscent) else state.sets
        if state.start is not None and not state.begun:
            state.begun = True
            yield Iterate(state.start, objective.value(state.start), None, sets.guarantee)
            state.start = None
        if isinstance(state, ExactAscent):
            return (yield from self._exact_blocks(objective, state))
        return (yield from self._epochs(objective, state))

    def _epochs(self, objective: Objective, state: Ascent) -> Generator[Iterate, None, str]:
        sets, n = state.sets, objective.n_examples
        batch_size = self.batch_size or max(1, min(512, n // 2))
        while True:
            if not state.settling:
                best, dual = sets.weights.copy(), sets.dual if sets.count else None
                grown = sets.grow()
                value = sets.value(best, np.maximum(grown.values, grown.known))
                if dual is not None:
                    state.gaps = np.maximum(grown.values - grown.average, 0.0) * sets.share
                if self.averaging and state.epoch > 1:
                    averaged = objective.value(state.average)
                    if averaged < value:
                        best, value = state.average.copy(), averaged
                state.settling = state.begun = True
                yield Iterate(best, value, dual, sets.guarantee)
            sets.settle(self.inner * float(state.gaps.sum()), self.cache_sweeps, state.rng)
            for batch in self._draw(state.gaps, batch_size, state.rng):
                sets.grow(batch)
                sets.sweep(batch)
            state.epoch += 1
            if self.averaging:
                before = state.average if state.average.size else np.zeros(objective.n_weights)
                state.average = before + 2.0 / (state.epoch + 1.0) * (sets.weights - before)
            state.settling = False

    def _exact_blocks(self, objective: Objective, state: ExactAscent) -> Generator[Iterate, None, str]:
        """Yield the weights whenever the gap as seen by the sweeps has fallen far enough to measure it again."""
        blocks = state.blocks
        while True:
            seen = blocks.settle(state.goal, state.rng)
            best, dual = blocks.weights, blocks.dual
            value = blocks.value(best)
            if blocks.average.size and blocks.n_averaged > 1:
                average = blocks.reduced(blocks.average)
                averaged = blocks.value(average)
                if value - dual < LAGGING * (averaged - dual):
                    blocks.average = np.empty(0)
                elif averaged < value:
                    best, value = average, averaged
            if not state.begun and blocks.value_at_zero < value:
                best, value = np.zeros(objective.n_weights), blocks.value_at_zero
            gap = max(value - dual, 0.0)
            if blocks.rounding > NEGLIGIBLE * gap:
                blocks.renew()
            ratio = min(max(gap / seen, 0.1), 2.0) if seen > 0 else 1.0  # sweeps see too much of it, or too little
            state.goal = max(PROGRESS * gap, 0.95 * self.tolerance * abs(value)) / ratio
            state.begun = True
            yield Iterate(best, value, dual, blocks.guarantee & objective.tally.guarantee)

    def _draw(self, gaps: Array, batch_size: int, rng: np.random.Generator) -> list[Ints]:
        """Return batches of distinct examples, one epoch of them, likelier where the gap is larger."""
        n = gaps.size
        gaps = gaps if np.isfinite(gaps).all() else np.ones(n)
        chances = (1.0 - EXPLORE) * gaps / max(float(gaps.sum()), np.finfo(float).tiny) + EXPLORE / n
        drawn = rng.choice(n, size=n, p=chances / chances.sum())
        return [np.unique(drawn[j : j + batch_size]) for j in range(0, n, batch_size)]
