"""Write the model files of this folder, and beside each what it was given and what it answered.

To be run with version 0.4.0 of the library: the files are what that version left behind. The same files come out
whenever it is run.
"""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.kernel_approximation import (
    AdditiveChi2Sampler,
    Nystroem,
    PolynomialCountSketch,
    RBFSampler,
    SkewedChi2Sampler,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

import maximand as mx
from maximand import models

HERE = Path(__file__).resolve().parent
ALL, ANNOTATED, OTHER = mx.Over.ALL, mx.Over.ANNOTATED, mx.Over.OTHER
LIMITS = {"tolerance": 0.1, "max_iterations": 4}
WORDS = [
    [{"w": "A", "cap": True}, {"w": "ü\n"}, {"w": "b"}],
    [{"w": "b"}, {"w": "A", "cap": True}, {"w": "c", "n": 2.0}],
    [{"w": "c"}, {"w": "d", "cap": True}],
    [{"w": "b", "n": 0.5}],
]
TAGS = [["B-X", "I-X", "O"], ["O", "B-X", "I-X"], ["O", "B-X"], ["O"]]
ENDED = [["B-X", "E-X", "O"], ["O", "B-X", "E-X"], ["O", "S-X"], ["O"]]
TOKENS = [[("A", "DT"), ("b", "NN"), ("c", "NN")], [("c", "NN"), ("A", "DT"), ("ü|", "VB")], [("b", "NN")]]


def table(rng, n=24, width=3):
    return np.round(rng.normal(size=(n, width)), 2)


def multiclass(rng):
    X, sparse = table(rng), csr_array(table(rng, width=5) * (rng.random((24, 5)) < 0.5))
    y = np.argmax(X + 0.7 * rng.normal(size=X.shape), axis=1)
    names, costs = np.array(["a", "b", "ß"])[y], 0.5 + 0.25 * np.arange(9).reshape(3, 3) * (1 - np.eye(3))
    np.fill_diagonal(costs, 0.0)
    mixed = [1 if label else "a" for label in y.tolist()]
    candidates = [{"a", "b"}, None, *names.tolist()[2:]]
    bridge = mx.Loss("own bridge", mx.Larger(mx.Soft(OTHER, cost=1), mx.Soft(ANNOTATED)), mx.Soft(ANNOTATED))
    rows = mx.Loss("rows", mx.Euclidean(mx.RowStochastic()), mx.Euclidean(mx.RowStochastic(), over=ANNOTATED))
    softened = mx.Loss("softened", mx.Soft(ALL, cost=1, temperature=0.5), mx.Soft(ANNOTATED, temperature=0.5))
    polyak = mx.Subgradient(max_iterations=4, steps=mx.Polyak(hope=0.4), batch_size=None)
    calibrated = mx.Calibrated(mx.CostMatrix(costs), mx.Soft(temperature=0.5))
    four = {"n_components": 4, "random_state": 0}
    return {
        "multiclass-names": (mx.MulticlassClassifier(loss="crf", classes=["ß", "a", "z", "b"], **LIMITS), X, names),
        "multiclass-mixed-labels": (mx.MulticlassClassifier(classes=["a", 1], n_threads=1, **LIMITS), X, mixed),
        "multiclass-sparse-seen": (
            mx.MulticlassClassifier(pairs="seen", fit_intercept=False, solver=mx.BlockFrankWolfe(**LIMITS)),
            sparse,
            y,
        ),
        "multiclass-sparse-all": (
            mx.MulticlassClassifier(class_weight={0: 2.0, 1: 1.0, 2: 0.5}, solver=mx.NSlack(**LIMITS)),
            sparse,
            y,
        ),
        "multiclass-ramp": (
            mx.MulticlassClassifier(
                loss="ramp", cost=mx.CostMatrix(costs), solver=mx.CCCP(inner=mx.OneSlack(tolerance=0.05), **LIMITS)
            ),
            X,
            y,
        ),
        "multiclass-slack-hinge": (
            mx.MulticlassClassifier(loss=mx.Loss("slack", mx.Rescaled(), None), solver=mx.OneSlack(**LIMITS)),
            X,
            names,
        ),
        "multiclass-own-bridge": (mx.MulticlassClassifier(loss=bridge, solver=mx.CCCP(**LIMITS)), X, candidates),
        "multiclass-rows": (mx.MulticlassClassifier(loss=rows, class_weight="balanced", **LIMITS), X, y),
        "multiclass-softened": (mx.MulticlassClassifier(loss=softened, solver=mx.LBFGS(memory=3, **LIMITS)), X, y),
        "multiclass-calibrated": (mx.MulticlassClassifier(loss="crf", decoder=calibrated, **LIMITS), X, y),
        "multiclass-perceptron": (
            mx.MulticlassClassifier(loss="perceptron", solver=mx.Perceptron(max_iterations=3)),
            X,
            y,
        ),
        "multiclass-polyak": (mx.MulticlassClassifier(solver=polyak, cost=mx.ZeroOne()), X, y),
        "multiclass-kernel": (
            make_pipeline(MaxAbsScaler(), RBFSampler(**four), mx.MulticlassClassifier(**LIMITS)),
            X,
            y,
        ),
        "multiclass-polynomial": (
            make_pipeline(StandardScaler(), PolynomialCountSketch(**four), mx.MulticlassClassifier(**LIMITS)),
            X,
            y,
        ),
        "multiclass-chosen": (
            mx.RegularizationCV(mx.MulticlassClassifier(loss="crf", **LIMITS), regularizations=[0.1, 0.01], cv=2),
            X,
            y,
        ),
    }


def multilabel(rng):
    X, sparse = table(rng), csr_array(table(rng, width=5) * (rng.random((24, 5)) < 0.5))
    Y = (X + 0.7 * rng.normal(size=X.shape) > 0).astype(int)
    sets = [{name for name, there in zip("xyz", row, strict=True) if there} for row in Y]
    one, unknown = np.eye(3, dtype=int)[X.argmax(axis=1)], Y.copy()
    unknown[::5, 1] = -1
    sized = mx.Euclidean(mx.Sized(0, 2))
    return {
        "multilabel-independent": (mx.MultilabelClassifier(class_weight={0: 1.0, 1: 2.0}, **LIMITS), X, Y),
        "multilabel-one": (
            mx.MultilabelClassifier(structure=mx.Budget(1, 1), cost=mx.PrecisionAt(1), **LIMITS),
            X,
            one,
        ),
        "multilabel-budget": (mx.MultilabelClassifier(loss=sized, structure=mx.Budget(0, 2), **LIMITS), X, sets),
        "multilabel-sparse-budget": (mx.MultilabelClassifier(structure="budget", pairs="seen", **LIMITS), sparse, Y),
        "multilabel-pairwise": (
            mx.MultilabelClassifier(structure="pairwise", fit_intercept=False, solver=mx.BlockFrankWolfe(**LIMITS)),
            X,
            Y,
        ),
        "multilabel-pairwise-crf": (
            mx.MultilabelClassifier(structure=mx.Pairwise(mx.Exhaustive()), loss="crf", pairs="seen", **LIMITS),
            sparse,
            Y,
        ),
        "multilabel-greedy": (
            mx.MultilabelClassifier(structure=mx.Pairwise(mx.Greedy()), solver=mx.OneSlack(**LIMITS)),
            X,
            Y,
        ),
        "multilabel-partial": (
            mx.MultilabelClassifier(
                structure=mx.Pairwise(mx.GraphCut()),
                decoder=mx.MaxScore(mx.IntegerProgram(max_seconds=9.0)),
                solver=mx.CCCP(**LIMITS),
            ),
            X,
            unknown,
        ),
    }


def ordinal(rng):
    X = table(rng)
    y = np.clip(np.round(X[:, 0] + 0.5 * rng.normal(size=24)), -1, 2).astype(int) + 1
    levels = ["low", "fair", "good", "high"]
    weighted = mx.Calibrated(mx.Weighted(mx.Absolute(), np.arange(1.0, 5.0)), mx.Entropic())
    return {
        "ordinal-euclidean": (mx.OrdinalClassifier(loss=mx.Euclidean(mx.Cube()), **LIMITS), X, y),
        "ordinal-entropic": (
            mx.OrdinalClassifier(loss="entropic", classes=levels, cost=mx.Squared(), class_weight="balanced", **LIMITS),
            X,
            np.array(levels)[y],
        ),
        "ordinal-squared": (
            mx.OrdinalClassifier(loss=mx.Euclidean(mx.Everything()), fit_intercept=False, **LIMITS),
            csr_array(X),
            y,
        ),
        "ordinal-crf": (mx.OrdinalClassifier(loss="crf", decoder=weighted, **LIMITS), X, y),
        "ordinal-min-max-scaler": (
            make_pipeline(
                MinMaxScaler(),
                SkewedChi2Sampler(n_components=3, random_state=0),
                mx.OrdinalClassifier(loss="hinge", **LIMITS),
            ),
            X,
            y,
        ),
    }


def rankings(rng):
    X = table(rng)
    Y = np.argsort(-(X + 0.5 * rng.normal(size=X.shape)), axis=1)
    texts = [">".join(np.array(["elm", "oak", "ash"])[row]) for row in Y]
    partial = [["elm"], [{"elm", "oak"}, "ash"], *[text.split(">") for text in texts[2:]]]
    among = mx.Calibrated(mx.MissedTop(1), mx.Entropic(mx.RowStochastic()), mx.RowStochastic())
    by_argmax = mx.Euclidean(mx.Hull(mx.ActiveSet(max_rounds=200)))
    away = mx.Euclidean(mx.Hull(mx.AwaySteps(tolerance=1e-12)))
    gains = mx.DiscountedGain(gains=np.array([3.0, 1.0, 0.0]), top=2)
    return {
        "ranking-matrix": (mx.LabelRanker(**LIMITS), X, Y),
        "ranking-vector": (mx.LabelRanker(encoding="vector", **LIMITS), X, texts),
        "ranking-entropic": (mx.LabelRanker(projection="entropic", cost=gains, **LIMITS), X, texts),
        "ranking-rows": (
            mx.LabelRanker(projection=mx.Entropic(mx.RowStochastic()), decoding=among, fit_intercept=False, **LIMITS),
            X,
            texts,
        ),
        "ranking-partial": (mx.LabelRanker(unlisted="below", projection="hinge", **LIMITS), X, partial),
        "ranking-active-set": (
            mx.LabelRanker(projection=by_argmax, cost=mx.DifferentParts(), **LIMITS),
            csr_array(X),
            Y,
        ),
        "ranking-away-steps": (mx.LabelRanker(projection=away, encoding="vector", **LIMITS), X, Y),
        "ranking-kendall": (
            mx.LabelRanker(decoding=mx.MaxScore(), cost=mx.Sum((mx.Kendall(normalized=True), mx.Hamming())), **LIMITS),
            X,
            Y,
        ),
        "ranking-kernel": (
            make_pipeline(
                MinMaxScaler(),
                AdditiveChi2Sampler(sample_steps=2),
                Nystroem(n_components=3, random_state=0),
                mx.LabelRanker(**LIMITS),
            ),
            X,
            Y,
        ),
    }


def tagging(rng):
    codes = [rng.integers(0, 3, n) for n in (4, 1, 3, 2, 5, 2)]
    dense = [np.round(np.eye(3)[y] + rng.normal(size=(y.size, 3)), 2) for y in codes]
    sparse = [csr_array(x * (abs(x) > 0.7)) for x in dense]
    partial = [[None, *y.tolist()[1:]] for y in codes[:3]] + [y.tolist() for y in codes[3:]]
    calibrated = mx.Calibrated(mx.Hamming(np.array([1.0, 2.0, 0.5])), mx.Soft(temperature=1.0))
    hasher = FeatureHasher(n_features=8)
    return {
        "tagging-dense": (mx.SequenceTagger(**LIMITS), dense, codes),
        "tagging-plain": (
            mx.SequenceTagger(loss="hinge", boundaries=False, fit_intercept=False, solver=mx.OneSlack(**LIMITS)),
            dense,
            codes,
        ),
        "tagging-sparse-seen": (mx.SequenceTagger(loss="hinge", solver=mx.BlockFrankWolfe(**LIMITS)), sparse, codes),
        "tagging-sparse-all": (mx.SequenceTagger(pairs="all", class_weight="balanced", **LIMITS), sparse, codes),
        "tagging-partial": (
            mx.SequenceTagger(loss="hinge", solver=mx.CCCP(inner=mx.NSlack(tolerance=0.1), **LIMITS)),
            dense,
            partial,
        ),
        "tagging-calibrated": (
            mx.SequenceTagger(decoder=calibrated, cost=mx.CostMatrix(1 - np.eye(3)), **LIMITS),
            dense,
            codes,
        ),
        "tagging-euclidean": (
            mx.SequenceTagger(loss=mx.Euclidean(), cost=mx.Weighted(mx.Hamming(), [1.0, 2.0, 0.5]), **LIMITS),
            [np.concatenate(dense)[:15]],
            [np.concatenate(codes)[:15]],
        ),
        "tagging-words": (mx.SequenceTagger(scheme="BIO", **LIMITS), WORDS, TAGS),
        "tagging-ended": (
            mx.SequenceTagger(
                scheme="BIOES", vectorizer=DictVectorizer(sort=True), boundaries=False, pairs="all", **LIMITS
            ),
            WORDS,
            ENDED,
        ),
        "tagging-hashed": (mx.SequenceTagger(vectorizer=hasher, loss="augmented_crf", **LIMITS), WORDS, TAGS),
        "tagging-windows": (
            make_pipeline(mx.WindowVectorizer(affixes=1), mx.SequenceTagger(loss="hinge", **LIMITS)),
            TOKENS,
            [["B", "I", "O"], ["O", "B", "I"], ["O"]],
        ),
    }


def graphs(rng):
    X, featured, typed, Y = [], [], [], []
    for n in (4, 1, 3, 5, 3, 4, 2, 5):
        edges = [[max(v - 2, 0), v] for v in range(1, n)] + ([[0, n - 1]] if n > 3 else [])
        codes = rng.integers(0, 3, n)
        nodes = np.round(np.eye(3)[codes] + 0.7 * rng.normal(size=(n, 3)), 2)
        X.append(mx.NodesAndEdges(nodes, edges))
        featured.append(mx.NodesAndEdges(nodes, edges, np.round(rng.normal(size=(len(edges), 2)), 2)))
        typed.append(mx.NodesAndEdges(csr_array(nodes), edges, None, rng.integers(0, 2, len(edges))))
        Y.append(codes)
    two = [y > 1 for y in Y]
    trees = [mx.NodesAndEdges(x.nodes, x.edges[: len(x) - 1]) for x in X]
    grids = [np.round(rng.normal(size=(2, 3, 2)), 2) for _ in range(5)]
    seen = [(x[:, :, 0] > 0).astype(int) for x in grids]
    own = np.array([[0, 1, 1], [-1, 0, 2], [-1, -1, 0]])
    propagation = mx.BeliefPropagation(max_iterations=50, residual=True)
    combined = mx.Combine((mx.Greedy(), mx.IteratedModes(), mx.RhoApproximate(0.8)))
    return {
        "graphs-tied": (mx.GraphLabeler(solver=mx.OneSlack(**LIMITS)), X, Y),
        "graphs-edge-features": (
            mx.GraphLabeler(solver=mx.BlockFrankWolfe(**LIMITS), class_weight="balanced"),
            featured,
            Y,
        ),
        "graphs-edge-types": (
            mx.GraphLabeler(tables="symmetric", cost=mx.Hamming(normalized=True), **LIMITS),
            typed,
            Y,
        ),
        "graphs-associative": (
            mx.GraphLabeler(tables="potts", associative=True, inference=mx.GraphCut(), **LIMITS),
            X,
            two,
        ),
        "graphs-diagonal": (
            mx.GraphLabeler(tables="diagonal", associative=True, inference=mx.GraphCut(expansion=True), **LIMITS),
            X,
            Y,
        ),
        "graphs-own-tables": (mx.GraphLabeler(tables=own, inference=mx.Tree(), loss="crf", **LIMITS), trees, Y),
        "graphs-none": (mx.GraphLabeler(tables="none", fit_intercept=False, **LIMITS), X, Y),
        "graphs-grid": (mx.GraphLabeler(diagonals=True, loss="crf", inference=propagation, **LIMITS), grids, seen),
        "graphs-grid-tied": (
            mx.GraphLabeler(
                directional=False,
                inference=mx.LinearProgram(),
                decoder=mx.MaxScore(mx.LinearProgram(integral=True)),
                solver=mx.OneSlack(**LIMITS),
            ),
            grids,
            seen,
        ),
        "graphs-combined": (mx.GraphLabeler(inference=combined, solver=mx.OneSlack(**LIMITS)), X, Y),
    }


def plain(value):
    """Return a value as JSON holds it: what is no list, number or text is an object with one key."""
    match value:
        case mx.NodesAndEdges():
            names = "nodes", "edges", "edge_features", "edge_types"
            return {"graph": {name: plain(getattr(value, name)) for name in names}}
        case csr_array():
            return {"sparse": [value.data.tolist(), value.indices.tolist(), value.indptr.tolist(), value.shape]}
        case np.ndarray():
            return {"objects" if value.dtype == object else "array": value.tolist()}
        case set() | frozenset():
            return {"set": sorted(value)}
        case dict():
            return {"dict": value}
        case tuple():
            return {"tuple": [plain(item) for item in value]}
        case list():
            return [plain(item) for item in value]
    return value


def report(model, X):
    """Return what a loaded model has to repeat."""
    predictor = model[-1] if isinstance(model, Pipeline) else model
    answers = {}
    for method in ("predict", "decision_function", "predict_soft", "predict_proba"):
        if hasattr(model, method):
            answers[method] = plain(getattr(model, method)(X))
    return {
        "steps": [type(step).__name__ for step in (model if isinstance(model, Pipeline) else [model])],
        "parameters": {name: repr(value) for name, value in predictor.get_params(deep=False).items()},
        "stop_reason": predictor.stop_reason_,
        "iterations": predictor.n_iter_,
        "objective": predictor.objective_,
        "history": len(predictor.history_),
        "shortfall": None if predictor.shortfall_ is None else list(vars(predictor.shortfall_).values()),
        "answers": answers,
        "X": plain(X),
    }


def main():
    assert mx.__version__ == "0.4.0", f"this is version {mx.__version__}"
    rng = np.random.default_rng(0)
    held = ""
    for family in (multiclass, multilabel, ordinal, rankings, tagging, graphs):
        for name, (model, X, y) in family(rng).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(X, y)
            model = getattr(model, "best_estimator_", model)
            predictor = models.predictor_of(model)
            predictor.history_ = [replace(record, seconds=0.0) for record in predictor.history_]
            content = models.dump(model)
            (HERE / f"{name}.maximand").write_bytes(content)
            text = json.dumps(report(model, X[:3]), separators=(",", ":"), ensure_ascii=False)
            (HERE / f"{name}.json").write_text(text + "\n", encoding="utf-8")
            held += content.decode("latin-1")
    never = {"MulticlassTask", "MultilabelTask", "OrdinalTask", "RankingTask", "TaggingTask"}  # the bound tasks are
    kinds = {kind.__name__ for kind in (*models.ESTIMATORS.values(), *models.PARTS)} - never
    missing = sorted(kind for kind in kinds if f'"{kind}\\"' not in held)
    assert not missing, f"no file holds {', '.join(missing)}"


if __name__ == "__main__":
    main()
