"""A look at rankings before training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from maximand.cards.checkup import Checkup, Finding, of_timed_parts
from maximand.cards.data import Dataset
from maximand.cards.findings import clashes, rare, some
from maximand.cards.options import Options
from maximand.orders import labels_in, order_of, text_of

MANY_RANKED = 50  # labels whose k * k positions take long


def counts(data: Dataset) -> Counter[Any]:
    """Count how often each label is listed."""
    return Counter(label for ranking in data.y for label in labels_in(ranking))


def facts(data: Dataset, counts: Counter[Any]) -> dict[str, Any]:
    """Say how long rankings are, and which labels come first."""
    return {
        "labels per ranking": round(counts.total() / max(len(data.y), 1), 4),
        "partial rankings": sum(len(labels_in(ranking)) < len(counts) for ranking in data.y),
        "rankings with ties": sum(len(labels_in(ranking)) > len(ranking) for ranking in data.y),
        "different rankings": len(set(data.y)),
        "first places": dict(Counter(text_of(ranking[:1]) for ranking in data.y).most_common()),
    }


def findings(data: Dataset, counts: Counter[Any], options: Options) -> Iterator[Finding]:
    """Look at rankings of labels."""
    n_rows, k = len(data.y), len(counts)
    if k < 2:
        yield Finding(f"There is only the label {data.labels[0]!r}.", "An order needs two or more.", fatal=True)
        return
    partial = [i for i, ranking in enumerate(data.y, 1) if len(labels_in(ranking)) < k]
    if partial and options["unlisted"] is None:
        yield Finding(
            f"{len(partial)} of {n_rows} rankings leave labels out, first number {partial[0]}.",
            "Such labels may be anywhere; say --unlisted below if they come after those that are listed.",
        )
    single = [i for i, ranking in enumerate(data.y, 1) if len(ranking) == 1]
    if single and options["unlisted"] != "below":
        yield Finding(
            f"{len(single)} of {n_rows} rankings list one label only, or labels that tie, first number {single[0]}.",
            "They hold no order and teach nothing; say --unlisted below if their label is the best.",
        )
    yield from rare(counts)
    yield from _fixed(data, counts, bool(partial))
    if k > MANY_RANKED:
        yield Finding(
            f"{k} labels have {k * k:,} pairs of a label and its place.",
            "Training takes long; --encoding vector has weights for labels alone.",
        )
    yield from clashes(data, "ranking")


def _fixed(data: Dataset, counts: Counter[Any], partial: bool) -> Iterator[Finding]:
    """Look for labels that never move."""
    distinct = set(data.y)
    places: dict[Any, set[int]] = {label: set() for label in counts}
    for ranking in distinct:
        for place, tied in enumerate(order_of(ranking)):
            for label in tied:
                places[label].add(place)
    fixed = sorted(label for label, seen in places.items() if len(seen) == 1)
    if len(distinct) == 1:
        yield Finding(f"All rankings are {text_of(data.y[0])}.", "There is nothing that features could tell.")
    elif fixed and not partial:
        yield Finding(
            f"{len(fixed)} labels have the same place in every ranking: {some(fixed)}.",
            "They will always be predicted there; if that is no news, leave them out.",
        )


CHECKUP = Checkup(counts, findings, facts=facts, planes=of_timed_parts)
