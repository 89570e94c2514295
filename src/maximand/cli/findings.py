"""What may go wrong with data, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from maximand.cli.data import Examples
from maximand.cli.kinds import Kind
from maximand.tasks import bio, bioes

RARE = 5  # labels with fewer examples than this are hard to learn
IMBALANCED = 100.0
UNEVEN = 1e3  # how far the sizes of columns may be apart


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


def findings_of(examples: Examples, matrix: csr_array, counts: Counter[Any]) -> Iterator[Finding]:
    """Look at labels, then at features."""
    match examples.kind:
        case Kind.SETS:
            yield from _of_sets(examples, counts)
        case Kind.RANKINGS:
            yield from of_rankings(examples, counts)
        case Kind.LEVELS:
            yield from of_levels(examples, counts)
        case _:
            yield from _of_labels(counts)
    if examples.kind.tagged:
        yield from _of_schemes(examples, counts)
    yield from _of_columns(examples, matrix)


def _of_labels(counts: Counter[Any]) -> Iterator[Finding]:
    if len(counts) < 2:
        yield Finding(
            f"There is only the label {next(iter(counts), None)!r}.", "Training needs at least two labels.", fatal=True
        )
        return
    yield from _rare(counts)
    most, least = counts.most_common(1)[0], counts.most_common()[-1]
    if most[1] > IMBALANCED * least[1]:
        yield Finding(
            f"Label {most[0]!r} is {most[1] / least[1]:,.0f} times as frequent as {least[0]!r}.",
            "If rare labels matter, use class_weight='balanced' and look at F1, not at accuracy.",
        )
    yield from _left_out(counts)


def _of_sets(examples: Examples, counts: Counter[Any]) -> Iterator[Finding]:
    n_rows = len(examples.y)
    if not n_rows or not counts:
        yield Finding(f"There are {n_rows} rows and {len(counts)} labels.", "Training needs some of both.", fatal=True)
        return
    never = [label for label, count in counts.items() if count == 0]
    if never:
        yield Finding(
            f"{len(never)} labels are never present: {_some(never)}.",
            "There is nothing to learn them from; collect rows that have them, or name them as labels no more.",
        )
    always = [label for label, count in counts.items() if count == n_rows]
    if always:
        yield Finding(
            f"{len(always)} labels are present in every row: {_some(always)}.",
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
            f"{len(nominal)} columns have more than two nominal values: {_some(nominal)}.",
            "They are taken as the numbers 0, 1, ...; if the order means nothing, write a 0/1 column for each.",
        )


def _rare(counts: Counter[Any]) -> Iterator[Finding]:
    rare = [label for label, count in counts.items() if 0 < count < RARE]
    if rare:
        yield Finding(
            f"{len(rare)} labels occur fewer than {RARE} times: {_some(rare)}.",
            "Merge them with others or collect more; folds of a cross-validation may lack them.",
        )


def _left_out(counts: Counter[Any]) -> Iterator[Finding]:
    if all(isinstance(label, int) for label in counts):
        missing = sorted(set(range(min(counts), max(counts))) - set(counts))
        if missing and max(counts) - min(counts) < 10_000:
            yield Finding(
                f"The labels go from {min(counts)} to {max(counts)} without {_some(missing)}.",
                "Fine if they do not exist; otherwise the data may be cut off.",
            )


def _some(names: Iterable[Any]) -> str:
    return ", ".join([str(name) for name in names][:8])


def _of_schemes(examples: Examples, counts: Counter[Any]) -> Iterator[Finding]:
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


def _of_columns(examples: Examples, matrix: csr_array) -> Iterator[Finding]:
    if not np.isfinite(matrix.data).all():
        yield Finding(
            "Some feature values are missing, NaN or infinite.",
            "Impute them or drop the examples; training refuses them.",
            fatal=True,
        )
        return
    sizes = np.zeros(matrix.shape[1])
    np.maximum.at(sizes, matrix.indices, np.abs(matrix.data))
    used = sizes[sizes > 0]
    if used.size < sizes.size and examples.kind is not Kind.TEXT:
        yield Finding(
            f"{sizes.size - used.size} columns hold zeros only.", "They are harmless; drop them to save memory."
        )
    if used.size and used.max() > UNEVEN * used.min() and not examples.kind.tagged:
        largest, smallest = int(sizes.argmax()), int(np.where(sizes > 0, sizes, np.inf).argmin())
        names = [repr(column.name) for column in examples.columns] or range(1, sizes.size + 1)
        yield Finding(
            f"Column {names[largest]} has values up to {used.max():g}, column {names[smallest]} only up to "
            f"{used.min():g}.",
            "Scale the columns: fit --scale, or a scaler in a Pipeline.",
        )


def leaks(train: Examples, tests: Examples) -> Iterator[Finding]:
    """Compare the inputs of training and test data, byte by byte, and their labels."""
    known = set(_digests(train))
    found = [i for i, digest in enumerate(_digests(tests)) if digest in known]
    if found:
        yield Finding(
            f"{len(found)} of {len(tests.y)} test examples are in the training data as well, first number "
            f"{found[0] + 1}.",
            "Remove them from one side, or the test says nothing about new data.",
        )
    there, trained = ({str(label) for label, n in label_counts(side).items() if n} for side in (tests, train))
    unseen = there - trained
    if unseen:
        yield Finding(
            f"The test data have labels that training does not know: {_some(sorted(unseen))}.",
            "They can never be predicted; check that both files use the same names.",
        )


def _digests(examples: Examples) -> Iterator[int]:
    if examples.kind is Kind.TEXT:
        return (hash(tuple(map(tuple, tokens))) for tokens in examples.X)
    if examples.kind is Kind.SEQUENCES:
        return (hash(x.tobytes()) for x in examples.X)
    X = csr_array(examples.X)
    return (hash((X.indices[a:b].tobytes(), X.data[a:b].tobytes())) for a, b in pairwise(X.indptr.tolist()))
