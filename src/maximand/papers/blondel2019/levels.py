"""Ordered levels: the published data sets with their partitions, or stand-ins."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from maximand.formats import read_ordinal, read_partitions
from maximand.papers.study import Study
from maximand.support import Array, Ints

NAMES = (
    "automobile", "balance-scale", "bondrate", "car", "contact-lenses", "ERA", "ESL", "eucalyptus", "LEV", "newthyroid",
    "pasture", "squash-stored", "squash-unstored", "SWD", "tae", "toy", "winequality-red",
)  # fmt: skip
STAND_INS = ("embedded diabetes", "simulated levels")


class Levels(NamedTuple):
    """Rows, their levels 1, ..., k, and the test rows of each partition."""

    X: Array
    y: Ints
    tests: list[Ints]

    def part(self, number: int) -> tuple[Array, Ints, Array, Ints]:
        """Return training and test data of a partition, features standardised by the training part."""
        test = self.tests[number]
        train = np.setdiff1d(np.arange(self.y.size), test)
        mean, spread = self.X[train].mean(axis=0), self.X[train].std(axis=0)
        X = (self.X - mean) / np.where(spread > 1e-9, spread, 1.0)
        return X[train], self.y[train], X[test], self.y[test]


def files(study: Study) -> dict[str, list[str]]:
    """Return the paths of the data sets of a scale by name, none for stand-ins, noting their hashes."""
    if study.scale == "quick":
        return {name: [] for name in STAND_INS}
    return {name: [str(study.file(f"ordinal/{name}.{end}")) for end in ("csv.gz", "splits.txt.gz")] for name in NAMES}


def read(name: str, paths: list[str], partitions: int, seed: int) -> Levels:
    """Return a data set with its published partitions, and random ones where these are fewer than wanted."""
    if name in STAND_INS:
        X, y = _stand_in(name, seed)
        tests: list[Ints] = []
    else:
        table = read_ordinal(Path(paths[0]))
        X, y = table.X, table.y
        tests = [partition.test for partition in read_partitions(Path(paths[1]), n_rows=y.size)]
    size = tests[0].size if tests else y.size // 4
    return Levels(X, y, tests + _random(y, size, max(0, partitions - len(tests)), seed))


def _random(y: Ints, size: int, count: int, seed: int) -> list[Ints]:
    """Return the test rows of random partitions, stratified by level where every level occurs twice."""
    if not count:
        return []
    kind = StratifiedShuffleSplit if np.unique(y, return_counts=True)[1].min() > 1 else ShuffleSplit
    return [test for _, test in kind(count, test_size=size, random_state=seed).split(y, y)]


def _stand_in(name: str, seed: int) -> tuple[Array, Ints]:
    """Cut the progress of diabetes, or a made-up number, into levels."""
    rng = np.random.default_rng(seed)
    if name == "embedded diabetes":
        X, values = load_diabetes(return_X_y=True)
    else:
        X = rng.normal(size=(200, 6))
        values = X @ rng.normal(size=6) + rng.normal(size=200)
    cuts = np.quantile(values, [0.1, 0.35, 0.65, 0.9])
    return X, 1 + np.searchsorted(cuts, values)
