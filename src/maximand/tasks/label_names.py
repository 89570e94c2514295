"""Label names of any type, and their codes."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal
from itertools import repeat
from typing import Any

import numpy as np

from maximand.spaces import Labels, LabelStates
from maximand.support import Array, Bools, Ints

Candidates = (set, frozenset)
MISSING = np.iinfo(np.int64).min
MAY_BE_NAN = (float, np.inexact, complex, Decimal, date, np.datetime64, np.timedelta64)
in_y = "y[{}]".format  # where the label of a row is


def unknown(label: Any) -> bool:
    """Whether a label says that nothing is known: None, NaN, no time (NaT), pandas' NA, or numpy's masked."""
    if label is None or label is np.ma.masked or label is getattr(sys.modules.get("pandas"), "NA", None):
        return True
    return isinstance(label, MAY_BE_NAN) and bool(label != label)


def is_frame(values: Any) -> bool:
    """Whether this is a data frame, as pandas has them: a table whose columns have names."""
    return hasattr(values, "columns") and hasattr(values, "to_numpy")


def single_column(labels: Any) -> Any:
    """Return the column of a data frame that has one; anything else as it is."""
    return labels.iloc[:, 0] if is_frame(labels) and labels.shape[1] == 1 else labels


def coded(labels: Iterable[Any], classes: Any = None) -> list[Any]:
    """Return labels that may be codes as plain Python values, None where nothing is known.

    That is what `unknown` says, and -1, unless the classes that a user lists have it; sets of candidates hold None
    then. Where an example has one label, -1 is a label like any other: {-1, 1} is how scikit-learn and svmlight files
    code two classes.
    """
    given = list(labels)
    if set(map(type, given)) <= {str, int, bool} and -1 not in given:
        return given
    minus_one = classes is None or not any(_is_minus_one(label) for label in classes)

    def plain(label: Any) -> Any:
        if isinstance(label, Candidates):
            return frozenset(map(plain, label))
        label = label.item() if isinstance(label, np.generic) else label
        return None if unknown(label) or (minus_one and _is_minus_one(label)) else label

    return list(map(plain, given))


def _is_minus_one(label: Any) -> bool:
    return isinstance(label, (int, float, np.number)) and label == -1


def check_candidates(candidates: Any, where: str) -> None:
    """Refuse a set that is no choice between labels."""
    if not candidates:
        raise ValueError(f"{where} is an empty set; give its candidates, or None where unknown.")
    if any(map(unknown, candidates)):
        raise ValueError(
            f"{where} is a set of candidates one of which is not known (None, NaN, or -1 where that is no label): "
            f"{set(candidates)!r}. List candidates only, or give None where it may be any label."
        )


def ordered(labels: Iterable[Any]) -> np.ndarray:
    """Return the distinct labels in order: sorted where they can be compared, else as text within each type."""
    distinct = list(dict.fromkeys(labels))
    try:
        distinct.sort()
    except TypeError:
        distinct.sort(key=lambda label: (type(label).__name__, str(label)))
    return _array(distinct)


def given_classes(classes: Any) -> np.ndarray:
    """Return the labels that a user lists, in that order."""
    listed = classes.tolist() if isinstance(classes, np.ndarray) else list(classes)
    empty = next((label for label in listed if unknown(label)), MISSING)
    if empty is not MISSING:
        raise ValueError(f"classes holds {empty!r}, which says that a label is not known; list labels only.")
    again = next((label for label, count in Counter(listed).items() if count > 1), None)
    if again is not None:
        raise ValueError(f"classes holds {again!r} more than once; list each label once.")
    return classes if isinstance(classes, np.ndarray) and classes.ndim == 1 else _array(listed)


def _array(distinct: list[Any]) -> np.ndarray:
    """Return labels as an array that holds them as they are."""
    array = np.asarray(distinct)
    if array.ndim != 1 or array.tolist() != distinct:
        array = np.empty(len(distinct), dtype=object)
        array[:] = distinct
    return array


class LabelNames:
    """Translates labels to codes 0, 1, ... and back."""

    packed: tuple[str, ...] = ("classes",)
    states: LabelStates | None = None

    def __init__(self, classes: np.ndarray):
        self.classes = classes
        self._codes = {label: code for code, label in enumerate(classes.tolist())}

    @property
    def count(self) -> int:
        """The number of labels."""
        return self.classes.size

    def check(self) -> None:
        """Refuse what does not fit together."""

    @property
    def part_titles(self) -> list[str]:
        """What the columns of nodes are called."""
        return [str(label) for label in self.classes.tolist()]

    @property
    def n_states(self) -> int:
        """The number of states that slots may have: one for each label."""
        return self.count

    def annotation(self, codes: Ints, offsets: Ints, candidates: Bools) -> Labels:
        """Return the annotation of slots, of which example i has offsets[i]:offsets[i+1]."""
        return Labels(codes, offsets, self.count, candidates)

    def label_codes(self, annotation: Labels) -> Ints:
        """Return the label of each slot, below 0 where it is not known."""
        return annotation.codes

    def named(self, codes: Ints) -> np.ndarray:
        """Return the labels of codes."""
        return np.asarray(self.classes[codes])

    def scores(self, nodes: Array, hidden: Bools | None) -> Array:
        """Return the score of each label of slots."""
        return nodes

    def chances(self, nodes: Array, hidden: Bools | None) -> Array:
        """Return the probability of each label of slots."""
        return nodes

    def code(self, label: Any, row: int, where: Callable[[int], str] = in_y) -> int:
        """Return the code of the label of a row; where(row) names its place in the error."""
        label = label.item() if isinstance(label, np.generic) else label
        if label not in self._codes:
            shown = ", ".join(map(repr, self.classes.tolist()[:8])) + (", ..." if self.count > 8 else "")
            raise ValueError(f"{where(row)} has the unknown label {label!r}; the labels are {shown}.")
        return self._codes[label]

    def encode(self, labels: Sequence[Any], where: Callable[[int], str] = in_y) -> tuple[Ints, Bools]:
        """Return codes as in `Labels` (-1 unknown, below that rows of candidates) and the table of candidates.

        where(i) names the place of labels[i] in errors.
        """
        try:
            codes = np.fromiter(map(self._codes.get, labels, repeat(MISSING)), np.int64, len(labels))
        except TypeError:  # sets cannot be looked up
            codes = np.full(len(labels), MISSING)
        rows: dict[frozenset[Any], int] = {}
        members: list[list[int]] = []
        for i in np.flatnonzero(codes == MISSING).tolist():
            label = labels[i]
            if not isinstance(label, Candidates):
                codes[i] = -1 if unknown(label) else self.code(label, i, where)
                continue
            check_candidates(label, where(i))
            if len(label) == 1:
                codes[i] = self.code(next(iter(label)), i, where)
            else:
                row = rows.setdefault(frozenset(label), len(rows))
                if row == len(members):
                    members.append([self.code(name, i, where) for name in label])
                codes[i] = -2 - row
        table = np.zeros((len(rows), self.count), dtype=bool)
        for row, known in enumerate(members):
            table[row, known] = True
        return codes, table


def named_labels(labels: Iterable[Any]) -> list[Any]:
    """Return every label that occurs, on its own or as a candidate, as plain Python values."""
    labels = list(labels)
    with suppress(TypeError):  # sets cannot be keys
        labels = list(dict.fromkeys(labels))
    found: dict[Any, None] = {}
    for label in labels:
        for name in label if isinstance(label, Candidates) else (label,):
            if not unknown(name):
                found[name.item() if isinstance(name, np.generic) else name] = None
    return list(found)
