"""What may go wrong with features, and with test data, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from maximand.cards.checkup import Checkup, Finding
from maximand.cards.data import Dataset
from maximand.cards.findings import some
from maximand.support import Array

UNEVEN = 1e3  # how far the sizes of columns may be apart


def of_columns(data: Dataset, matrix: csr_array, scaled: bool, cure: str) -> Iterator[Finding]:
    """Look at the columns of features; `cure` is what to do where their sizes differ and they are not scaled."""
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
    if used.size < sizes.size:
        yield Finding(
            f"{sizes.size - used.size} columns hold zeros only.", "They are harmless; drop them to save memory."
        )
    names: Sequence[Any] = [repr(column.name) for column in data.columns] or range(1, sizes.size + 1)
    if isinstance(data.X, np.ndarray) and len(data.X):
        yield from _of_equal_columns(data.X, names)
    if used.size and used.max() > UNEVEN * used.min() and not scaled:
        largest, smallest = int(sizes.argmax()), int(np.where(sizes > 0, sizes, np.inf).argmin())
        yield Finding(
            f"Column {names[largest]} has values up to {used.max():g}, column {names[smallest]} only up to "
            f"{used.min():g}.",
            cure,
        )


def _of_equal_columns(X: Array, names: Sequence[Any]) -> Iterator[Finding]:
    """Look for columns that repeat another one, or the bias."""
    constant = [column for column in range(X.shape[1]) if X[0, column] != 0 and (X[:, column] == X[0, column]).all()]
    if constant:
        yield Finding(
            f"{len(constant)} columns have the same value in every row: {some(names[column] for column in constant)}.",
            "They tell rows apart no better than the bias; drop them.",
        )
    first: dict[bytes, int] = {}
    again = []
    for column in range(X.shape[1]):
        before = first.setdefault(X[:, column].tobytes(), column)
        if before != column and X[:, column].any() and column not in constant:
            again.append(f"{names[column]} = {names[before]}")
    if again:
        yield Finding(
            f"{len(again)} columns repeat another one: {some(again)}.",
            "They share its weight and are regularised less; drop them unless that is wanted.",
        )


def leaks(checkup: Checkup, train: Dataset, tests: Dataset) -> Iterator[Finding]:
    """Compare the inputs of training and test data, byte by byte, and their labels."""
    known = set(checkup.digests(train))
    found = [i for i, digest in enumerate(checkup.digests(tests)) if digest in known]
    if found:
        yield Finding(
            f"{len(found)} of {len(tests.y)} test examples are in the training data as well, first number "
            f"{found[0] + 1}.",
            "Remove them from one side, or the test says nothing about new data.",
        )
    there, trained = ({str(label) for label, n in checkup.counts(side).items() if n} for side in (tests, train))
    unseen = there - trained
    if unseen:
        yield Finding(
            f"The test data have labels that training does not know: {some(sorted(unseen))}.",
            "They can never be predicted; check that both files use the same names.",
        )
