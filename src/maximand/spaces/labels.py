"""Annotations that give each slot (an example, a token, a node) one label, several candidates or nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

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

    def take(self, examples: Ints | slice) -> Labels:
        """Return the labels of some examples."""
        slots, offsets = take_slots(self.offsets, examples)
        weights = None if self.weights is None else self.weights[slots]
        return Labels(self.codes[slots], offsets, self.n_labels, self.candidates, weights)


def take_slots(offsets: Ints, examples: Ints | slice) -> tuple[Ints | slice, Ints]:
    """Return the slots of some examples (a slice when the examples are one) and their new offsets."""
    if isinstance(examples, slice):
        part = offsets[examples.start : examples.stop + 1]
        return slice(int(part[0]), int(part[-1])), part - part[0]
    lengths = offsets[examples + 1] - offsets[examples]
    new = np.concatenate([[0], np.cumsum(lengths)])
    slots = np.arange(new[-1]) + np.repeat(offsets[examples] - new[:-1], lengths)
    return slots, new
