"""The planes found so far for each example of a shard, and the dual variables on them: what lives with the shard."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maximand.answers import Answered
from maximand.numerics import dual_ascent as kernels
from maximand.numerics.dual_ascent import PlaneLists
from maximand.numerics.lowering import by_label
from maximand.oracles import Oracle
from maximand.shards import Shard
from maximand.support import Array, Ints

CROWDED = 1.25  # unused planes are removed when they make up more than a fifth of all


class Grown(NamedTuple):
    """What a round of oracles found: for each example asked its value, what its planes knew, and their alpha-average.

    `first` says whether an example got its first plane, which takes all of its alpha.
    """

    values: Array
    known: Array
    average: Array
    first: bool
    rounding: float
    answered: Answered

    def joined(self, other: Grown) -> Grown:
        """Return what was found of both."""
        return Grown(
            np.concatenate([self.values, other.values]), np.concatenate([self.known, other.known]),
            np.concatenate([self.average, other.average]), self.first or other.first,
            max(self.rounding, other.rounding), self.answered & other.answered,
        )  # fmt: skip


def _grown(array: Ints, count: int, more: int) -> Ints:
    """Return the array with room for `more` entries after the first `count`; room grows by a quarter at least.

    It grows in place where it can, so that there are never two copies of most of the planes.
    """
    if count + more > array.size:
        array = array if array.flags.owndata else array.copy()
        array.resize(max(array.size + array.size // 4, count + more), refcheck=False)
    return array


def above(known: Array) -> Array:
    """Return the heights that a new plane must exceed to be worth adding, rounding allowed for."""
    return known + 1e-12 * np.abs(np.maximum(known, 0.0))


class Planes:
    """Planes for each example with weights alpha, which sum to one.

    `patience` is how many refreshes a plane may go unused before it can be removed. The arrays have room to grow: the
    first `count` planes are in use. Weights come and go in the order of the stencils. `annotated`: full annotations
    have planes from the start, so that alpha begins where weights are zero, and so does the dual value.
    """

    saved = ("count", "owner", "idle", *PlaneLists._fields)

    def __init__(self, shard: Shard, token: str, patience: int, annotated: bool):
        self.shard, self.token, self.patience = shard, token, patience
        self.stencils, self.share = shard.stencils, shard.batch.weight
        self.scratch = np.zeros(shard.features.n_weights)
        self.count = 0
        self.indptr: Ints = np.zeros(1, dtype=np.int64)
        self.first_product: Ints = np.zeros(1, dtype=np.int64)
        self.products = np.empty(0)
        self.parts: Ints = np.empty(0, dtype=np.int32)
        self.data, self.offsets, self.alpha = np.empty(0), np.empty(0), np.empty(0)
        self.owner, self.idle, self.following = (np.empty(0, dtype=np.int32) for _ in range(3))
        self.head = np.full(shard.batch.n_examples, -1, dtype=np.int32)
        if annotated:  # what planes leave out is all of its score, and it costs nothing
            full = np.flatnonzero(np.broadcast_to(shard.batch.annotation.full, self.head.size))
            nothing = np.zeros(full.size + 1, dtype=np.int64)
            self._add(full, nothing, self.parts, self.data, np.zeros(full.size))

    @property
    def lists(self) -> PlaneLists:
        """The planes as the kernels take them."""
        return PlaneLists(*(getattr(self, name) for name in PlaneLists._fields))

    def belongs_to(self, token: str) -> bool:
        """Whether these planes are still those of a run."""
        return self.token == token

    def blocks(self) -> Ints:
        """Return the table of the blocks, by which weights are ordered."""
        return self.stencils.blocks

    def snapshot(self) -> dict[str, Any]:
        """Return all that must survive an interruption."""
        return {name: getattr(self, name) for name in self.saved}

    def restore(self, values: dict[str, Any]) -> None:
        """Take up what was saved."""
        for name in self.saved:
            setattr(self, name, values[name])

    def offset(self) -> float:
        """Return the sum of share_i alpha_p times the offset over all planes."""
        m = self.count
        return float((self.share[self.owner[:m]] * self.alpha[:m]) @ self.offsets[:m])

    def total(self) -> Array:
        """Return the sum of share_i alpha_p z_p over all planes."""
        total = np.zeros(self.scratch.size)
        kernels.combine(self.lists, self.stencils, self.share, total)
        return total

    def grow(self, oracle: Oracle, key: str, weights: Array, examples: Ints | None) -> Grown:
        """Ask the oracle of some examples (None: of all) and add the planes that rise above those known."""
        asked = np.arange(self.head.size) if examples is None else examples
        known, average = np.empty(asked.size), np.empty(asked.size)
        kernels.heights(asked, self.lists, self.stencils, by_label(self.stencils.blocks, weights), known, average)
        planes = self.shard.planes(oracle, key, weights, examples, above(known))
        owners = asked[planes.which]
        first = self._add(owners, planes.pointers, planes.parts, planes.coefficients, planes.offsets)
        return Grown(planes.values, known, average, first, planes.rounding, planes.answered)

    def _add(self, owners: Ints, pointers: Ints, parts: Ints, coefficients: Array, offsets: Array) -> bool:
        """Add one plane to each of some examples; the first plane of an example gets all of its alpha."""
        more, m = owners.size, self.count
        if not more:
            return False
        size, filled = parts.size, int(self.indptr[m])
        self.parts = _grown(self.parts, filled, size)
        self.data = _grown(self.data, filled, size)
        self.parts[filled : filled + size] = parts
        self.data[filled : filled + size] = coefficients
        self.indptr = _grown(self.indptr, m + 1, more)
        self.indptr[m + 1 : m + 1 + more] = filled + pointers[1:]
        first = self.head[owners] < 0
        new = slice(m, m + more)
        for name, entries in (
            ("offsets", offsets), ("alpha", first), ("owner", owners), ("idle", 0),
            ("following", self.head[owners]),
        ):  # fmt: skip
            grown = _grown(getattr(self, name), m, more)
            grown[new] = entries
            setattr(self, name, grown)
        self.head[owners] = m + np.arange(more)
        self.count = m + more
        lengths = kernels.count_following(np.arange(m, m + more), self.following)
        filled, size = int(self.first_product[m]), int(lengths.sum())
        self.first_product = _grown(self.first_product, m + 1, more)
        self.first_product[m + 1 : m + 1 + more] = filled + np.cumsum(lengths)
        self.products = _grown(self.products, filled, size)
        self.products[filled : filled + size] = np.nan  # to be found out at the first visit
        return bool(first.any())

    def sweep(self, weights: Array, examples: Ints, regularization: float) -> tuple[Array, Array, float]:
        """Visit the examples once, in the given order.

        Return the weights, the examples' parts in the gap, and the work, in examples all of whose parts are visited.
        """
        violation = np.empty(examples.size)
        work = kernels.sweep(
            examples, self.lists, self.stencils, self.share, regularization, weights, violation, self.scratch
        )
        return weights, violation, work * self.head.size / max(1, int(self.shard.batch.space.layout.load.sum()))

    def refresh(self) -> None:
        """Age the unused planes and remove those idle for too long."""
        m = self.count
        self.idle[:m] = np.where(self.alpha[:m] > 0, 0, self.idle[:m] + 1)
        keep = self.idle[:m] <= self.patience
        kept = int(keep.sum())
        if kept * CROWDED < m:
            kernels.keep_planes(keep, self.lists)
            for name in ("offsets", "alpha", "owner", "idle"):
                array = getattr(self, name)
                array[:kept] = array[:m][keep]
            self.count = kept
            kernels.link(self.owner[:kept], self.head, self.following)
