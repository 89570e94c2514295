"""Annotations that give each slot (an example, a token, a node) one label, several candidates or nothing.

`Sizes` and `Orders` add what no slot says by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from maximand.support import Array, Bools, Ints

UNKNOWN = -1


@dataclass(frozen=True)
class Labels:
    """Labels of the slots of a batch; example i owns slots offsets[i]:offsets[i+1].

    codes[s] >= 0 is the label of slot s, -1 says nothing is known, and -2 - j says that row j of `candidates` holds
    the labels it may have. `weights`, where given, multiplies the cost of a mistake at each slot.
    """

    codes: Ints
    offsets: Ints
    n_labels: int
    candidates: Bools = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    weights: Array | None = None

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

    def take(self, examples: Ints | slice) -> Self:
        """Return the labels of some examples."""
        slots, offsets = take_slots(self.offsets, examples)
        weights = None if self.weights is None else self.weights[slots]
        return replace(self, codes=self.codes[slots], offsets=offsets, weights=weights)

    def contradictions(self) -> tuple[Ints, Labels]:
        """Split Y° of each example by the first slot that contradicts the annotation; all have equally many slots.

        Returns the example of each piece and its annotation: the slots before agree, the slot itself does not, those
        after it may have any label.
        """
        n_slots = int(self.offsets[1] - self.offsets[0]) if self.offsets.size > 1 else 1
        allowed = self.allowed_nodes
        first_off = np.flatnonzero(~allowed.all(axis=1))
        examples, slot = first_off // n_slots, first_off % n_slots
        codes = self.codes.reshape(-1, n_slots)[examples].astype(np.int64)
        codes[np.arange(n_slots) > slot[:, None]] = UNKNOWN
        known = self.candidates.reshape(-1, self.n_labels)
        codes[np.arange(examples.size), slot] = -2 - len(known) - np.arange(examples.size)
        candidates = np.concatenate([known, ~allowed[first_off]])
        offsets = np.arange(examples.size + 1) * n_slots
        return examples, Labels(codes.ravel(), offsets, self.n_labels, candidates)


@dataclass(frozen=True)
class Sizes(Labels):
    """Which items are in sets, of which example i has at least least[i] and at most most[i]."""

    least: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    most: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def take(self, examples: Ints | slice) -> Self:
        """Return the labels of some examples."""
        return replace(super().take(examples), least=self.least[examples], most=self.most[examples])

    def contradictions(self) -> tuple[Ints, Labels]:
        """Split Y° into sets with an item too many or too few, and those that have the wrong size alone."""
        by_slot, turned = super().contradictions()
        n = self.least.size
        everyone = np.arange(n)
        examples = np.concatenate([by_slot, everyone, everyone])
        n_items = self.codes.size // max(n, 1)
        least = np.concatenate([np.zeros(by_slot.size + n, dtype=np.int64), self.most + 1])
        most = np.concatenate([np.full(by_slot.size, n_items), self.least - 1, np.full(n, n_items)])
        codes = np.concatenate([turned.codes, self.codes, self.codes])
        return examples, Sizes(
            codes, np.arange(examples.size + 1) * n_items, 2, turned.candidates, least=least, most=most
        )


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
        return cls(codes.ravel(), np.arange(n + 1) * k, k, candidates, groups=groups)

    def take(self, examples: Ints | slice) -> Self:
        """Return the labels of some examples."""
        return replace(super().take(examples), groups=self.groups[examples])

    @cached_property
    def loose(self) -> Ints:
        """The examples whose order says more than which positions each item may have."""
        return np.flatnonzero(((self.groups < 0).sum(axis=1) > 1) & (self.groups.max(axis=1, initial=-1) > 0))

    def contradictions(self) -> tuple[Ints, Labels]:
        """Split Y° by two items of neighbouring groups that are in each other's place; the pieces overlap.

        Where positions say all, so do those: the pieces are fewer, and no order is to be searched for.
        """
        if not self.loose.size:
            return super().contradictions()
        k = self.groups.shape[1]
        own, others = self.groups[:, :, None], self.groups[:, None, :]
        following = np.where(others > own, others, k).min(axis=2, keepdims=True)
        examples, before, after = np.nonzero((own >= 0) & (others == following))
        turned = np.full((examples.size, k), -1)
        turned[np.arange(examples.size), before] = 1
        turned[np.arange(examples.size), after] = 0
        return examples, Orders.of(turned)


def take_slots(offsets: Ints, examples: Ints | slice) -> tuple[Ints | slice, Ints]:
    """Return the slots of some examples (a slice when the examples are one) and their new offsets."""
    if isinstance(examples, slice):
        part = offsets[examples.start : examples.stop + 1]
        return slice(int(part[0]), int(part[-1])), part - part[0]
    lengths = offsets[examples + 1] - offsets[examples]
    new = np.concatenate([[0], np.cumsum(lengths)])
    slots = np.arange(new[-1]) + np.repeat(offsets[examples] - new[:-1], lengths)
    return slots, new
