"""The contract of a task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np

from maximand.costs import Cost
from maximand.features import Examples, FeatureMap
from maximand.support import Array, Waiting
from maximand.tasks.label_names import LabelNames

LARGEST = 1e30  # of a feature: solvers square what they make of it, and keep some of that in single precision


class BoundTask(ABC):
    """A task that has seen its training data: it knows the features, the labels and the cost."""

    features: FeatureMap
    cost: Cost
    names: LabelNames

    @property
    def all_classes(self) -> Any:
        """The labels in the form in which the task takes them as `classes`."""
        return self.names.classes

    @abstractmethod
    def encode(self, X: Any) -> Examples:
        """Check inputs and lay them side by side, with the space of their outputs."""

    def small_input(self) -> Any:
        """Return a small input, on which a model that was loaded is tried; None where it is not."""
        return None

    def quick(self, weights: Array) -> Callable[[Any], Any] | None:
        """Return a function that finds the best outputs of a few inputs sooner than usual, if there is one.

        It returns None for inputs that are not for it.
        """
        return None

    @abstractmethod
    def annotation(self, examples: Examples, Y: Any) -> Any:
        """Check annotations and put them into compact form."""

    @abstractmethod
    def outputs(self, examples: Examples, psi: Array) -> Any:
        """Return outputs in the user's terms."""

    def slot_labels(self, codes: Any) -> np.ndarray:
        """Return codes of slots in the user's terms."""
        return self.names.named(codes)

    @abstractmethod
    def parts(self, examples: Examples, values: Array) -> Any:
        """Return scores of parts in the user's terms."""

    def means(self, examples: Examples, mean: Any) -> Any:
        """Return marginals or projections in the user's terms; a mean may be `Waiting`."""
        return self.parts(examples, mean.array() if isinstance(mean, Waiting) else mean)


class Task(ABC):
    """A description of a task, to be bound to training data."""

    @abstractmethod
    def bind(self, X: Any, Y: Any) -> tuple[BoundTask, Examples, Any]:
        """Learn from the training data what the task needs to know; return it with the data as it encodes them."""


def place_of(name: str, row: int, offsets: Any, kind: str) -> str:
    """Say of which example a row of the batch is, and which of its tokens or nodes."""
    example = int(np.searchsorted(offsets, row, side="right")) - 1
    return f"{name}[{example}], {kind} {row - int(offsets[example])},"


def finite_rows(matrix: Any, offsets: Any = None, kind: str = "token") -> None:
    """Refuse NaN, infinity and what is too large, naming the row, and which of its example's where it has several."""
    values = matrix.data if hasattr(matrix, "indptr") else matrix
    if values.min(initial=0.0) >= -LARGEST and values.max(initial=0.0) <= LARGEST:  # false for NaN
        return
    wrong = ~(np.abs(values) <= LARGEST)
    if hasattr(matrix, "indptr"):
        place = int(np.flatnonzero(wrong)[0])
        row = int(np.searchsorted(matrix.indptr, place, side="right")) - 1
        column, value = int(matrix.indices[place]), matrix.data[place]
    else:
        row, column = (int(index) for index in np.argwhere(wrong)[0])
        value = matrix[row, column]
    where = f"X[{row}]" if offsets is None else place_of("X", row, offsets, kind)
    if np.isfinite(value):
        raise ValueError(
            f"{where} contains {value:g} in feature {column}; scores of numbers beyond {LARGEST:g} overflow: scale the "
            "feature, as StandardScaler does, or drop it."
        )
    found = "NaN" if np.isnan(value) else "infinity"
    raise ValueError(f"{where} contains {found} in feature {column}; impute it or drop the example.")


def checked_pairs(pairs: str, *choices: str) -> str:
    """Refuse an unknown name for the pairs that have weights."""
    if pairs not in choices:
        raise ValueError(f"pairs is {pairs!r}; choose one of {', '.join(map(repr, choices))}.")
    return pairs


def checked_weight(sample_weight: Any, n_examples: int) -> Array | None:
    """Refuse sample weights that are negative, not finite, all zero or of the wrong number."""
    if sample_weight is None:
        return None
    weight = numbers_of(sample_weight, range(n_examples), "sample_weight")
    if weight.ndim == 0:
        weight = np.full(n_examples, float(weight))
    if weight.shape != (n_examples,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected ({n_examples},): one weight per example.")
    return usable_weights(weight, range(n_examples), "sample_weight", "example")


def numbers_of(weights: Any, owners: Iterable[Any], name: str) -> Array:
    """Return weights as numbers; refuse what is none, text too."""
    with suppress(TypeError, ValueError):  # such as lists of several lengths
        given = np.asarray(weights)
        if given.dtype.kind in "biuf" or (given.dtype == object and all(map(_is_number, given.flat))):
            return given.astype(float)
    each = zip(owners, weights, strict=False) if isinstance(weights, Iterable) else ()
    wrong = ((f"{name}[{owner!r}]", weight) for owner, weight in each if not _is_number(weight))
    place, weight = next(wrong, (name, weights))
    raise ValueError(f"{place} is {weight!r}; weights must be numbers, finite and not negative.")


def _is_number(value: Any) -> bool:
    return isinstance(value, (Real, np.bool_))


def finite_weights(weights: Array, owners: Sequence[Any], name: str) -> None:
    """Refuse weights that are negative or not finite."""
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if bad.size:
        raise ValueError(f"{name}[{owners[bad[0]]!r}] is {weights[bad[0]]}; weights must be finite and not negative.")


def usable_weights(weights: Array, owners: Sequence[Any], name: str, noun: str) -> Array:
    """Refuse weights by which no mean can be taken: negative, not finite, all zero, or of a sum that overflows."""
    finite_weights(weights, owners, name)
    if not weights.any():
        raise ValueError(f"{name} is zero everywhere; at least one {noun} must count.")
    with np.errstate(over="ignore"):
        if not np.isfinite(weights.sum()):
            raise ValueError(f"The sum of {name} is beyond the largest number; divide all weights by the largest.")
    return weights
