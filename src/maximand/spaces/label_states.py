"""Hidden states that labels have, and those of slots that never have a label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from maximand.caching import cached_property
from maximand.spaces.labels import UNKNOWN, Labels
from maximand.support import Array, Bools, Ints

if TYPE_CHECKING:
    from maximand.spaces.chain import Legality


@dataclass(frozen=True, eq=False)
class LabelStates:
    """The label of each state of a slot, -1 for the states of slots that always are hidden.

    Where a space has these, states take the place of its labels: parts and weights are about states, and an annotation
    that names a label leaves open which of its states it is.
    """

    label_of: Ints

    @classmethod
    def of(cls, n_states: Sequence[int], n_hidden: int = 0) -> Self:
        """Return the states, label by label, of which label l has n_states[l]; those of hidden slots come last."""
        return cls(np.append(np.repeat(np.arange(len(n_states)), n_states), np.full(n_hidden, -1)))

    @property
    def count(self) -> int:
        """The number of states."""
        return self.label_of.size

    @cached_property
    def n_states(self) -> Ints:
        """The number of states of each label."""
        return np.bincount(self.label_of[self.label_of >= 0])

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return self.n_states.size

    @property
    def n_hidden(self) -> int:
        """The number of states of slots that always are hidden."""
        return int((self.label_of < 0).sum())

    @property
    def several(self) -> bool:
        """Whether a label has more than one state."""
        return bool(self.n_states.max(initial=1) > 1)

    @cached_property
    def first(self) -> Ints:
        """The first state of each label, and the first of hidden slots."""
        return np.append(np.cumsum(self.n_states) - self.n_states, self.n_states.sum())

    @cached_property
    def numbers(self) -> Ints:
        """The number of each state among those of its label, or among those of hidden slots."""
        return np.arange(self.count) - self.first[self.label_of]

    def check(self) -> None:
        """Refuse states that do not come label by label."""
        expected = LabelStates.of(self.n_states.tolist(), self.n_hidden).label_of
        if self.label_of.ndim != 1 or not self.n_states.all() or not np.array_equal(self.label_of, expected):
            raise ValueError("States come label by label, and those of hidden slots last.")

    def by_state(self, columns: np.ndarray, of_hidden: float = 0) -> np.ndarray:
        """Return the columns of labels for their states."""
        found = columns[..., self.label_of]
        found[..., self.label_of < 0] = of_hidden
        return found

    def by_label(self, columns: Array) -> Array:
        """Add up the columns of states, label by label."""
        return np.add.reduceat(columns[..., : self.first[-1]], self.first[:-1], axis=-1)

    def costs(self, matrix: Array) -> Array:
        """Return the costs (true state, state) for those of labels; states of a label cost the same."""
        return self.by_state(self.by_state(matrix).T).T

    def legality(self, legality: Legality) -> Legality:
        """Return what is legal of states; those of hidden positions may be anywhere."""
        between = self.by_state(self.by_state(legality.between).T).T
        return replace(
            legality, first=self.by_state(legality.first), between=between, last=self.by_state(legality.last)
        )

    def allowed(self, hidden: Bools) -> Bools:
        """Return which states slots may have, (slot, state), some of which always are hidden."""
        return hidden[:, None] == (self.label_of < 0)

    def annotation(self, labels: Labels) -> Labels:
        """Return what an annotation by labels says of states."""
        codes, k = labels.codes, self.n_labels
        candidates = np.concatenate([labels.candidates.reshape(-1, k), np.eye(k, dtype=bool)])
        own = -2 - len(labels.candidates) - codes
        known = np.where(self.n_states[codes] > 1, own, self.first[codes])
        codes = np.where(codes >= 0, known, codes)
        return replace(labels, codes=codes, n_labels=self.count, candidates=self.by_state(candidates))

    def labels(self, annotation: Labels) -> Ints:
        """Return the label that each slot of an annotation has, -1 where that is not known."""
        single = self.by_label(annotation.candidates.reshape(-1, self.count).astype(float)) > 0.0
        of_rows = np.where(single.sum(axis=1) == 1, single.argmax(axis=1), UNKNOWN)
        found = np.append(self.label_of, of_rows[::-1])  # candidates count from the end, with -1 for what is not known
        return np.where(annotation.codes == UNKNOWN, UNKNOWN, found[annotation.codes + (annotation.codes < 0)])
