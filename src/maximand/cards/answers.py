"""Predictions as lines, and their scores: what the cards of several estimators share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import precision_recall_fscore_support


def by_label(classes: np.ndarray, values: Any) -> dict[str, Any]:
    """Return the values of each label, rounded: a number, or a list of such."""
    rounded = (np.round(np.asarray(values, dtype=float), 6) + 0.0).tolist()  # no -0.0
    return dict(zip(map(str, classes.tolist()), rounded, strict=True))


def line(name: str, answer: Any, text: str, more: dict[str, dict[str, Any]] | None, as_json: bool) -> str:
    """Return an answer and what is known of its labels, as text with a tab between the two or as JSON."""
    if as_json:
        return json.dumps(answer if more is None else {name: answer, **more}, ensure_ascii=False)
    if more is None:
        return text
    (values,) = more.values()
    return text + "\t" + ",".join(f"{label}={_digits(value)}" for label, value in values.items())


def _digits(value: Any) -> str:
    return ":".join(map(_digits, value)) if isinstance(value, list) else f"{value:.6f}"


def share_equal(first: Sequence[Any], second: Sequence[Any]) -> float:
    """Return the share of pairs that are equal; 0 where there are none."""
    return sum(a == b for a, b in zip(first, second, strict=True)) / max(len(first), 1)


def scores_by_label(right: Sequence[str], guesses: Sequence[str], key: Any = None) -> dict[str, dict[str, Any]]:
    """Return precision, recall, F1 and the number of each label that is right or guessed, in the order of `key`."""
    labels = sorted({*right, *guesses}, key=key)
    if not labels:
        return {}
    scores = precision_recall_fscore_support(right, guesses, labels=labels, zero_division=0.0)
    return {
        label: {"precision": float(p), "recall": float(r), "f1": float(f), "count": int(n)}
        for label, p, r, f, n in zip(labels, *scores, strict=True)
    }
