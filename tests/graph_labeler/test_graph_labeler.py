"""What graph labelers learn, what it is worth, and their scores against enumeration."""

import pickle

import numpy as np
import pytest
from graph_samples import hinge_by_enumeration, random_graphs, scores_of_all, share_right, smooth_grid
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from maximand import (
    BeliefPropagation,
    Combine,
    CostMatrix,
    Exhaustive,
    GraphCut,
    GraphLabeler,
    Greedy,
    Guarantee,
    LinearProgram,
    MaxScore,
    SequenceTagger,
    Subgradient,
    Tree,
)


def test_neighbours_help(grids):
    X, Y, X_test, Y_test = grids
    alone = GraphLabeler(tables="none", regularization=1e-2).fit(X, Y)
    joined = GraphLabeler(regularization=1e-2).fit(X, Y)
    assert joined.score(X_test, Y_test) > alone.score(X_test, Y_test) + 0.05
    assert joined.gap_is_certificate_
    for labels, x, y in zip(joined.predict(X_test), X_test, Y_test, strict=True):
        assert labels.shape == x.shape[:2] == y.shape
    assert joined.score(X_test, Y_test) == share_right(joined, X_test, Y_test)
    assert joined.decision_function(X_test)[0].shape == X_test[0].shape
    np.testing.assert_allclose(
        joined.decision_function(X_test)[0],
        X_test[0] @ joined.task_.features.nodes[0].coefficients(joined.weights_)
        + joined.task_.features.nodes[0].biases(joined.weights_),
    )


def test_scores_and_optimum_equal_enumeration(graphs):
    X, Y = graphs
    for settings in ({}, {"tables": "symmetric"}, {"tables": "diagonal"}, {"tables": "none"}):
        model = GraphLabeler(regularization=1e-2, inference=Exhaustive(), **settings).fit(X, Y)
        for x, labels in zip(X, model.predict(X), strict=True):
            labellings, scores = scores_of_all(model, x)
            np.testing.assert_array_equal(labels, labellings[scores.argmax()])
        assert model.objective_ == pytest.approx(hinge_by_enumeration(model, X, Y), rel=1e-9)


def test_probabilities_equal_enumeration():
    X, Y = random_graphs(np.random.default_rng(2), 12, forest=True)
    for inference in (None, Tree(), Exhaustive(), BeliefPropagation()):
        model = GraphLabeler(loss="crf", inference=inference, regularization=0.05).fit(X, Y)
        assert model.guarantee_ is Guarantee.EXACT
        for x, chances in zip(X, model.predict_proba(X), strict=True):
            labellings, scores = scores_of_all(model, x)
            weights = np.exp(scores - scores.max())
            weights /= weights.sum()
            marginals = np.stack([((labellings == k) * weights[:, None]).sum(axis=0) for k in range(3)], axis=1)
            np.testing.assert_allclose(chances, marginals, atol=1e-9)
    assert not hasattr(GraphLabeler(), "predict_proba")
    cyclic, labels = random_graphs(np.random.default_rng(2), 12)
    loopy = GraphLabeler(loss="crf", inference=BeliefPropagation(), regularization=0.05).fit(cyclic, labels)
    exact = GraphLabeler(loss="crf", inference=Exhaustive(), regularization=0.05).fit(cyclic, labels)
    assert loopy.guarantee_ is Guarantee.ESTIMATE
    for one, other in zip(loopy.predict_proba(cyclic), exact.predict_proba(cyclic), strict=True):
        np.testing.assert_allclose(one.sum(axis=1), 1.0)
        np.testing.assert_allclose(one, other, atol=0.1)


def test_grids_have_probabilities_of_their_shape(grids):
    X, Y, *_ = grids
    model = GraphLabeler(loss="crf", regularization=0.05).fit(X, Y)
    chances = model.predict_proba(X)
    assert [c.shape for c in chances] == [(*y.shape, 2) for y in Y]
    assert np.mean([(c.argmax(axis=2) == y).mean() for c, y in zip(chances, Y, strict=True)]) > 0.8


def test_chains_are_graphs():
    rng = np.random.default_rng(0)
    Y = [np.cumsum(rng.random(int(rng.integers(1, 7))) < 0.4) % 3 for _ in range(60)]
    X = [np.eye(3)[y] + rng.normal(size=(len(y), 3)) for y in Y]
    graphs = [(x, [(t, t + 1) for t in range(len(x) - 1)]) for x in X]
    X, X_test, graphs, graphs_test, Y = X[:30], X[30:], graphs[:30], graphs[30:], Y[:30]
    for loss in ("hinge", "crf"):
        settings = {"loss": loss, "regularization": 1e-2, "tolerance": 1e-7}
        tagger = SequenceTagger(boundaries=False, pairs="all", **settings).fit(X, Y)
        labeler = GraphLabeler(**settings).fit(graphs, Y)
        assert labeler.objective_ == pytest.approx(tagger.objective_, rel=2e-7)
        for mine, theirs in zip(labeler.predict(graphs_test), tagger.predict(X_test), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    for mine, theirs in zip(labeler.predict_proba(graphs), tagger.predict_proba(X), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-4)


INFERENCES = {
    "auto": (None, Guarantee.EXACT),
    "Tree": (Tree(), Guarantee.EXACT),
    "GraphCut": (GraphCut(), Guarantee.OVER),
    "LinearProgram": (LinearProgram(), Guarantee.OVER),
    "Greedy": (Greedy(), Guarantee.UNDER),
    "BeliefPropagation": (BeliefPropagation(), Guarantee.UNDER),
    "Combine": (Combine((Greedy(), BeliefPropagation())), Guarantee.UNDER),
    "GraphCut, expansion": (GraphCut(expansion=True), Guarantee.UNDER),
}


@pytest.mark.parametrize("name", INFERENCES)
def test_every_inference_trains_and_says_what_it_is_worth(name):
    """Three nodes that pairwise differ, two labels: no labelling suits all edges, and relaxations are fractional."""
    rng = np.random.default_rng(0)
    inference, guarantee = INFERENCES[name]
    Y = [rng.permutation([0, 0, 1]) for _ in range(15)]
    X = [(y[:, None] + 0.6 * rng.normal(size=(3, 1)), [(0, 1), (1, 2), (2, 0)]) for y in Y]
    model = GraphLabeler(inference=inference, regularization=1e-2, tables="potts").fit(X, Y)
    assert model.guarantee_ is guarantee
    assert model.gap_is_certificate_ == (guarantee is not Guarantee.UNDER)
    assert model.score(X, Y) > 0.7


def test_costs_and_weights_of_classes(grids):
    X, Y, *_ = grids
    plain = GraphLabeler(regularization=1e-2).fit(X, Y)
    eager = GraphLabeler(regularization=1e-2, class_weight={0: 1.0, 1: 20.0}).fit(X, Y)
    by_cost = GraphLabeler(regularization=1e-2, cost=CostMatrix([[0.0, 1.0], [20.0, 0.0]])).fit(X, Y)
    ones = [sum(int(labels.sum()) for labels in model.predict(X)) for model in (plain, eager)]
    assert ones[1] >= ones[0] + 5
    np.testing.assert_allclose(eager.weights_, by_cost.weights_, atol=1e-9)
    balanced = GraphLabeler(regularization=1e-2, class_weight="balanced").fit(X, Y)
    assert np.abs(balanced.weights_ - plain.weights_).max() > 1e-3
    expected = [(labels != y).sum() for labels, y in zip(plain.predict(X), Y, strict=True)]
    np.testing.assert_array_equal(plain.costs(X, Y), expected)


def test_a_graph_of_weight_two_is_a_graph_twice(graphs):
    X, Y = graphs
    settings = {"regularization": 1e-2, "tolerance": 1e-8}
    weighted = GraphLabeler(**settings).fit(X, Y, sample_weight=[2.0] * 10 + [1.0] * 15)
    repeated = GraphLabeler(**settings).fit(X + X[:10], Y + Y[:10])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
    assert abs(weighted.objective_ - GraphLabeler(**settings).fit(X, Y).objective_) > 1e-3
    assert weighted.score(X, Y, sample_weight=[2.0] * 10 + [1.0] * 15) == repeated.score(X + X[:10], Y + Y[:10])


def test_threads_search_clone_and_pickle(grids):
    X, Y, X_test, Y_test = grids
    one, two = (GraphLabeler(inference=GraphCut(), n_threads=n, regularization=1e-2).fit(X, Y) for n in (1, 2))
    np.testing.assert_array_equal(one.weights_, two.weights_)
    for mine, theirs in zip(one.predict(X_test), two.predict(X_test), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    search = GridSearchCV(GraphLabeler(tables="potts"), {"regularization": [1e-2, 100.0]}, cv=2).fit(X, Y)
    assert search.best_params_ == {"regularization": 1e-2}
    assert search.best_score_ > 0.75
    again = pickle.loads(pickle.dumps(one))
    assert again.score(X_test, Y_test) == one.score(X_test, Y_test)
    model = GraphLabeler(tables=np.array([[0, -1], [-1, 1]]), inference=GraphCut(), decoder=MaxScore(Greedy()))
    assert repr(clone(model).get_params()) == repr(model.get_params())


@pytest.mark.parametrize("regularization", [3e-5, 1e-3, 1e-1])
def test_subgradient_steps_leave_zero_weights_on_grids_and_warn_at_their_limit(regularization):
    rng = np.random.default_rng(0)
    X, Y = zip(*(smooth_grid(rng, 6, 6) for _ in range(6)), strict=True)
    settings = {"loss": "hinge", "regularization": regularization}
    least = GraphLabeler(inference=GraphCut(), **settings).fit(X, Y).objective_  # cuts bound as relaxed programs do
    model = GraphLabeler(inference=LinearProgram(), solver=Subgradient(max_iterations=200), **settings)
    with pytest.warns(ConvergenceWarning, match="max_iterations=200"):
        model.fit(X, Y)
    at_zero = 1.0  # all costs of a node, none of its scores
    assert model.objective_ - least < 0.05 * (at_zero - least)
