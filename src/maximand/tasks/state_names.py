"""Names of labels that have hidden states, and of the states of slots that are always hidden."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from maximand.spaces import Labels, LabelStates
from maximand.support import Array, Bools, Ints
from maximand.tasks.base import place_of
from maximand.tasks.label_names import LabelNames


class StateNames(LabelNames):
    """Translates labels to their states and back."""

    packed = ("classes", "states")

    def __init__(self, classes: np.ndarray, states: LabelStates):
        super().__init__(classes)
        self.states: LabelStates = states

    @property
    def n_states(self) -> int:
        """The number of states, those of hidden slots too."""
        return self.states.count

    def check(self) -> None:
        """Refuse states of other labels."""
        self.states.check()
        if self.states.n_labels != self.count:
            raise ValueError(f"There are states of {self.states.n_labels} labels, and {self.count} labels.")

    @property
    def part_titles(self) -> list[str]:
        """What the columns of nodes are called: labels with the numbers of their states."""
        return [f"{'hidden' if label is None else label} {number}" for label, number in self.state_titles]

    @property
    def state_titles(self) -> list[tuple[Any, int]]:
        """The label of each state, None where slots are hidden, and its number among those."""
        labels = [*self.classes.tolist(), None]
        return list(zip((labels[code] for code in self.states.label_of), self.states.numbers.tolist(), strict=True))

    def annotation(self, codes: Ints, offsets: Ints, candidates: Bools) -> Labels:
        """Return what labels say of states."""
        return self.states.annotation(super().annotation(codes, offsets, candidates))

    def label_codes(self, annotation: Labels) -> Ints:
        """Return the label of each slot, below 0 where it is not known."""
        return self.states.labels(annotation)

    def named(self, codes: Ints) -> np.ndarray:
        """Return the labels of states, None for those of hidden slots."""
        labels = self.states.label_of[codes]
        if (labels >= 0).all():
            return np.asarray(self.classes[labels])
        found = np.full(labels.shape, None, dtype=object)
        found[labels >= 0] = self.classes[labels[labels >= 0]]
        return found

    def scores(self, nodes: Array, hidden: Bools | None) -> Array:
        """Return for each label the score of its best state; NaN for slots without labels."""
        first = self.states.first
        return self._visible(np.maximum.reduceat(nodes[:, : first[-1]], first[:-1], axis=1), hidden)

    def chances(self, nodes: Array, hidden: Bools | None) -> Array:
        """Return for each label the sum over its states; NaN for slots without labels."""
        return self._visible(self.states.by_label(nodes), hidden)

    @staticmethod
    def _visible(columns: Array, hidden: Bools | None) -> Array:
        if hidden is not None:
            columns[hidden] = np.nan
        return columns

    def started(self, annotation: Labels, hidden: Bools | None, states: list[Any], kind: str) -> Labels:
        """Return an annotation that names states too, given their numbers; `kind` is what errors call slots."""
        numbers = np.concatenate([_numbers(own, f"latent_start[{i}]") for i, own in enumerate(states)])
        labels = self.label_codes(annotation)
        if hidden is not None:
            labels = np.where(hidden, self.count, labels)
        known = np.append(self.states.n_states, self.states.n_hidden)
        wrong = np.flatnonzero((labels >= 0) & ((numbers < 0) | (numbers >= known[labels])))
        if wrong.size:
            slot = int(wrong[0])
            raise ValueError(
                f"{place_of('latent_start', slot, annotation.offsets, kind)} has state {numbers[slot]}; "
                f"its states are numbered from 0 to {known[labels[slot]] - 1}."
            )
        codes = np.where(labels >= 0, self.states.first[labels] + numbers, annotation.codes)
        return Labels(codes, annotation.offsets, annotation.n_labels, annotation.candidates, annotation.weights)


def started_with(states: Any, n_examples: int, kind: str) -> list[Any]:
    """Return what there is to start from for each example; refuse too few or too many."""
    if isinstance(states, (str, Mapping)) or not np.iterable(states):
        raise ValueError(f"latent_start is {states!r}; give the states of each of the {n_examples} {kind}.")
    states = list(states)
    if len(states) != n_examples:
        raise ValueError(
            f"latent_start has {len(states)} entries but there are {n_examples} {kind}; give one for each."
        )
    return states


def _numbers(states: Any, where: str) -> Ints:
    found = np.ravel(np.asarray(states, dtype=object))
    for state in found:
        if not _is_count(state, 0):
            raise ValueError(f"{where} holds {state!r}; the states of latent_start are whole numbers, from 0.")
    return found.astype(np.int64)


def with_states(names: LabelNames, n_states_per_label: Any, n_hidden: Any = 0) -> LabelNames:
    """Return names with states, where a label has several or slots are always hidden."""
    given = n_states_per_label
    counts = dict(given) if isinstance(given, Mapping) else dict.fromkeys(names.classes.tolist(), given)
    for label, count in counts.items():
        if not _is_count(count, 1):
            of = f"of {label!r} is" if isinstance(given, Mapping) else "is"
            raise ValueError(f"n_states_per_label {of} {count!r}; give a whole number, at least 1.")
        names.code(label, 0, lambda _: "n_states_per_label")
    if not _is_count(n_hidden, 0):
        raise ValueError(f"n_hidden_states is {n_hidden!r}; give a whole number, at least 0.")
    each = [int(counts.get(label, 1)) for label in names.classes.tolist()]
    if max(each) == 1 and not n_hidden:
        return names
    return StateNames(names.classes, LabelStates.of(each, int(n_hidden)))


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least
