"""Annotations that give each slot (an example, a token, a node) one label, several candidates or nothing.

`Sizes` and `Orders` add what no slot says by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np

from maximand.caching import cached_property
from maximand.layout import take_runs
from maximand.support import Array, Bools, Guarantee, Ints

UNKNOWN = -1


@dataclass(frozen=True)
class Labels:
    """Labels of the slots of a batch; example i owns slots offsets[i]:offsets[i+1].

    codes[s] >= 0 is the label of slot s, -1 says nothing is known, and -2 - j says that row j of `candidates` holds
    the labels it may have. `weights`, where given, multiplies the cost of a mistake at each slot. `one_row`: the slots
    of an example, such as the labels of a set, have one row of features together, and each has weights of its own.
    """

    codes: Ints
    offsets: Ints
    n_labels: int
    candidates: Bools = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    weights: Array | None = None
    one_row: bool = False

    @classmethod
    def single(cls, codes: Ints, n_labels: int, candidates: Bools | None = None) -> Labels:
        """Return labels for examples of one slot each."""
        codes = np.asarray(codes)
        table = np.zeros((0, n_labels), dtype=bool) if candidates is None else candidates
        return cls(codes, np.arange(codes.size + 1), n_labels, table)

    @cached_property
    def full(self) -> Bools:
        """Per example: every slot has a single label."""
        return np.logical_and.reduceat(self.codes >= 0, self.offsets[:-1])

    @cached_property
    def open(self) -> Bools:
        """Per slot: whether it is not known, or one of several candidates."""
        return np.asarray(self.codes < 0)

    @cached_property
    def n_annotated(self) -> Ints:
        """Per example: of how many rows something is known; that a slot may have any label says nothing."""
        known, ambiguous = self.codes != UNKNOWN, np.flatnonzero(self.codes < UNKNOWN)
        known[ambiguous] = ~self.candidates[-2 - self.codes[ambiguous]].all(axis=1)
        counts = np.add.reduceat(known.astype(np.int64), self.offsets[:-1])
        return np.minimum(counts, 1) if self.one_row else counts

    @property
    def allowed_nodes(self) -> Bools:
        """The matrix (slot, label) of what the annotation allows."""
        allowed = np.zeros((self.codes.size, self.n_labels), dtype=bool)
        known = self.codes >= 0
        allowed[known, self.codes[known]] = True
        allowed[self.codes == UNKNOWN] = True
        ambiguous = self.codes < UNKNOWN
        if ambiguous.any():
            allowed[ambiguous] = self.candidates[-2 - self.codes[ambiguous]]
        return allowed

    @property
    def one_hot(self) -> Array:
        """The matrix (slot, label) with a one for every slot of known label."""
        nodes = np.zeros((self.codes.size, self.n_labels))
        known = np.flatnonzero(self.codes >= 0)
        nodes[known, self.codes[known]] = 1.0
        return nodes

    def cost_rows(self, matrix: Array) -> tuple[Array, Ints]:
        """Return a table of the costs of labels, of known ones and then of candidates, and the row of each slot.

        matrix: costs (true label, label); of candidates the least counts, and nothing of what is not known. Rows may
        count from the end.
        """
        ambiguous = [matrix[candidates].min(axis=0) for candidates in reversed(self.candidates)]
        return np.vstack([matrix, *ambiguous, np.zeros(self.n_labels)]), self.codes

    def take(self, examples: Ints | slice) -> Self:
        """Return the labels of some examples."""
        slots, offsets = take_runs(self.offsets, examples)
        weights = None if self.weights is None else self.weights[slots]
        return replace(self, codes=self.codes[slots], offsets=offsets, weights=weights)

    @property
    def strata(self) -> Ints:
        """What the slots count as where some are sampled: what is known of each, below 0 where that is nothing."""
        return np.where(self.codes < UNKNOWN, self.n_labels - 2 - self.codes, self.codes)

    def only(self, kept: Bools) -> Labels:
        """Return what is known of some slots alone."""
        return replace(self, codes=np.where(kept, self.codes, UNKNOWN))

    def turned(self, slots: Ints, codes: Ints, label_of_codes: Ints | None = None) -> Self:
        """Return for each of the slots its example, of which is known too that the slot has another label than that."""
        owners = np.searchsorted(self.offsets, slots, side="right") - 1
        copies, known = self.take(owners), self.candidates.reshape(-1, self.n_labels)
        labels = np.arange(self.n_labels) if label_of_codes is None else label_of_codes
        another = self.allowed_nodes[slots] & (labels != labels[codes][:, None])
        own = copies.codes.copy()
        own[slots - self.offsets[owners] + copies.offsets[:-1]] = -2 - len(known) - np.arange(slots.size)
        return replace(copies, codes=own, candidates=np.concatenate([known, another]))

    def chances(self, space: Any, mean: Array) -> Array:
        """Return the chances (slot, code) when psi has the given mean."""
        return np.asarray(space.expected(np.eye(self.n_labels), mean))

    def agree(self, outputs: Sequence[Any]) -> Bools:
        """Say which outputs, as spaces decode them, agree with the annotation of a single example."""
        labels = np.array([np.atleast_1d(output) for output in outputs])
        return np.asarray(self.allowed_nodes[np.arange(self.codes.size), labels].all(axis=1))

    @property
    def contradictions_found(self) -> Guarantee:
        """What the best of the pieces of Y° is worth: they are all of it."""
        return Guarantee.EXACT

    def contradictions(self) -> Iterator[tuple[Ints, Labels]]:
        """Cut Y° into pieces by the first slot that contradicts: yield the examples and the annotation of each.

        The slots before it agree, the slot itself does not, those after it may have any label.
        """
        allowed, n = self.allowed_nodes, self.offsets.size - 1
        annotated = np.flatnonzero(~allowed.all(axis=1))
        counts = np.diff(np.searchsorted(annotated, self.offsets))
        first = np.cumsum(counts) - counts
        known = self.candidates.reshape(-1, self.n_labels)
        for rank in range(int(counts.max(initial=0))):
            examples = np.arange(n)[counts > rank]
            turning = annotated[first[examples] + rank]
            slots, offsets = take_runs(self.offsets, examples)
            own = np.arange(offsets[-1]) + np.repeat(self.offsets[examples] - offsets[:-1], np.diff(offsets))
            codes = np.where(own > np.repeat(turning, np.diff(offsets)), UNKNOWN, self.codes[slots])
            codes[turning - self.offsets[examples] + offsets[:-1]] = -2 - len(known) - np.arange(examples.size)
            candidates = np.concatenate([known, ~allowed[turning]])
            yield examples, Labels(codes, offsets, self.n_labels, candidates)


@dataclass(frozen=True)
class Sizes(Labels):
    """Which items are in sets, of which example i has at least least[i] and at most most[i]."""

    least: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    most: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @cached_property
    def n_annotated(self) -> Ints:
        """Per example: of how many rows something is known; that a set is limited is something."""
        limited = (self.least > 0) | (self.most < np.diff(self.offsets))
        return np.maximum(super().n_annotated, limited.astype(np.int64))

    def take(self, examples: Ints | slice) -> Self:
        """Return the labels of some examples."""
        return replace(super().take(examples), least=self.least[examples], most=self.most[examples])

    def agree(self, outputs: Sequence[Any]) -> Bools:
        """Say which sets agree with the annotation of a single example, in size too."""
        sizes = np.array([np.sum(output) for output in outputs])
        return super().agree(outputs) & (self.least[0] <= sizes) & (sizes <= self.most[0])

    def contradictions(self) -> Iterator[tuple[Ints, Labels]]:
        """Cut Y° into sets with an item too many or too few, and those that have the wrong size alone."""
        yield from super().contradictions()
        n = self.least.size
        anything = np.full(n, self.codes.size // max(n, 1))
        yield np.arange(n), replace(self, least=np.zeros_like(self.least), most=self.least - 1)
        yield np.arange(n), replace(self, least=self.most + 1, most=anything)


@dataclass(frozen=True)
class Orders(Labels):
    """Positions of items, and groups (example, item) that follow each other; -1 for items that may be anywhere.

    An item comes after all items of groups with smaller numbers. The codes hold the positions that this allows.
    """

    groups: Ints = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))

    @classmethod
    def of(cls, groups: Ints) -> Orders:
        """Return the annotation that the groups make."""
        n, k = groups.shape
        listed, rows = groups >= 0, np.arange(n)[:, None]
        counts = np.zeros((n, k + 1), dtype=np.int64)
        np.add.at(counts, (rows, np.where(listed, groups, k)), 1)  # the last column counts those in no group
        so_far = np.cumsum(counts[:, :k], axis=1)
        last = k - 1 - (so_far[:, -1:] - so_far[rows, groups])
        first = so_far[rows, groups] - counts[rows, groups]
        codes = np.where(listed & (first == last), first, UNKNOWN)
        some = listed & (first < last) & (last - first < k - 1)
        ranges, which = np.unique(first[some] * k + last[some], return_inverse=True)
        codes[some] = -2 - which
        places = np.arange(k)
        candidates = (places >= ranges[:, None] // k) & (places <= ranges[:, None] % k)
        return cls(codes.ravel(), np.arange(n + 1) * k, k, candidates, groups=groups, one_row=True)

    def take(self, examples: Ints | slice) -> Self:
        """Return the labels of some examples."""
        return replace(super().take(examples), groups=self.groups[examples])

    def only(self, kept: Bools) -> Orders:
        """Return the order of some items alone."""
        return Orders.of(np.where(kept.reshape(self.groups.shape), self.groups, UNKNOWN))

    @property
    def strata(self) -> Ints:
        """The groups."""
        return self.groups.ravel()

    def agree(self, outputs: Sequence[Any]) -> Bools:
        """Say which positions of items agree with the order of a single example: groups are behind each other."""
        agree, positions, groups = super().agree(outputs), np.array(outputs), self.groups[0]
        for before, after in pairwise(np.unique(groups[groups >= 0])):
            agree &= positions[:, groups == before].max(axis=1) < positions[:, groups == after].min(axis=1)
        return agree

    @cached_property
    def loose(self) -> Ints:
        """The examples whose order says more than which positions each item may have."""
        return np.flatnonzero(((self.groups < 0).sum(axis=1) > 1) & (self.groups.max(axis=1, initial=-1) > 0))

    def contradictions(self) -> Iterator[tuple[Ints, Labels]]:
        """Cut Y° by two items of neighbouring groups that are in each other's place; the pieces overlap.

        Where positions say all, so do those: the pieces are fewer, and no order is to be searched for.
        """
        loose = self.loose
        tight = np.setdiff1d(np.arange(self.groups.shape[0]), loose)
        for examples, turned in Labels.contradictions(self.take(tight)):
            yield tight[examples], turned
        for examples, turned in self.take(loose)._turned_pairs():
            yield loose[examples], turned

    def _turned_pairs(self) -> Iterator[tuple[Ints, Orders]]:
        n, k = self.groups.shape
        own, others = self.groups[:, :, None], self.groups[:, None, :]
        following = np.where(others > own, others, k).min(axis=2, keepdims=True)
        owner, before, after = np.nonzero((own >= 0) & (others == following))
        counts = np.bincount(owner, minlength=n)
        first = np.cumsum(counts) - counts
        for rank in range(int(counts.max(initial=0))):
            examples = np.flatnonzero(counts > rank)
            pair, places = first[examples] + rank, np.arange(examples.size)
            turned = np.full((examples.size, k), -1)
            turned[places, before[pair]], turned[places, after[pair]] = 1, 0
            yield examples, Orders.of(turned)
