"""The work of the other benchmarks without their peers, one function each, in public terms only: for `before_after`.

Both versions minimise the same objectives: 0.4.0 took the mean of the loss over sequences, later versions over tokens.
The figure of a fit is its objective over its regularization, |w|^2 / 2 + C sum_i loss_i, which is the same for both.

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
    Hamming,
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

OVER_TOKENS = MulticlassClassifier().regularization < 1e-3  # the default became 1e-4 as the mean became that


def fitted(model, X, Y):
    """Return a figure of a fit that does not depend on what the mean of the loss is over."""
    model.fit(X, Y)
    return model.objective_ / model.regularization


def tagger(Y, share, **settings):
    """A tagger that weighs the sum of the losses as if `share` stood beside their mean over sequences."""
    regularization = share * len(Y) / sum(map(len, Y)) if OVER_TOKENS else share
    return SequenceTagger(regularization=regularization, n_threads=1, **settings)


def chunks(limit=2000):
    _, tags, matrix, lengths = chunking(conll2000(limit=limit))
    return Ragged(matrix, lengths), tags


def chain_crf():
    X, Y = chunks()
    return lambda: fitted(tagger(Y, 1e-3, loss="crf", solver=LBFGS(max_iterations=25, tolerance=0, stall=0)), X, Y)


def chain_hinge():
    X, Y = chunks()
    return lambda: fitted(tagger(Y, 1e-3, loss="hinge", solver=BlockFrankWolfe(max_iterations=4, tolerance=0)), X, Y)


def _tags(X, Y):
    return tagger(Y, 1e-3, loss="crf", solver=LBFGS(max_iterations=5, tolerance=0)).fit(X, Y)


def tag_sentences():
    X, Y = chunks()
    model = _tags(X, Y)
    return lambda: float(sum(len(tags) for _ in range(10) for tags in model.predict(X)))


def tag_marginals():
    X, Y = chunks()
    model = _tags(X, Y)
    return lambda: float(sum(chances.max() for _ in range(5) for chances in model.predict_proba(X)))


def _letters(solver):
    X, Y, folds = letters()
    X, Y = ([of for of, fold in zip(all_, folds, strict=True) if fold == 1] for all_ in (X, Y))
    share = 1 / (0.1 * len(X))
    return lambda: fitted(tagger(Y, share, loss="hinge", solver=solver, fit_intercept=False, boundaries=False), X, Y)


def letters_frank_wolfe():
    return _letters(BlockFrankWolfe(tolerance=1e-2))


def letters_n_slack():
    return _letters(NSlack(tolerance=1e-2))


def letters_one_slack():
    return _letters(OneSlack(max_iterations=25, tolerance=0))


def crammer_singer():
    X, y = multiclass("usps.train")
    model = MulticlassClassifier(solver=BlockFrankWolfe(tolerance=1e-2), regularization=1e-4, n_threads=1)
    return lambda: fitted(model, X[:3000], y[:3000])


def sparse_rows():
    rng = np.random.default_rng(0)
    from scipy.sparse import random as sparse

    X = normalize(sparse(4000, 20000, 0.002, format="csr", random_state=rng))
    y = rng.integers(0, 10, 4000)
    solver = NSlack(max_iterations=4, tolerance=0)
    model = MulticlassClassifier(solver=solver, regularization=1e-4, pairs="seen", n_threads=1)
    return lambda: fitted(model, X, y)


def predict_rows():
    X, y = multiclass("usps.train")
    solver = LBFGS(max_iterations=5, tolerance=0)
    model = MulticlassClassifier(loss="crf", solver=solver, regularization=1e-3, n_threads=1).fit(X, y)
    return lambda: float(sum(np.sum(model.predict(X[i : i + 1])) for i in range(500)))


def scene():
    data = read_mulan(folder() / "multilabel" / "scene.train.arff.gz", folder() / "multilabel" / "scene.labels.xml.gz")
    model = MultilabelClassifier(
        structure=Pairwise(Exhaustive()), cost=Hamming(), solver=NSlack(tolerance=1e-2), regularization=1e-2 / 6,
        n_threads=1,
    )  # fmt: skip
    return lambda: fitted(model, data.X[:400], data.Y[:400])


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
    return lambda: fitted(LabelRanker(regularization=1e-3, n_threads=1), X, np.argsort(-scores, axis=1))


def ordinal():
    X, scores = _table()
    levels = np.digitize(scores[:, 0], [-2, 0, 2])
    return lambda: fitted(OrdinalClassifier(regularization=1e-3, n_threads=1), X, levels)


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
