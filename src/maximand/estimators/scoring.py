"""Weights of classes, and scores of labels that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import compute_class_weight

from maximand.costs import Cost, Hamming
from maximand.support import Array, Bools, Ints
from maximand.tasks.base import checked_weight, finite_weights, numbers_of, usable_weights
from maximand.tasks.label_names import Candidates, check_candidates, unknown


def class_factors(class_weight: Any, classes: np.ndarray, codes: Ints) -> Array:
    """Return the weight of every class, by scikit-learn's rules, from the codes of the labels that are known."""
    if isinstance(class_weight, dict):
        listed, weights = list(class_weight), np.fromiter(class_weight.values(), dtype=object)
        finite_weights(numbers_of(weights, listed, "class_weight"), listed, "class_weight")
    elif not (class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced")):
        raise ValueError(f"class_weight is {class_weight!r}; give 'balanced', or a dict with a weight for each class.")
    known = codes[codes >= 0]
    present = np.unique(known)
    factors = np.ones(classes.size)
    if isinstance(class_weight, dict):
        absent = set(np.delete(classes, present).tolist())
        class_weight = {label: weight for label, weight in class_weight.items() if label not in absent}
    if present.size:
        weights = compute_class_weight(class_weight, classes=classes[present], y=classes[known])
        factors[present] = usable_weights(weights, classes[present].tolist(), "class_weight", "class")
    return factors


def class_cost(class_weight: Any, cost: Cost | None, classes: np.ndarray, codes: Ints) -> Hamming:
    """Return the number of wrong labels, each weighted by the class that it should have had."""
    if cost is not None:
        raise ValueError("Give either cost or class_weight: the weights of classes are part of a cost.")
    return Hamming(class_factors(class_weight, classes, codes))


def share_right(true: list[Any], guesses: list[Any], sizes: Any, sample_weight: Any) -> float:
    """Return the share of known labels that are guessed right; sample_weight is per example, of so many labels each.

    A set of candidates is right where the guess is one of them.
    """
    for i, label in enumerate(true):
        if isinstance(label, Candidates):
            check_candidates(label, f"Label {i} of Y")
    known = np.array([not unknown(label) for label in true], dtype=bool)
    right = np.array(
        [
            is_known and (guess in label if isinstance(label, Candidates) else guess == label)
            for is_known, label, guess in zip(known, true, guesses, strict=True)
        ]
    )
    weight = checked_weight(sample_weight, len(sizes))
    return mean_of_known(
        right, known, None if weight is None else np.repeat(weight, sizes), "Y holds no label that is known"
    )


class NothingKnown(ValueError):
    """There is nothing to compare predictions with."""


def mean_of_known(values: np.ndarray, known: Bools, weight: Array | None, otherwise: str) -> float:
    """Return the weighted mean of the values that are known; `otherwise` says that none is."""
    if not known.any():
        raise NothingKnown(f"{otherwise}; there is nothing to compare predictions with.")
    if weight is None:
        return float(np.average(values[known]))
    if not weight[known].any():
        raise NothingKnown("All examples with something known weigh 0; at least one of them must count.")
    return float(np.average(values[known], weights=weight[known]))
