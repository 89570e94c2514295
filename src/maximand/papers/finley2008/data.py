"""The six data sets: four public ones, or stand-ins for them, and two made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from maximand.datasets import one_of_many, topics
from maximand.formats import read_mulan, read_multilabel_svmlight
from maximand.papers.study import Study
from maximand.support import Ints

MOST_FREQUENT = 10
FILES = {
    "scene": ("scene.train.arff.gz", "scene.test.arff.gz", "scene.labels.xml.gz"),
    "yeast": ("yeast.train.arff.gz", "yeast.test.arff.gz", "yeast.labels.xml.gz"),
    "reuters": ("rcv1subset1-top944.train.svm.gz", "rcv1subset1-top944.test.svm.gz"),
    "mediamill": ("mediamill-2000.train.arff.gz", "mediamill-2000.test.arff.gz", "mediamill-2000.labels.xml.gz"),
}
SYNTHETIC = {"synth1": (471, 5045), "synth2": (1000, 10000)}  # rows for training and for testing, as in the paper
NAMES = (*FILES, *SYNTHETIC)
STAND_INS = (
    "Reuters has the paper's documents with 944 binary features, scaled to unit length, instead of 47236; mediamill is "
    "a subset of 1424 and 467 rows instead of 29415 and 12168; synth1 and synth2 are made up anew from their "
    "description. Every label has a bias: without one, independent labels get 42 % of yeast wrong."
)


class Part(NamedTuple):
    """Rows and their labels, as indicators."""

    X: Any
    Y: Ints


def files(study: Study, name: str) -> list[str]:
    """Return the paths of the files of a data set, noting their hashes."""
    return [str(study.file(f"multilabel/{file}")) for file in FILES.get(name, ())]


def read(name: str, paths: list[str], seed: int, share: float = 1.0) -> tuple[Part, Part]:
    """Return training and test data; `share` makes synthetic data smaller."""
    if name in SYNTHETIC:
        return _synthetic(name, seed, share)
    if name == "reuters":
        return _reuters(paths)
    train, test = (_dense(read_mulan(path, paths[2])) for path in paths[:2])
    if name != "mediamill":
        return train, test
    frequent = np.sort(np.argsort(-train.Y.sum(axis=0), kind="stable")[:MOST_FREQUENT])
    return _with_labels(train, frequent), _with_labels(test, frequent)


def _dense(table: Any) -> Part:
    X, Y = (part.toarray() if issparse(part) else np.asarray(part) for part in (table.X, table.Y))
    return Part(X.astype(float), Y.astype(np.int64))


def _with_labels(part: Part, chosen: Ints) -> Part:
    """Keep some labels, and the rows that have at least one of them."""
    Y = part.Y[:, chosen]
    rows = Y.any(axis=1)
    return Part(part.X[rows], Y[rows])


def _reuters(paths: list[str]) -> tuple[Part, Part]:
    parts = []
    for path in paths:
        rows = read_multilabel_svmlight(Path(path), n_features=944)
        Y = np.zeros((len(rows.labels), MOST_FREQUENT), dtype=np.int64)
        for i, labels in enumerate(rows.labels):
            Y[i, list(labels)] = 1
        norms = np.sqrt(np.asarray(rows.X.multiply(rows.X).sum(axis=1)).ravel())
        X = csr_array(rows.X.multiply(1.0 / np.maximum(norms, 1e-12)[:, None]))
        kept = np.flatnonzero(Y.any(axis=1))
        parts.append(Part(X[kept], Y[kept]))
    return parts[0], parts[1]


def _synthetic(name: str, seed: int, share: float) -> tuple[Part, Part]:
    rng = np.random.default_rng([seed, list(SYNTHETIC).index(name)])
    sizes = [round(share * size) for size in SYNTHETIC[name]]
    if name == "synth1":
        return Part(*topics(sizes[0], rng)), Part(*topics(sizes[1], rng))
    directions = rng.normal(size=(10, 40))
    return Part(*one_of_many(sizes[0], rng, directions)), Part(*one_of_many(sizes[1], rng, directions))
