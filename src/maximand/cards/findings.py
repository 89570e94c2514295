"""Findings about labels that the cards of several estimators share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from maximand.cards.checkup import Finding
from maximand.cards.data import Dataset

RARE = 5  # labels with fewer examples than this are hard to learn
IMBALANCED = 100.0


def some(names: Iterable[Any]) -> str:
    """List the first few names."""
    return ", ".join([str(name) for name in names][:8])


def of_labels(counts: Counter[Any], predictor: Any = None) -> Iterator[Finding]:
    """Look at single labels; a predictor that has a class_weight is one that training would fit."""
    if len(counts) < 2:
        yield Finding(
            f"There is only the label {next(iter(counts), None)!r}.", "Training needs at least two labels.", fatal=True
        )
        return
    yield from rare(counts)
    yield from imbalance(counts, "label", "F1", predictor)
    yield from left_out(counts)


def rare(counts: Counter[Any], noun: str = "label") -> Iterator[Finding]:
    """Look for labels with few examples."""
    found = [label for label, count in counts.items() if 0 < count < RARE]
    if found:
        yield Finding(
            f"{len(found)} {noun}s occur fewer than {RARE} times: {some(found)}.",
            "Merge them with others or collect more; folds of a cross-validation may lack them.",
        )


def imbalance(counts: Counter[Any], noun: str, score: str, predictor: Any = None) -> Iterator[Finding]:
    """Look for labels that are far more frequent than others."""
    most, *_, least = (+counts).most_common()
    if most[1] > IMBALANCED * least[1]:
        yield Finding(
            f"{noun.capitalize()} {most[0]!r} is {most[1] / least[1]:,.0f} times as frequent as {least[0]!r}.",
            f"If rare {noun}s matter, {_weighing(predictor)}look at {score}, not at accuracy.",
        )


def _weighing(predictor: Any) -> str:
    """Say how to weigh classes, where that can be done and is not."""
    if predictor is None or predictor.class_weight is not None:
        return ""
    return f"say {'' if predictor._reads_class_weight else '--loss augmented_crf '}--class-weight balanced and "


def left_out(counts: Counter[Any]) -> Iterator[Finding]:
    """Look for whole numbers that no label has."""
    if all(isinstance(label, int) for label in counts):
        missing = sorted(set(range(min(counts), max(counts))) - set(counts))
        if missing and max(counts) - min(counts) < 10_000:
            yield Finding(
                f"The labels go from {min(counts)} to {max(counts)} without {some(missing)}.",
                "Fine if they do not exist; otherwise the data may be cut off.",
            )


def clashes(data: Dataset, noun: str) -> Iterator[Finding]:
    """Look for rows that differ in nothing but the output."""
    seen: dict[bytes, set[Any]] = {}
    keys = [row.tobytes() for row in data.X]
    for key, output in zip(keys, data.y, strict=True):
        seen.setdefault(key, set()).add(output)
    found = [i for i, key in enumerate(keys, 1) if len(seen[key]) > 1]
    if found:
        yield Finding(
            f"{len(found)} of {len(keys)} rows equal another one in all features but not in the {noun}, first number "
            f"{found[0]}.",
            "No model can be right on all of them; add a feature that tells them apart, or expect errors.",
        )
