"""A look at label sets before training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from maximand.cards.checkup import Checkup, Finding, of_parts
from maximand.cards.data import Dataset
from maximand.cards.findings import left_out, rare, some
from maximand.cards.options import Options
from maximand.spaces import OutputSpace
from maximand.tasks import Budget

PLANES = 3  # planes of a row, with all of its parts
SECONDS = 2e-6  # for each stored value and label, that steps on planes take in a fit


def counts(data: Dataset) -> Counter[Any]:
    """Count how often each label is present, also those that never are."""
    return Counter(dict(zip(data.labels, data.y.sum(axis=0, dtype=int).tolist(), strict=True)))


def facts(data: Dataset, counts: Counter[Any]) -> dict[str, Any]:
    """Say how large the sets are."""
    return {
        "labels per row": round(counts.total() / max(len(data.y), 1), 4),
        "rows without labels": int((~data.y.any(axis=1)).sum()),
    }


def findings(data: Dataset, counts: Counter[Any], options: Options) -> Iterator[Finding]:
    """Look at sets of labels, and at their sizes."""
    n_rows = len(data.y)
    if not n_rows or not counts:
        yield Finding(f"There are {n_rows} rows and {len(counts)} labels.", "Training needs some of both.", fatal=True)
        return
    never = [label for label, count in counts.items() if count == 0]
    if never:
        yield Finding(
            f"{len(never)} labels are never present: {some(never)}.",
            "There is nothing to learn them from; collect rows that have them, or name them as labels no more.",
        )
    always = [label for label, count in counts.items() if count == n_rows]
    if always:
        yield Finding(
            f"{len(always)} labels are present in every row: {some(always)}.",
            "They will always be predicted; if that is no news, name them as labels no more.",
        )
    yield from rare(counts)
    yield from left_out(counts)
    empty = np.flatnonzero(~data.y.any(axis=1))
    if empty.size:
        yield Finding(
            f"{empty.size} of {n_rows} rows have no label, first number {empty[0] + 1}.",
            "Fine if none applies; leave them out if their labels are not known.",
        )
    nominal = [column.name for column in data.columns if len(column.values or ()) > 2]
    if nominal:
        yield Finding(
            f"{len(nominal)} columns have more than two nominal values: {some(nominal)}.",
            "They are taken as the numbers 0, 1, ...; if the order means nothing, write a 0/1 column for each.",
        )
    if options["structure"] == "budget":
        yield from _crowded(data, Budget(options["min_size"] or 0, options["max_size"]))


def _crowded(data: Dataset, budget: Budget) -> Iterator[Finding]:
    """Look for sets of labels that are larger than allowed."""
    _, most = budget.sizes(data.y.astype(np.int64))
    crowded = np.flatnonzero(data.y.sum(axis=1, dtype=int) > most)
    if crowded.size:
        yield Finding(
            f"{crowded.size} of {len(data.y)} rows have more than {most} labels, first number {crowded[0] + 1}.",
            f"They are taken to have any {most} of theirs; raise --max-size if they matter.",
        )


def planes(matrix: Any, space: OutputSpace, data: Dataset) -> tuple[float, float]:
    """Return the bytes of parts and of planes, and a time for each value and label."""
    held, _ = of_parts(matrix, space, data)
    return held + (4 + 8) * PLANES * space.n_parts, SECONDS * matrix.size * len(data.labels)


CHECKUP = Checkup(counts, findings, facts=facts, planes=planes)
