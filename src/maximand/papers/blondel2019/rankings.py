"""Label rankings: the six data sets, or stand-ins for them, their splits, and the loss of the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MinMaxScaler

from maximand.costs import DifferentParts
from maximand.decoding import Calibrated
from maximand.formats import read_rankings
from maximand.oracles import Euclidean
from maximand.papers.study import Study
from maximand.sets import ConvexSet, Cube, Everything, Hull, RowStochastic
from maximand.spaces import Matching
from maximand.support import Array, Ints

NAMES = ("authorship", "glass", "iris", "vehicle", "vowel", "wine")
EMBEDDED = {"embedded iris": load_iris, "embedded wine": load_wine}
OFTEN = 10  # how often a ranking has to occur to be a stratum of its own
DECODINGS: dict[str, ConvexSet] = {"Birkhoff": Hull(), "rows": RowStochastic(), "cube": Cube()}
UNCALIBRATED = "cube, uncalibrated"


class Rankings(NamedTuple):
    """Rows, and for each all labels in order, the best first."""

    X: Array
    Y: np.ndarray


def files(study: Study) -> dict[str, str]:
    """Return the paths of the data sets of a scale by name, none for embedded ones, noting their hashes."""
    if study.scale == "quick":
        return dict.fromkeys(EMBEDDED, "")
    return {name: str(study.file(f"labelranking/{name}.csv.gz")) for name in NAMES}


def read(name: str, path: str) -> Rankings:
    """Return a data set; embedded ones are made like the public ones, from classes and naive Bayes."""
    if name in EMBEDDED:
        return _ranked(EMBEDDED[name])
    table = read_rankings(Path(path))
    return Rankings(table.X, np.array(table.rankings))


def _ranked(load: Callable[..., tuple[Array, Ints]]) -> Rankings:
    """Rank classes by how likely naive Bayes takes them to be."""
    X, y = load(return_X_y=True)
    X = MinMaxScaler((-1.0, 1.0)).fit_transform(X)
    likely = GaussianNB().fit(X, y).predict_joint_log_proba(X)
    return Rankings(X, np.array(list("abc"))[np.argsort(-likely, axis=1, kind="stable")])


def split(Y: np.ndarray, share: float, seed: list[int]) -> tuple[Ints, Ints]:
    """Hold out a share of the rows; return the others and these.

    Strata are the rankings that occur often enough, and the first labels of the others; what is still rare joins the
    largest stratum.
    """
    rankings = [tuple(row) for row in Y.tolist()]
    counts = Counter(rankings)
    strata = [ranking if counts[ranking] >= OFTEN else ranking[:1] for ranking in rankings]
    sizes = Counter(strata)
    (largest, _), *_ = sizes.most_common(1)
    groups = [">".join(stratum if sizes[stratum] >= OFTEN else largest) for stratum in strata]
    state = int(np.random.default_rng(seed).integers(2**31))
    return next(StratifiedShuffleSplit(1, test_size=share, random_state=state).split(Y, groups))


def losses(model: Any, X: Array, Y: np.ndarray) -> dict[str, float]:
    """Return the share (%) of wrong entries of the permutation matrices, by decoding.

    The model's means are decoded by least expected loss, which makes an entry of the cube 1 where its mean is above
    1/2; uncalibrated, where it is positive.
    """
    k = Y.shape[1]
    space, means = Matching(len(Y), k), model.predict_soft(X).ravel()
    truth = np.eye(k)[np.argsort(np.searchsorted(model.classes_, Y), axis=1)].ravel()
    as_they_are = Euclidean(Everything())
    found = {name: Calibrated(DifferentParts(), as_they_are, among)(space, means) for name, among in DECODINGS.items()}
    found[UNCALIBRATED] = Cube().argmax(space, means).mean
    return {name: 100.0 * float(np.abs(psi - truth).mean()) for name, psi in found.items()}
