"""Label sets: the seven data sets, or made-up ones, and the measures of predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from maximand.datasets import one_of_many, topics
from maximand.formats import Mulan, read_mulan
from maximand.papers.study import Study
from maximand.support import Array, Ints

PARTS = ("train.arff.gz", "test.arff.gz")
STEMS = {
    "birds": "birds", "cal500": "cal500", "emotions": "emotions", "mediamill": "mediamill-2000", "scene": "scene",
    "tmc": "tmc2007-500", "yeast": "yeast",
}  # fmt: skip
WHOLE = ("cal500",)  # without a published split
MADE_UP = ("simulated topics", "simulated directions")
MEASURES = ("subset accuracy", "label accuracy", "example F1", "micro F1")


class Part(NamedTuple):
    """Rows and their labels, as indicators."""

    X: Any
    Y: Ints


def files(study: Study) -> dict[str, list[str]]:
    """Return the paths of the data sets of a scale by name, none for made-up ones, noting their hashes."""
    if study.scale == "quick":
        return {name: [] for name in MADE_UP}
    found = {}
    for name, stem in STEMS.items():
        endings = ("labels.xml.gz", "arff.gz") if name in WHOLE else ("labels.xml.gz", *PARTS)
        found[name] = [str(study.file(f"multilabel/{stem}.{end}")) for end in endings]
    return found


def read(name: str, paths: list[str], seed: int) -> tuple[Part, Part]:
    """Return training and test data, dense features standardised by the training part."""
    if name in MADE_UP:
        return _made_up(name, seed)
    xml, *tables = (Path(path) for path in paths)
    parts = [_part(read_mulan(table, xml)) for table in tables]
    if name in WHOLE:
        train, test = train_test_split(np.arange(len(parts[0].Y)), test_size=0.25, random_state=seed)
        parts = [Part(parts[0].X[rows], parts[0].Y[rows]) for rows in (train, test)]
    if issparse(parts[0].X):
        return parts[0], parts[1]
    scaler = StandardScaler().fit(parts[0].X)
    return Part(scaler.transform(parts[0].X), parts[0].Y), Part(scaler.transform(parts[1].X), parts[1].Y)


def _part(table: Mulan) -> Part:
    """Return the rows of a table; a nominal feature with more than two values becomes an indicator of each."""
    Y = table.Y.toarray() if issparse(table.Y) else np.asarray(table.Y)
    if issparse(table.X):
        return Part(csr_array(table.X, dtype=float), Y.astype(np.int64))
    X = np.asarray(table.X, dtype=float)
    columns = [
        X[:, [place]] if attribute.values is None or len(attribute.values) < 3 else _one_hot(X[:, place], attribute)
        for place, attribute in enumerate(table.features)
    ]
    return Part(np.hstack(columns), Y.astype(np.int64))


def _one_hot(codes: Array, attribute: Any) -> Array:
    return (codes[:, None] == np.arange(len(attribute.values))).astype(float)


def _made_up(name: str, seed: int) -> tuple[Part, Part]:
    rng = np.random.default_rng(seed)
    if name == "simulated topics":
        return Part(*topics(150, rng, n_words=600)), Part(*topics(150, rng, n_words=600))
    directions = rng.normal(size=(6, 12))
    return Part(*one_of_many(150, rng, directions)), Part(*one_of_many(150, rng, directions))


def measures(predicted: Ints, true: Ints) -> dict[str, tuple[float, float | None]]:
    """Return the measures in per cent, with their standard errors over rows where they are means over these.

    A row without labels that is predicted to have none has an F1 of 1.
    """
    both, sizes = (predicted & true).sum(axis=1), predicted.sum(axis=1) + true.sum(axis=1)
    of_rows = {
        "subset accuracy": (predicted == true).all(axis=1).astype(float),
        "label accuracy": (predicted == true).mean(axis=1),
        "example F1": np.where(sizes > 0, 2.0 * both / np.maximum(sizes, 1), 1.0),
    }
    found: dict[str, tuple[float, float | None]] = {
        name: (100.0 * float(values.mean()), 100.0 * float(values.std(ddof=1) / np.sqrt(values.size)))
        for name, values in of_rows.items()
    }
    return found | {"micro F1": (200.0 * float(both.sum()) / max(float(sizes.sum()), 1.0), None)}
