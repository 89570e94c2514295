"""Time to a certified gap of 1e-2, by problem and solver: does `solver="auto"` choose well?

Cells are spaces x noise x labels x examples x regularisation, all for the margin-rescaled hinge. A run may take 20
seconds of the processor; what the others need is known as far as they are quicker.

python benchmarks/solver_matrix.py [part of the name of a cell ...]

What is not named keeps its last measurement.
"""

import itertools
import json
import os
import sys
import time
import warnings
from functools import partial

import numpy as np

from maximand import (
    BlockFrankWolfe,
    GraphCut,
    GraphLabeler,
    LabelRanker,
    MulticlassClassifier,
    MultilabelClassifier,
    NSlack,
    OneSlack,
    Pairwise,
    SequenceTagger,
    Smoothing,
)
from maximand.solvers import automatic
from report import RESULTS, save

TOLERANCE, SECONDS = 1e-2, 20.0
NOISES, REGULARIZATIONS = (0.0, 0.3), (1e-2, 1e-4)
FEATURES = 20
HINGE = {"loss": "hinge"}


def corrupted(labels, n_labels, noise, rng):
    """Replace a share of the labels by random ones."""
    return np.where(rng.random(labels.shape) < noise, rng.integers(0, n_labels, labels.shape), labels)


def classes(n, k, noise, rng):
    X = rng.normal(size=(n, FEATURES))
    y = (X @ rng.normal(size=(FEATURES, k))).argmax(axis=1)
    return MulticlassClassifier, X, corrupted(y, k, noise, rng), HINGE


def sequences(n, k, noise, rng, length=20):
    """Tokens of a Markov chain that moves seldom, seen through features."""
    centers = rng.normal(size=(k, FEATURES))
    states = rng.integers(0, k, (n, length))
    for t in range(1, length):
        states[:, t] = np.where(rng.random(n) < 0.6, (states[:, t - 1] + 1) % k, states[:, t])
    X = centers[states] + 0.7 * rng.normal(size=(n, length, FEATURES))
    Y = corrupted(states, k, noise, rng)
    return SequenceTagger, list(X), [list(y) for y in Y], HINGE


def label_sets(n, k, noise, rng):
    X = rng.normal(size=(n, FEATURES))
    scores = X @ rng.normal(size=(FEATURES, k))
    Y = (scores + 0.5 * scores[:, rng.permutation(k)] > 0).astype(int)
    return MultilabelClassifier, X, corrupted(Y, 2, noise, rng), {"structure": Pairwise(), **HINGE}


def grids(n, k, noise, rng, side=8):
    """Pictures of blobs, two labels by graph cuts, more by elimination or belief propagation."""
    pictures, labels = [], []
    centers = rng.normal(size=(k, 5))
    for _ in range(n):
        coarse = rng.integers(0, k, (side // 4, side // 4))
        truth = np.kron(coarse, np.ones((4, 4), dtype=int))
        pictures.append(centers[truth] + rng.normal(size=(side, side, 5)))
        labels.append(corrupted(truth, k, noise, rng))
    settings = (
        {"tables": "potts", **HINGE}
        if k > 2
        else {"tables": "potts", "associative": True, "inference": GraphCut(), **HINGE}
    )
    return GraphLabeler, pictures, labels, settings


def rankings(n, k, noise, rng):
    X = rng.normal(size=(n, FEATURES))
    scores = X @ rng.normal(size=(FEATURES, k)) + 5 * noise * rng.normal(size=(n, k))
    return LabelRanker, X, [row.tolist() for row in np.argsort(-scores, axis=1)], {"projection": "hinge"}


SPACES = {
    "classes": (classes, (5, 50), (200, 5000)),
    "chains": (sequences, (5, 40), (50, 1000)),
    "sets": (label_sets, (5, 9), (200, 2000)),
    "grids": (grids, (2, 4), (10, 100)),
    "rankings": (rankings, (4, 10), (100, 1000)),
}
SOLVERS = {"BlockFrankWolfe": BlockFrankWolfe, "NSlack": NSlack, "OneSlack": OneSlack, "Smoothing": Smoothing}
SHORT = 1.0  # seconds below which a run is done again


def cells():
    """Every cell: its name, what makes its data, sizes and regularisation."""
    for space, (make, labels, examples) in SPACES.items():
        for k, n, noise, strength in itertools.product(labels, examples, NOISES, REGULARIZATIONS):
            yield f"{space} k={k} n={n} noise={noise} reg={strength}", make, (n, k, noise), strength


class Caught(Exception):
    """Carries the objective of a fit out of it."""


def objective_of(make, sizes, strength):
    """The objective that an estimator would minimise."""
    kind, X, Y, settings = make(*sizes, np.random.default_rng(0))

    class Catching(kind):
        def _solver(self, objective):
            raise Caught(objective)

    try:
        Catching(regularization=strength, n_threads=1, **settings).fit(X, Y)
    except Caught as caught:
        return caught.args[0]
    raise AssertionError("no solver was asked for")


def late(deadline, *_):
    """Whether the processor has worked for too long."""
    return time.process_time() > deadline


def timed(objective, solver, limit):
    """CPU seconds, up to about a limit, the better of two where they are few, and the gap as a share of the value."""
    best, gap = np.inf, None
    for _ in range(2):
        began = time.process_time()
        result = solver.minimize(objective, callback=partial(late, began + limit))
        seconds = time.process_time() - began
        if seconds < best:
            best, gap = seconds, result.relative_gap
        if best > SHORT:
            break
    return best, gap


def measured(name, make, sizes, strength):
    """Automatic choice against each solver, which has as much time as that took."""
    objective = objective_of(make, sizes, strength)
    timed(objective, automatic(objective, tolerance=0.5), SECONDS)  # kernels are compiled, memory is warm
    seconds, gap = timed(objective, automatic(objective, tolerance=TOLERANCE), SECONDS)
    row = {"cell": name, "n_weights": objective.n_weights, "auto": seconds, "gap": gap, "best": "auto", "ratio": 1.0}
    for other, kind in SOLVERS.items():
        solver = kind(tolerance=TOLERANCE)
        try:
            solver.check(objective)
        except ValueError:
            continue
        row[other], other_gap = timed(objective, solver, max(seconds, 0.1))
        if other_gap is None or other_gap > TOLERANCE:
            row[other] = None  # not there when automatic choice was
        elif row[other] < seconds / row["ratio"]:
            row |= {"best": other, "ratio": seconds / row[other]}
    return row


def main():
    warnings.simplefilter("ignore")
    path = RESULTS / "solver_matrix.json"
    known = {row["cell"]: row for row in json.loads(path.read_text())["rows"]} if path.exists() else {}
    for name, *problem in cells():
        if all(part in name for part in sys.argv[1:]):
            known[name] = measured(name, *problem)
            print(known[name], flush=True)
    save("solver_matrix", [known[name] for name, *_ in cells() if name in known], load=os.getloadavg()[0])


if __name__ == "__main__":
    main()
