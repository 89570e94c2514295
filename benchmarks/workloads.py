"""The work of the other benchmarks without their peers, one function each, in public terms only: for `before_after`.

Run as a script it answers on standard output: a name on standard input, its CPU seconds and a figure to compare back.
"""

import json
import sys
import time
import warnings

import numpy as np
from sklearn.preprocessing import normalize

from data import chunking, conll2000, folder, letters, multiclass
from maximand import (
    LBFGS,
    BeliefPropagation,
    BlockFrankWolfe,
    Choice,
    Exhaustive,
    Geometry,
    GraphCut,
    LabelRanker,
    LinearProgram,
    Matching,
    MulticlassClassifier,
    MultilabelClassifier,
    NSlack,
    OneSlack,
    OrdinalClassifier,
    Pairwise,
    Ranking,
    SequenceTagger,
    Structure,
    Subset,
)
from maximand.formats import read_mulan
from maximand.inference import FactorGraphs
from maximand.tasks import Ragged


def chunks(limit=2000):
    _, tags, matrix, lengths = chunking(conll2000(limit=limit))
    return Ragged(matrix, lengths), tags


def chain_crf():
    X, Y = chunks()
    return lambda: (
        SequenceTagger(loss="crf", solver=LBFGS(max_iterations=25, tolerance=0, stall=0), n_threads=1)
        .fit(X, Y)
        .objective_
    )


def chain_hinge():
    X, Y = chunks()
    return lambda: (
        SequenceTagger(
            loss="hinge", solver=BlockFrankWolfe(max_iterations=4, tolerance=0), regularization=1e-3, n_threads=1
        )
        .fit(X, Y)
        .objective_
    )


def tag_sentences():
    X, Y = chunks()
    model = SequenceTagger(loss="crf", solver=LBFGS(max_iterations=5, tolerance=0), n_threads=1).fit(X, Y)
    return lambda: float(sum(len(tags) for _ in range(10) for tags in model.predict(X)))


def tag_marginals():
    X, Y = chunks()
    model = SequenceTagger(loss="crf", solver=LBFGS(max_iterations=5, tolerance=0), n_threads=1).fit(X, Y)
    return lambda: float(sum(chances.max() for _ in range(5) for chances in model.predict_proba(X)))


def _letters(solver):
    X, Y, folds = letters()
    X, Y = ([of for of, fold in zip(all_, folds, strict=True) if fold == 1] for all_ in (X, Y))
    settings = {
        "fit_intercept": False,
        "boundaries": False,
        "regularization": 1 / (0.1 * sum(map(len, X))),
        "n_threads": 1,
    }
    return lambda: SequenceTagger(loss="hinge", solver=solver, **settings).fit(X, Y).objective_


def letters_frank_wolfe():
    return _letters(BlockFrankWolfe(tolerance=1e-2))


def letters_n_slack():
    return _letters(NSlack(tolerance=1e-2))


def letters_one_slack():
    return _letters(OneSlack(max_iterations=25, tolerance=0))


def crammer_singer():
    X, y = multiclass("usps.train")
    return lambda: (
        MulticlassClassifier(solver=BlockFrankWolfe(tolerance=1e-2), regularization=1e-4, n_threads=1)
        .fit(X[:3000], y[:3000])
        .objective_
    )


def sparse_rows():
    rng = np.random.default_rng(0)
    from scipy.sparse import random as sparse

    X = normalize(sparse(4000, 20000, 0.002, format="csr", random_state=rng))
    y = rng.integers(0, 10, 4000)
    return lambda: (
        MulticlassClassifier(
            solver=NSlack(max_iterations=4, tolerance=0), regularization=1e-4, pairs="seen", n_threads=1
        )
        .fit(X, y)
        .objective_
    )


def predict_rows():
    X, y = multiclass("usps.train")
    model = MulticlassClassifier(loss="crf", solver=LBFGS(max_iterations=5, tolerance=0), n_threads=1).fit(X, y)
    return lambda: float(sum(np.sum(model.predict(X[i : i + 1])) for i in range(500)))


def scene():
    data = read_mulan(folder() / "multilabel" / "scene.train.arff.gz", folder() / "multilabel" / "scene.labels.xml.gz")
    return lambda: (
        MultilabelClassifier(
            structure=Pairwise(Exhaustive()), solver=NSlack(tolerance=1e-2), regularization=1e-2, n_threads=1
        )
        .fit(data.X[:400], data.Y[:400])
        .objective_
    )


def _graphs(structure, count, inference, soft=False):
    graphs = FactorGraphs.of([structure] * count)
    theta = np.random.default_rng(0).uniform(-1, 1, graphs.n_parts)
    ask = inference.marginals if soft else inference.argmax
    return lambda: float(np.sum([ask(graphs, theta).value.sum() for _ in range(5)]))


def exhaustive():
    return _graphs(Structure.complete(10), 500, Exhaustive())


def graph_cut():
    return _graphs(Structure.complete(14), 2000, GraphCut())


def expansion():
    return _graphs(Structure.grid(20, 20, 5), 10, GraphCut(expansion=True))


def max_product():
    return _graphs(Structure.grid(20, 20, 5), 10, BeliefPropagation())


def sum_product():
    return _graphs(Structure.grid(20, 20, 5), 10, BeliefPropagation(), soft=True)


def linear_program():
    return _graphs(Structure.complete(8), 20, LinearProgram())


def _projections(space, geometry):
    theta = np.random.default_rng(0).normal(size=space.n_parts)
    return lambda: float(np.sum([space.project(theta, geometry).value.sum() for _ in range(10)]))


def birkhoff():
    return _projections(Matching(500, 10), Geometry.EUCLIDEAN)


def birkhoff_entropic():
    return _projections(Matching(500, 10), Geometry.ENTROPIC)


def permutahedron():
    return _projections(Ranking(2000, 100), Geometry.EUCLIDEAN)


def budget():
    return _projections(Subset(5000, 100, 0, 10), Geometry.EUCLIDEAN)


def simplex():
    return _projections(Choice(20000, 100), Geometry.EUCLIDEAN)


def _table(n=2000, d=10, k=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=(d, k)) + rng.normal(size=(n, k))


def label_ranker():
    X, scores = _table()
    return lambda: LabelRanker(n_threads=1).fit(X, np.argsort(-scores, axis=1)).objective_


def ordinal():
    X, scores = _table()
    levels = np.digitize(scores[:, 0], [-2, 0, 2])
    return lambda: OrdinalClassifier(n_threads=1).fit(X, levels).objective_


WORKLOADS = (
    chain_crf, chain_hinge, tag_sentences, tag_marginals, letters_frank_wolfe, letters_n_slack, letters_one_slack,
    crammer_singer, sparse_rows, predict_rows, scene, exhaustive, graph_cut, expansion, max_product, sum_product,
    linear_program, birkhoff, birkhoff_entropic, permutahedron, budget, simplex, label_ranker, ordinal,
)  # fmt: skip
NAMES = tuple(workload.__name__ for workload in WORKLOADS)


def main():
    warnings.simplefilter("ignore")
    ready = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in ready:
            ready = {name: WORKLOADS[NAMES.index(name)]()}  # one at a time: some hold much memory
            ready[name]()  # compiles
        began = time.process_time()
        figure = ready[name]()
        print(json.dumps([time.process_time() - began, figure]), flush=True)


if __name__ == "__main__":
    main()
