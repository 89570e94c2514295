"""Label sets: what a model answers, and how good it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maximand.support import Bools


def indicators(answers: Any, classes: np.ndarray) -> Bools:
    """Return predictions, indicators or sets, as a matrix (row, label)."""
    if isinstance(answers, np.ndarray):
        return answers.astype(bool)
    return np.array([[label in present for label in classes.tolist()] for present in answers], dtype=bool)


def side_by_side(
    guesses: Bools, known: Sequence[str], truth: Any, given: Sequence[str]
) -> tuple[list[str], Bools, Bools]:
    """Return the labels of model and data with a matrix of each: labels that only one side knows are never present."""
    labels = list(dict.fromkeys([*known, *given]))
    if given and len(labels) == len(known) + len(given):
        raise ValueError(f"The model knows no label of the data: {_some(known)}; but {_some(given)}.")
    place = {label: column for column, label in enumerate(labels)}
    both = np.zeros((2, len(truth), len(labels)), dtype=bool)
    both[0][:, [place[label] for label in known]] = guesses
    both[1][:, [place[label] for label in given]] = truth
    return labels, both[0], both[1]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


def scores_of_sets(guesses: Bools, truth: Bools) -> dict[str, float]:
    """Compare whole sets.

    Hamming loss: the share of wrong labels. Subset accuracy: the share of rows with all labels right. Jaccard accuracy:
    the mean of |both| / |either|, 1 where neither has a label. Micro F1 counts the labels of all rows together, macro
    F1 is the mean over labels.
    """
    hits, either = (guesses & truth).sum(axis=1), (guesses | truth).sum(axis=1)
    return {
        "Hamming loss": float((guesses != truth).mean()),
        "subset accuracy": float((guesses == truth).all(axis=1).mean()),
        "Jaccard accuracy": float(np.where(either, hits / np.maximum(either, 1), 1.0).mean()),
        "micro F1": _f1(hits.sum(), guesses.sum(), truth.sum()),
        "macro F1": float(np.mean([score["f1"] for score in scores_of_labels(guesses, truth)])),
    }


def scores_of_labels(guesses: Bools, truth: Bools) -> list[dict[str, Any]]:
    """Return precision, recall, F1 and the number of rows of each label; 0 where there is nothing to divide by."""
    counts = zip(*(side.sum(axis=0).tolist() for side in (guesses & truth, guesses, truth)), strict=True)
    return [
        {
            "precision": hits / max(given, 1), "recall": hits / max(wanted, 1), "f1": _f1(hits, given, wanted),
            "count": wanted,
        }
        for hits, given, wanted in counts
    ]  # fmt: skip


def _f1(hits: int, given: int, wanted: int) -> float:
    return float(2 * hits / max(given + wanted, 1))
