"""The planes found so far for each example, and the dual variables on them."""

from __future__ import annotations

import numpy as np

from maximand.numerics import dual_ascent as kernels
from maximand.numerics.block_rows import by_feature, by_label
from maximand.objective import ExamplePlanes, Objective
from maximand.solvers.base import Result, origin, recycled
from maximand.support import EPSILON, Array, Guarantee, Ints, Plane

SHRINK = 0.5  # sweeps leave out examples whose part in the gap is below this share of the average
SMALL_MODEL = 512  # up to so many weights a step goes through all of them
CROWDED = 1.5  # unused planes are removed when they make up more than a third of all


def _grown(array: Ints, count: int, more: int) -> Ints:
    """Return the array with room for `more` entries after the first `count`; room grows by a quarter at least."""
    if count + more <= array.size:
        return array
    larger = np.zeros(max(array.size + array.size // 4, count + more), dtype=array.dtype)
    larger[:count] = array[:count]
    return larger


def above(known: Array) -> Array:
    """Return the heights that a new plane must exceed to be worth adding, rounding allowed for."""
    return known + 1e-12 * np.abs(np.maximum(known, 0.0))


class WorkingSets:
    """Planes for each example with weights alpha, and w = (b - sum_i share_i sum_p alpha_p z_p) / regularization.

    `patience` is how many refreshes a plane may go unused before it can be removed. The arrays have room to grow:
    the first `count` planes are in use. Weights that may not be negative have multipliers `held`, part of b, which are
    just large enough. The weights are in the order of the part rows.
    """

    saved = (
        "count", "indptr", "parts", "data", "offsets", "alpha", "owner", "idle", "following", "head", "violation",
        "guarantee", "rounding", "ordered", "held",
    )  # fmt: skip

    def __init__(self, objective: Objective, patience: int):
        n = objective.n_examples
        self.origin = origin(objective)
        self.share, self.patience = objective.batch.weight, patience
        self.count = 0
        self.indptr: Ints = np.zeros(1, dtype=np.int64)
        self.parts: Ints = np.empty(0, dtype=np.int32)
        self.rows = objective.features.part_rows(objective.batch.examples)
        self.scratch = np.zeros(objective.n_weights)
        self.data, self.offsets, self.alpha = np.empty(0), np.empty(0), np.empty(0)
        self.owner, self.idle, self.following = (np.empty(0, dtype=np.int32) for _ in range(3))
        self.head = np.full(n, -1, dtype=np.int32)
        self.violation = np.zeros(n)
        self.guarantee, self.rounding = Guarantee.EXACT, 0.0
        self.nonnegative = objective.features.nonnegative
        self.held = np.zeros(self.nonnegative.stop - self.nonnegative.start)

    @classmethod
    def aimed(cls, objective: Objective, start: Result | None, patience: int) -> WorkingSets:
        """Return the working sets of an earlier run aimed at this objective, or empty ones."""
        reward, left_out = objective.reward(np.zeros(0)), objective.annotated_score()
        reward = Plane(reward.slope - left_out.slope, reward.offset)
        sets = recycled(objective, start, "sets", cls) or cls(objective, patience)
        sets.aim(objective.regularization, reward)
        return sets

    def aim(self, regularization: float, reward: Plane) -> None:
        """Take another linear part or regularisation; the planes stay valid, as they bound the penalty alone."""
        self.regularization, self.reward = regularization, reward
        slope = by_label(self.rows, reward.slope)
        total = np.zeros(slope.size)
        kernels.combine(
            self.owner[: self.count], self.rows, self.indptr, self.parts, self.data, self.alpha, self.share, total
        )
        self.ordered = (slope - total) / regularization
        self.ordered[self.nonnegative] += self.held / regularization
        self._hold()

    @property
    def weights(self) -> Array:
        """The weights in the order of the feature map."""
        return by_feature(self.rows, self.ordered)

    def _hold(self) -> None:
        """Choose the multipliers that raise negative weights to zero: the dual increases."""
        if self.held.size:
            free = self.ordered[self.nonnegative] - self.held / self.regularization
            self.held = np.maximum(-self.regularization * free, 0.0)
            self.ordered[self.nonnegative] = np.maximum(free, 0.0)

    @property
    def dual(self) -> float:
        """The dual value: a lower bound on the minimum."""
        m = self.count
        linear = float((self.share[self.owner[:m]] * self.alpha[:m]) @ self.offsets[:m])
        square = 0.5 * self.regularization * float(self.ordered @ self.ordered)
        return linear - square - self.reward.offset - self.rounding - EPSILON * (abs(linear) + square)

    def value(self, penalties: Array) -> float:
        """Return the objective at the current weights, given the penalty of every example there."""
        squared = float(self.ordered @ self.ordered)
        return 0.5 * self.regularization * squared + float(self.share @ penalties) - self.reward(self.weights)

    def heights(self, examples: Ints) -> tuple[Array, Array]:
        """Return for each example the height of its highest plane at the current weights, and the alpha-average.

        The height is -inf where there is no plane.
        """
        highest, average = np.empty(examples.size), np.empty(examples.size)
        kernels.heights(
            examples, self.head, self.following, self.rows, self.indptr, self.parts, self.data, self.offsets,
            self.alpha, self.ordered, highest, average,
        )  # fmt: skip
        return highest, average

    def add(self, planes: ExamplePlanes, owners: Ints) -> None:
        """Add one plane to each of some examples; the first plane of an example gets all of its alpha."""
        more, m = owners.size, self.count
        if not more:
            return
        size, filled = planes.parts.size, int(self.indptr[m])
        self.parts = _grown(self.parts, filled, size)
        self.data = _grown(self.data, filled, size)
        self.parts[filled : filled + size] = planes.parts
        self.data[filled : filled + size] = planes.coefficients
        self.indptr = _grown(self.indptr, m + 1, more)
        self.indptr[m + 1 : m + 1 + more] = filled + planes.pointers[1:]
        first = self.head[owners] < 0
        new = slice(m, m + more)
        for name, entries in (
            ("offsets", planes.offsets), ("alpha", first), ("owner", owners), ("idle", 0),
            ("following", self.head[owners]),
        ):  # fmt: skip
            grown = _grown(getattr(self, name), m, more)
            grown[new] = entries
            setattr(self, name, grown)
        self.head[owners] = m + np.arange(more)
        self.count = m + more
        self.guarantee = self.guarantee & planes.guarantee
        self.rounding = max(self.rounding, planes.rounding)
        if first.any():
            self.aim(self.regularization, self.reward)

    def sweep(self, examples: Ints) -> float:
        """Visit the examples once, in the given order; return the increase of the dual."""
        gain = float(
            kernels.sweep(
                examples, self.head, self.following, self.rows, self.indptr, self.parts, self.data, self.offsets,
                self.alpha, self.share, self.regularization, self.ordered, self.violation, self.scratch,
                self.ordered.size <= SMALL_MODEL,
            )
        )  # fmt: skip
        self._hold()
        return gain

    def settle(self, goal: float, max_sweeps: int, rng: np.random.Generator) -> None:
        """Sweep until the gap over the known planes falls to the goal.

        Shrinking: a sweep leaves out examples whose part in that gap was small; every fifth visits all.
        """
        everyone = np.arange(self.head.size)
        active = everyone
        for count in range(max_sweeps):
            self.sweep(rng.permutation(active))
            remaining = float(self.violation[active].sum())
            whole = active.size == everyone.size
            if whole and remaining <= goal:
                break
            shrink = count % 5 != 4 and remaining > goal
            active = np.flatnonzero(self.violation > SHRINK * remaining / active.size) if shrink else everyone
        self.refresh()

    def refresh(self) -> None:
        """Age the unused planes, remove those idle for too long, and wipe out the rounding of the updates."""
        m = self.count
        self.idle[:m] = np.where(self.alpha[:m] > 0, 0, self.idle[:m] + 1)
        keep = self.idle[:m] <= self.patience
        kept = int(keep.sum())
        if kept * CROWDED < m:
            pointers = kernels.keep_planes(keep, self.indptr, self.parts, self.data)
            self.indptr[: kept + 1] = pointers
            for name in ("offsets", "alpha", "owner", "idle"):
                array = getattr(self, name)
                array[:kept] = array[:m][keep]
            self.count = kept
            kernels.link(self.owner[:kept], self.head, self.following)
        self.aim(self.regularization, self.reward)


class Ascent:
    """Where a dual ascent on working sets stands."""

    saved = ("begun", "sets", "rng", "start", "settling", "gap", "gaps", "average", "epoch")

    def __init__(self, objective: Objective, start: Result | None, patience: int, random_state: int):
        self.begun = False
        self.sets = WorkingSets.aimed(objective, start, patience)
        self.rng = np.random.default_rng(random_state)
        self.start = None if start is None else start.weights  # to be tried first
        self.settling, self.gap = False, np.inf  # whether the planes of this round are in, and their gap
        self.gaps = np.full(objective.n_examples, np.inf)  # of each example
        self.average: Array = np.empty(0)  # of the weights after each epoch
        self.epoch = 0
