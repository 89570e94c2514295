"""Time to a certified gap of 1e-2, by problem and solver: does `solver="auto"` choose well?

Cells are spaces x noise x labels x examples x regularisation, all for the margin-rescaled hinge. A run may take 20 seconds.

python benchmarks/solver_matrix.py [part of the name of a cell ...]
"""

import itertools
import sys
import time
import warnings

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
from maximand.solvers import CCCP, automatic
from report import save

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
    return MulticlassClassifier, X, corrupted(y, k, noise, rng), HINGE, 1


def sequences(n, k, noise, rng, length=20):
    """Tokens of a Markov chain that moves seldom, seen through features."""
    centers = rng.normal(size=(k, FEATURES))
    states = rng.integers(0, k, (n, length))
    for t in range(1, length):
        states[:, t] = np.where(rng.random(n) < 0.6, (states[:, t - 1] + 1) % k, states[:, t])
    X = centers[states] + 0.7 * rng.normal(size=(n, length, FEATURES))
    Y = corrupted(states, k, noise, rng)
    return SequenceTagger, list(X), [list(y) for y in Y], HINGE, length


def label_sets(n, k, noise, rng):
    X = rng.normal(size=(n, FEATURES))
    scores = X @ rng.normal(size=(FEATURES, k))
    Y = (scores + 0.5 * scores[:, rng.permutation(k)] > 0).astype(int)
    return MultilabelClassifier, X, corrupted(Y, 2, noise, rng), {"structure": Pairwise(), **HINGE}, k


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
    return GraphLabeler, pictures, labels, settings, side * side


def rankings(n, k, noise, rng):
    X = rng.normal(size=(n, FEATURES))
    scores = X @ rng.normal(size=(FEATURES, k)) + 5 * noise * rng.normal(size=(n, k))
    return LabelRanker, X, [row.tolist() for row in np.argsort(-scores, axis=1)], {"projection": "hinge"}, k


SPACES = {
    "classes": (classes, (5, 50), (200, 5000)),
    "chains": (sequences, (5, 40), (50, 1000)),
    "sets": (label_sets, (5, 9), (200, 2000)),
    "grids": (grids, (2, 4), (10, 100)),
    "rankings": (rankings, (4, 10), (100, 1000)),
}
SOLVERS = {
    "auto": None, "BlockFrankWolfe": BlockFrankWolfe, "NSlack": NSlack, "OneSlack": OneSlack, "Smoothing": Smoothing,
}  # fmt: skip


def cells():
    for (space, (make, labels, examples)), k, n, noise, strength in itertools.product([], [], [], [], []):
        yield space, make, labels, examples, k, n, noise, strength
    for space, (make, labels, examples) in SPACES.items():
        for k, n, noise, strength in itertools.product(labels, examples, NOISES, REGULARIZATIONS):
            yield f"{space} k={k} n={n} noise={noise} reg={strength}", make, (n, k, noise), strength


def objective_of(make, sizes, strength):
    kind, X, Y, settings, slots = make(*sizes, np.random.default_rng(0))
    model = kind(regularization=strength, n_threads=1, **settings)
    caught = {}

    def note(self, objective, solver=None):
        caught["objective"] = objective
        raise StopIteration

    original, kind._solver = kind._solver, note
    try:
        model.fit(X, Y)
    except StopIteration:
        pass
    finally:
        kind._solver = original
    return caught["objective"]


def main():
    rows = []
    for name, make, sizes, strength in cells():
        if len(sys.argv) > 1 and not all(part in name for part in sys.argv[1:]):
            continue
        objective = objective_of(make, sizes, strength)
        row = {"cell": name, "n_weights": objective.n_weights}
        for solver_name, kind in SOLVERS.items():
            solver = (
                kind(tolerance=TOLERANCE, max_seconds=SECONDS)
                if kind
                else automatic(objective, tolerance=TOLERANCE, max_seconds=SECONDS)
            )
            try:
                solver.check(objective)
            except ValueError:
                continue
            began = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = solver.minimize(objective)
            row[solver_name] = time.process_time() - began
            row[solver_name + " gap"] = result.relative_gap
            row[solver_name + " it"] = len(result.history)
        rows.append(row)
        print(" ".join(f"{k}={v:.3g}" if isinstance(v, float) else f"{k}={v}" for k, v in row.items()), flush=True)
    return rows


if __name__ == "__main__":
    main()
