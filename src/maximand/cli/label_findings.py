"""What may go wrong with labels, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.cli.data import Examples
from maximand.cli.kinds import Kind
from maximand.tasks import Budget, bio, bioes

RARE = 5  # labels with fewer examples than this are hard to learn
IMBALANCED = 100.0
MANY_RANKED = 50  # labels whose k * k positions take long
MANY_LEVELS = 30


@dataclass(frozen=True)
class Finding:
    """Something about the data that may go wrong, and what to do about it; fatal: training would refuse them."""

    culprit: str
    cure: str
    fatal: bool = False


def label_counts(examples: Examples) -> Counter[Any]:
    """Count how often each label occurs; of label sets, also those that never do."""
    if examples.kind is Kind.SETS:
        return Counter(dict(zip(examples.labels, examples.y.sum(axis=0, dtype=int).tolist(), strict=True)))
    if examples.kind.tagged or examples.kind is Kind.RANKINGS:
        return Counter(label for labels in examples.y for label in labels)
    return Counter(examples.y.tolist())


def of_labels(counts: Counter[Any]) -> Iterator[Finding]:
    """Look at single labels."""
    if len(counts) < 2:
        yield Finding(
            f"There is only the label {next(iter(counts), None)!r}.", "Training needs at least two labels.", fatal=True
        )
        return
    yield from _rare(counts)
    yield from _imbalance(counts, "label", "F1")
    yield from _left_out(counts)


def of_sets(examples: Examples, counts: Counter[Any]) -> Iterator[Finding]:
    """Look at sets of labels."""
    n_rows = len(examples.y)
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
    yield from _rare(counts)
    yield from _left_out(counts)
    empty = np.flatnonzero(~examples.y.any(axis=1))
    if empty.size:
        yield Finding(
            f"{empty.size} of {n_rows} rows have no label, first number {empty[0] + 1}.",
            "Fine if none applies; leave them out if their labels are not known.",
        )
    nominal = [column.name for column in examples.columns if len(column.values or ()) > 2]
    if nominal:
        yield Finding(
            f"{len(nominal)} columns have more than two nominal values: {some(nominal)}.",
            "They are taken as the numbers 0, 1, ...; if the order means nothing, write a 0/1 column for each.",
        )


def of_budget(examples: Examples, budget: Budget) -> Iterator[Finding]:
    """Look for sets of labels that are larger than allowed."""
    _, most = budget.sizes(examples.y.astype(np.int64))
    crowded = np.flatnonzero(examples.y.sum(axis=1, dtype=int) > most)
    if crowded.size:
        yield Finding(
            f"{crowded.size} of {len(examples.y)} rows have more than {most} labels, first number {crowded[0] + 1}.",
            f"They are taken to have any {most} of theirs; raise --max-size if they matter.",
        )


def of_rankings(examples: Examples, counts: Counter[Any], unlisted: str | None) -> Iterator[Finding]:
    """Look at rankings of labels."""
    n_rows, k = len(examples.y), len(counts)
    if k < 2:
        yield Finding(f"There is only the label {examples.labels[0]!r}.", "An order needs two or more.", fatal=True)
        return
    partial = [i for i, ranking in enumerate(examples.y, 1) if len(ranking) < k]
    if partial and unlisted is None:
        yield Finding(
            f"{len(partial)} of {n_rows} rankings leave labels out, first number {partial[0]}.",
            "Such labels may be anywhere; say --unlisted below if they come after those that are listed.",
        )
    single = [i for i, ranking in enumerate(examples.y, 1) if len(ranking) == 1]
    if single and unlisted != "below":
        yield Finding(
            f"{len(single)} of {n_rows} rankings list one label only, first number {single[0]}.",
            "They hold no order and teach nothing; say --unlisted below if their label is the best.",
        )
    yield from _rare(counts)
    distinct = set(examples.y)
    places = {label: {ranking.index(label) for ranking in distinct if label in ranking} for label in counts}
    fixed = sorted(label for label, seen in places.items() if len(seen) == 1)
    if len(distinct) == 1:
        yield Finding(f"All rankings are {'>'.join(examples.y[0])}.", "There is nothing that features could tell.")
    elif fixed and not partial:
        yield Finding(
            f"{len(fixed)} labels have the same place in every ranking: {some(fixed)}.",
            "They will always be predicted there; if that is no news, leave them out.",
        )
    if k > MANY_RANKED:
        yield Finding(
            f"{k} labels have {k * k:,} pairs of a label and its place.",
            "Training takes long; --encoding vector has weights for labels alone.",
        )
    yield from _clashes(examples, "ranking")


def of_levels(examples: Examples, counts: Counter[Any]) -> Iterator[Finding]:
    """Look at ordered levels."""
    if len(counts) < 2:
        yield Finding(f"There is only the level {examples.labels[0]}.", "Training needs at least two.", fatal=True)
        return
    yield from _rare(counts, "level")
    yield from _imbalance(counts, "level", "the mean absolute error")
    empty = [level for level in examples.labels if level not in counts]
    if empty:
        yield Finding(
            f"The levels go from {examples.labels[0]} to {examples.labels[-1]} without {some(empty)}.",
            "They count as steps between their neighbours, but nothing teaches them; number the levels without holes "
            "if they do not exist.",
        )
    if len(counts) > MANY_LEVELS:
        yield Finding(
            f"There are {len(counts)} levels.",
            "Each has weights of its own; for a quantity join neighbours, or use a regression.",
        )
    yield from _clashes(examples, "level")


def _clashes(examples: Examples, noun: str) -> Iterator[Finding]:
    """Look for rows that differ in nothing but the output."""
    seen: dict[bytes, set[Any]] = {}
    keys = [row.tobytes() for row in examples.X]
    for key, output in zip(keys, examples.y, strict=True):
        seen.setdefault(key, set()).add(output)
    clashes = [i for i, key in enumerate(keys, 1) if len(seen[key]) > 1]
    if clashes:
        yield Finding(
            f"{len(clashes)} of {len(keys)} rows equal another one in all features but not in the {noun}, first number "
            f"{clashes[0]}.",
            "No model can be right on all of them; add a feature that tells them apart, or expect errors.",
        )


def _imbalance(counts: Counter[Any], noun: str, score: str) -> Iterator[Finding]:
    most, least = counts.most_common(1)[0], counts.most_common()[-1]
    if most[1] > IMBALANCED * least[1]:
        yield Finding(
            f"{noun.capitalize()} {most[0]!r} is {most[1] / least[1]:,.0f} times as frequent as {least[0]!r}.",
            f"If rare {noun}s matter, use class_weight='balanced' and look at {score}, not at accuracy.",
        )


def _rare(counts: Counter[Any], noun: str = "label") -> Iterator[Finding]:
    rare = [label for label, count in counts.items() if 0 < count < RARE]
    if rare:
        yield Finding(
            f"{len(rare)} {noun}s occur fewer than {RARE} times: {some(rare)}.",
            "Merge them with others or collect more; folds of a cross-validation may lack them.",
        )


def _left_out(counts: Counter[Any]) -> Iterator[Finding]:
    if all(isinstance(label, int) for label in counts):
        missing = sorted(set(range(min(counts), max(counts))) - set(counts))
        if missing and max(counts) - min(counts) < 10_000:
            yield Finding(
                f"The labels go from {min(counts)} to {max(counts)} without {some(missing)}.",
                "Fine if they do not exist; otherwise the data may be cut off.",
            )


def some(names: Iterable[Any]) -> str:
    """List the first few names."""
    return ", ".join([str(name) for name in names][:8])


def of_schemes(examples: Examples, counts: Counter[Any]) -> Iterator[Finding]:
    """Look at tags that mark spans."""
    names = sorted(map(str, counts))
    prefixes = {name.partition("-")[0] for name in names}
    if "I" not in prefixes or not prefixes <= set("BIOES"):
        return
    scheme = bioes if prefixes & set("ES") else bio
    legal, codes = scheme(names), {name: code for code, name in enumerate(names)}
    broken = [i for i, tags in enumerate(examples.y) if legal.violation(np.array([codes[tag] for tag in tags]))]
    if broken:
        yield Finding(
            f"{len(broken)} sequences break the {scheme.__name__.upper()} scheme, first number {broken[0] + 1}.",
            "Mend them (IOB1 tags, for instance, can be converted to BIO), or do not use --scheme.",
        )
