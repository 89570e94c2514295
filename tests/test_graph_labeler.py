import pickle
import random
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import coo_matrix, csr_matrix
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from fuzzing import mutate
from maximand import (
    CCCP,
    LBFGS,
    BeliefPropagation,
    BlockFrankWolfe,
    Combine,
    CostMatrix,
    Exhaustive,
    GraphCut,
    GraphLabeler,
    Greedy,
    Guarantee,
    Hamming,
    LinearProgram,
    MaxScore,
    ModelFileError,
    NodesAndEdges,
    NSlack,
    OneSlack,
    RhoApproximate,
    SequenceTagger,
    Subgradient,
    Tree,
    load,
    save,
)
from maximand.models import dump


def smooth_grid(rng, height=4, width=5, n_labels=2):
    """A grid cut into two areas of one label each, seen through noise."""
    labels = np.full((height, width), rng.integers(n_labels))
    labels[:, int(rng.integers(1, width)) :] = rng.integers(n_labels)
    return np.eye(n_labels)[labels] + rng.normal(size=(height, width, n_labels)), labels


@pytest.fixture(scope="module")
def grids():
    rng = np.random.default_rng(0)
    found = [smooth_grid(rng, 3 + i % 2, 4) for i in range(40)]
    X, Y = [x for x, _ in found], [y for _, y in found]
    return X[:20], Y[:20], X[20:], Y[20:]


def random_graphs(rng, count, n_labels=3, n_features=2, forest=False):
    """Graphs of one to five nodes whose neighbours tend to agree."""
    X, Y = [], []
    for _ in range(count):
        n = int(rng.integers(1, 6))
        edges = [(int(rng.integers(v)), v) for v in range(1, n)]
        if not forest:
            edges += [(u, v) for v in range(2, n) for u in range(v) if (u, v) not in edges and rng.random() < 0.4]
        labels = rng.integers(0, n_labels, n)
        for u, v in edges:
            if rng.random() < 0.6:
                labels[v] = labels[u]
        nodes = np.eye(n_labels)[labels][:, :n_features] + 0.7 * rng.normal(size=(n, n_features))
        X.append(NodesAndEdges(nodes, edges))
        Y.append(labels)
    return X, Y


@pytest.fixture(scope="module")
def graphs():
    return random_graphs(np.random.default_rng(1), 25)


def scores_of_all(model, graph):
    """Return all labellings of a graph and their scores, worked out by hand from the weights."""
    k = model.classes_.size
    nodes = graph.nodes.toarray() if hasattr(graph.nodes, "toarray") else np.asarray(graph.nodes)
    node = model.task_.features.node
    scores = nodes @ node.coefficients(model.weights_) + node.biases(model.weights_)
    labellings = np.array(list(product(range(k), repeat=len(nodes))))
    total = scores[np.arange(len(nodes)), labellings].sum(axis=1)
    tables = model.table_weights_
    for e, (u, v) in enumerate(graph.edges if tables.size else []):
        if graph.edge_features is not None:
            table = np.tensordot(np.asarray(graph.edge_features)[e], tables, 1)
        else:
            table = tables[0 if graph.edge_types is None else graph.edge_types[e]]
        total = total + table[labellings[:, u], labellings[:, v]]
    return labellings, total


def hinge_by_enumeration(model, X, Y):
    """Return the objective at the weights of the model."""
    losses = []
    for x, y in zip(X, Y, strict=True):
        labellings, scores = scores_of_all(model, x)
        costs = (labellings != np.asarray(y)).sum(axis=1)
        losses.append((scores + costs).max() - scores[costs == 0][0])
    return 0.5 * model.regularization * model.weights_ @ model.weights_ + np.mean(losses)


def share_right(model, X, Y):
    predicted = model.predict(X)
    return np.concatenate([np.ravel(p) == np.ravel(y) for p, y in zip(predicted, Y, strict=True)]).mean()


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
        X_test[0] @ joined.task_.features.node.coefficients(joined.weights_)
        + joined.task_.features.node.biases(joined.weights_),
    )


def test_forms_of_grids_agree(grids):
    X, Y, X_test, _ = grids
    expected = GraphLabeler(regularization=1e-2).fit(X, Y)
    as_graphs = []
    for x in X:
        height, width, d = x.shape
        places = np.arange(height * width).reshape(height, width)
        across = np.stack([places[:, :-1].ravel(), places[:, 1:].ravel()], axis=1)
        down = np.stack([places[:-1].ravel(), places[1:].ravel()], axis=1)
        types = np.repeat([0, 1], [len(across), len(down)])
        as_graphs.append(NodesAndEdges(x.reshape(-1, d), np.r_[across, down], edge_types=types))
    for form, labels in (
        (as_graphs, [y.ravel() for y in Y]),
        ([x.tolist() for x in X], [y.tolist() for y in Y]),
        (iter(X), iter(Y)),
        ([np.asfortranarray(x) for x in X], [y.ravel().tolist() for y in Y]),
    ):
        model = GraphLabeler(regularization=1e-2).fit(form, labels)
        np.testing.assert_array_equal(model.weights_, expected.weights_)
    for flat, shaped in zip(model.predict(as_graphs), model.predict(X), strict=True):
        np.testing.assert_array_equal(flat, shaped.ravel())
    for nested, shaped in zip(model.predict([x.tolist() for x in X_test]), model.predict(X_test), strict=True):
        np.testing.assert_array_equal(nested, shaped)
    same = [np.ones((2, 3, 1)), np.ones((2, 3, 1)), np.zeros((2, 3, 1))]
    labels = [np.ones((2, 3), int), np.ones((2, 3), int), np.zeros((2, 3), int)]
    stacked = GraphLabeler().fit(np.array(same), np.array(labels))
    assert np.array(stacked.predict(np.array(same))).tolist() == np.array(labels).tolist()


def test_tuples_sparse_nodes_and_lists_agree(graphs):
    X, Y = graphs
    settings = {"regularization": 1e-2, "tolerance": 1e-6}
    expected = GraphLabeler(**settings).fit(X, Y)
    forms = [
        [(x.nodes, x.edges) for x in X],
        [(x.nodes.tolist(), [tuple(map(float, edge)) for edge in x.edges]) for x in X],
        [NodesAndEdges(csr_matrix(x.nodes), np.array(x.edges)) for x in X],
        [NodesAndEdges(coo_matrix(x.nodes) if i % 2 else x.nodes, x.edges) for i, x in enumerate(X)],
        [NodesAndEdges(x.nodes, x.edges, edge_types=np.zeros(len(x.edges))) for x in X],
        [NodesAndEdges(x.nodes, x.edges, edge_features=np.ones((len(x.edges), 1))) for x in X],
        [NodesAndEdges(x.nodes, x.edges, edge_features=csr_matrix(np.ones((len(x.edges), 1)))) for x in X],
        [NodesAndEdges(x.nodes, x.edges, [[1]] * len(x.edges) or None) for x in X],
    ]
    for form in forms:
        model = GraphLabeler(**settings).fit(form, [y.tolist() for y in Y])
        assert model.objective_ == pytest.approx(expected.objective_, rel=1e-5)
        for mine, theirs in zip(model.predict(form), expected.predict(X), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_names_of_labels_and_sets_of_candidates(graphs):
    X, Y = graphs
    names = np.array(["cat", "dog", "owl"])
    named = GraphLabeler(regularization=1e-2).fit(X, [names[y] for y in Y])
    plain = GraphLabeler(regularization=1e-2).fit(X, Y)
    np.testing.assert_array_equal(named.weights_, plain.weights_)
    assert named.classes_.tolist() == names.tolist()
    for mine, theirs in zip(named.predict(X), plain.predict(X), strict=True):
        np.testing.assert_array_equal(mine, names[theirs])
    assert named.score(X, [names[y] for y in Y]) == plain.score(X, Y)
    single = GraphLabeler(regularization=1e-2).fit(X, [[{name} for name in names[y]] for y in Y])
    np.testing.assert_array_equal(single.weights_, plain.weights_)
    rng = np.random.default_rng(0)
    ambiguous = [[{str(name), str(rng.choice(names))} for name in names[y]] for y in Y]
    model = GraphLabeler(regularization=1e-2).fit(X, ambiguous)
    assert share_right(model, X, [names[y] for y in Y]) > share_right(named, X, [names[y] for y in Y]) - 0.15
    assert not model.gap_is_certificate_
    assert model.score(X, ambiguous) >= model.score(X, [names[y] for y in Y])


@pytest.mark.parametrize("inference", [None, GraphCut(), BeliefPropagation()], ids=["exact", "GraphCut", "messages"])
def test_hidden_nodes_and_unlabelled_graphs(grids, inference):
    X, Y, X_test, Y_test = grids
    rng = np.random.default_rng(3)
    settings = {"inference": inference, "regularization": 1e-2}
    full = GraphLabeler(**settings).fit(X, Y).score(X_test, Y_test)
    hidden = [np.where(rng.random(y.shape) < 0.4, -1, y) for y in Y]
    hidden[3], hidden[4] = np.full(Y[3].shape, -1), np.full(Y[4].shape, -1)
    model = GraphLabeler(**settings).fit(X, hidden)
    assert model.score(X_test, Y_test) > full - 0.1
    assert model.score(X_test, Y_test) > 0.7
    nones = [[[None if label == -1 else label for label in row] for row in y.tolist()] for y in hidden]
    unknown = [np.where(y == -1, np.nan, y) for y in hidden]
    for form in (nones, unknown, [[{0, 1} if label is None else label for row in y for label in row] for y in nones]):
        np.testing.assert_allclose(GraphLabeler(**settings).fit(X, form).weights_, model.weights_, atol=1e-6)
    known = [np.where(y == -1, labels, y) for y, labels in zip(hidden, Y, strict=True)]
    assert model.score(X, hidden) == pytest.approx(
        np.average(
            [
                (p == y)[h >= 0].mean() if (h >= 0).any() else 0
                for p, y, h in zip(model.predict(X), known, hidden, strict=True)
            ],
            weights=[(h >= 0).sum() for h in hidden],
        )
    )


def test_unlabelled_graphs_do_not_count(graphs):
    X, Y = graphs
    hidden = [[None] * len(y) if i < 10 else y for i, y in enumerate(Y)]
    some = GraphLabeler(regularization=0.03, tolerance=1e-6).fit(X, hidden)
    others = GraphLabeler(regularization=0.03 * 25 / 15, tolerance=1e-6).fit(X[10:], Y[10:])
    np.testing.assert_allclose(some.table_weights_, others.table_weights_, atol=0.01)
    assert some.score(X, hidden) == others.score(X[10:], Y[10:])
    assert some.costs(X, hidden)[:10].max() == 0.0


def test_scores_and_optimum_equal_enumeration(graphs):
    X, Y = graphs
    for settings in ({}, {"tables": "symmetric"}, {"tables": "diagonal"}, {"tables": "none"}):
        model = GraphLabeler(regularization=1e-2, inference=Exhaustive(), **settings).fit(X, Y)
        for x, labels in zip(X, model.predict(X), strict=True):
            labellings, scores = scores_of_all(model, x)
            np.testing.assert_array_equal(labels, labellings[scores.argmax()])
        assert model.objective_ == pytest.approx(hinge_by_enumeration(model, X, Y), rel=1e-9)


@pytest.mark.parametrize("tables", ["full", "symmetric", "diagonal", "potts", "none", "matrix"])
def test_patterns_of_tables(graphs, tables):
    X, Y = graphs
    matrix = np.array([[0, 1, -1], [1, 0, 2], [-1, 2, 0]])
    model = GraphLabeler(tables=matrix if tables == "matrix" else tables, regularization=1e-2).fit(X, Y)
    n_node = 2 * 3 + 3
    expected = {"full": 9, "symmetric": 6, "diagonal": 3, "potts": 1, "none": 0, "matrix": 3}
    assert model.weights_.size == n_node + expected[tables]
    weights = model.table_weights_
    if tables == "none":
        assert not weights.any()
        return
    assert weights.shape == (1, 3, 3)
    table = weights[0]
    off = ~np.eye(3, dtype=bool)
    match tables:
        case "full":
            assert np.unique(table).size == 9
        case "symmetric":
            np.testing.assert_array_equal(table, table.T)
        case "diagonal":
            assert not table[off].any()
            assert np.unique(np.diag(table)).size == 3
        case "potts":
            np.testing.assert_array_equal(table, table[0, 0] * np.eye(3))
            assert table[0, 0] > 0
        case "matrix":
            for number in range(3):
                assert np.unique(table[matrix == number]).size == 1
            assert not table[matrix == -1].any()
    richer = GraphLabeler(regularization=1e-2, tolerance=1e-6).fit(X, Y)
    assert richer.objective_ <= model.objective_ * (1 + 1e-3)


def test_a_full_table_is_the_sum_of_a_symmetric_and_a_skew_one(graphs):
    """Turning an edge round transposes its table: symmetric tables do not see it."""
    X, Y = graphs
    rng = np.random.default_rng(0)
    turned = [NodesAndEdges(x.nodes, [edge if rng.random() < 0.5 else edge[::-1] for edge in x.edges]) for x in X]
    settings = {"tables": "symmetric", "regularization": 1e-2, "tolerance": 1e-6}
    one, other = (GraphLabeler(**settings).fit(form, Y) for form in (X, turned))
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-5)
    for mine, theirs in zip(one.predict(X), one.predict(turned), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    backwards = [NodesAndEdges(x.nodes, [edge[::-1] for edge in x.edges]) for x in X]
    full = {"regularization": 1e-2, "tolerance": 1e-8}
    one, other = (GraphLabeler(**full).fit(form, Y) for form in (X, backwards))
    np.testing.assert_allclose(one.table_weights_[0], other.table_weights_[0].T, atol=0.01)


def test_edge_types_and_features_separate_what_differs():
    """Along some edges neighbours agree, along others they never do; only edges that say so can be learnt."""
    rng = np.random.default_rng(0)
    X, Y = {"types": [], "features": [], "nothing": []}, []
    for _ in range(30):
        kinds, labels = rng.integers(0, 2, 4), [int(rng.integers(2))]
        for kind in kinds:
            labels.append(labels[-1] ^ int(kind))
        nodes = np.array([[2.0 * labels[0] - 1.0]] + [[0.0]] * 4)
        edges = [(v, v + 1) for v in range(4)]
        X["types"].append(NodesAndEdges(nodes, edges, edge_types=kinds))
        X["features"].append(NodesAndEdges(nodes, edges, edge_features=np.eye(2)[kinds]))
        X["nothing"].append((nodes, edges))
        Y.append(labels)
    models = {name: GraphLabeler(tables="potts", regularization=1e-3).fit(form, Y) for name, form in X.items()}
    assert models["types"].score(X["types"], Y) == models["features"].score(X["features"], Y) == 1.0
    assert models["nothing"].score(X["nothing"], Y) < 0.8
    np.testing.assert_allclose(models["types"].table_weights_, models["features"].table_weights_, atol=0.02)
    agree, differ = models["types"].table_weights_[:, 0, 0]
    assert agree > 0.3 > -0.3 > differ


def test_grids_may_have_diagonals_and_no_directions(grids):
    X, Y, *_ = grids
    counts = {}
    for diagonals, directional in product((False, True), repeat=2):
        model = GraphLabeler(tables="potts", diagonals=diagonals, directional=directional, regularization=1e-2)
        counts[diagonals, directional] = model.fit(X, Y).table_weights_.shape[0]
        assert model.score(X, Y) > 0.8
    assert counts == {(False, False): 1, (False, True): 2, (True, False): 1, (True, True): 4}
    stripes = [np.tile(np.arange(4) % 2, (4, 1))] * 4 + [np.tile(1 - np.arange(4) % 2, (4, 1))] * 4
    blank = [np.where(np.arange(16).reshape(4, 4) == 0, 2.0 * y - 1.0, 0.0)[:, :, None] for y in stripes]
    directed = GraphLabeler(tables="potts").fit(blank, stripes)
    across, down = directed.table_weights_[:, 0, 0]
    assert across < 0 < down
    assert directed.score(blank, stripes) == 1.0
    assert GraphLabeler(tables="potts", directional=False).fit(blank, stripes).score(blank, stripes) < 1.0


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


def test_single_nodes_and_graphs_without_edges():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 2))
    y = (x[:, 0] > 0).astype(int)
    settings = {"regularization": 1e-2, "tolerance": 1e-7}
    lonely = GraphLabeler(**settings).fit([(x[[i]], []) for i in range(30)], y[:, None])
    grid = GraphLabeler(**settings).fit(x[:, None, None, :], y[:, None, None])
    np.testing.assert_allclose(lonely.weights_[:6], grid.weights_[:6], atol=1e-4)
    assert not lonely.table_weights_.any()
    assert lonely.score([(x[[i]], []) for i in range(30)], y[:, None]) > 0.9
    together = GraphLabeler(tables="none", regularization=1e-2 * 30, tolerance=1e-7).fit([(x, [])], [y])
    assert together.objective_ == pytest.approx(30 * lonely.objective_, rel=1e-5)
    mixed = [NodesAndEdges(x[:3], [(0, 1)], [[1.0]]), NodesAndEdges(x[3:5], []), NodesAndEdges(x[5:6], [], [])]
    assert len(GraphLabeler().fit(mixed, [y[:3], y[3:5], [1 - y[0]]]).predict(mixed)) == 3


ASSOCIATIVE = {"tables": "potts", "associative": True, "regularization": 0.02}


def repelled():
    """Graphs whose edges of the first type join equals and those of the second join opposites, most often."""
    rng = np.random.default_rng(5)
    X, Y = [], []
    edges = [(0, 1), (1, 2), (2, 3), (3, 0)]
    for _ in range(10):
        y = rng.permutation([0, 0, 1, 1])
        types = [int(y[u] != y[v]) if rng.random() < 0.9 else int(rng.integers(2)) for u, v in edges]
        X.append(NodesAndEdges(y[:, None] + rng.normal(size=(4, 1)), edges, edge_types=types))
        Y.append(y.tolist())
    return X, Y


def test_associative_weights_reach_the_constrained_optimum():
    X, Y = repelled()
    free = GraphLabeler(**ASSOCIATIVE | {"associative": False}, tolerance=1e-8).fit(X, Y)
    assert free.weights_[-2:].min() < -0.05  # the constraint matters
    model = GraphLabeler(**ASSOCIATIVE, tolerance=1e-8).fit(X, Y)
    assert 0.0 <= model.weights_[-2:].min() < 1e-9
    assert model.weights_[-2:].max() > 0.05
    assert model.objective_ > free.objective_ * (1 + 1e-3)
    assert model.gap_is_certificate_

    # The same as a smooth program: least t_i with t_i >= score(y) + cost(y) - score(y_i) for all y.
    n = model.weights_.size
    rows, costs, owners = [], [], []
    probe = clone(model).fit(X, Y)
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        by_weight = []
        for j in range(n):
            probe.weights_ = np.eye(n)[j]
            labellings, scores = scores_of_all(probe, x)
            true = (labellings == np.array(y)).all(axis=1)
            by_weight.append(scores - scores[true])
        rows.append(np.array(by_weight).T)
        costs.append((labellings != np.array(y)).sum(axis=1))
        owners.append(np.full(len(labellings), i))
    A, c, owner = np.concatenate(rows), np.concatenate(costs), np.concatenate(owners)
    slack_of = np.eye(len(X))[owner]
    found = minimize(
        lambda z: 0.01 * z[:n] @ z[:n] + z[n:].mean(),
        np.concatenate([np.zeros(n), np.full(len(X), 4.0)]),
        jac=lambda z: np.concatenate([0.02 * z[:n], np.full(len(X), 1 / len(X))]),
        bounds=[(None, None)] * (n - 2) + [(0, None)] * 2 + [(0, None)] * len(X),
        constraints={
            "type": "ineq",
            "fun": lambda z: slack_of @ z[n:] - A @ z[:n] - c,
            "jac": lambda z: np.c_[-A, slack_of],
        },
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.success
    assert model.objective_ == pytest.approx(found.fun, rel=1e-6)
    np.testing.assert_allclose(model.weights_, found.x[:n], atol=2e-3)


@pytest.mark.parametrize(
    "solver",
    [
        OneSlack(tolerance=1e-7),
        NSlack(tolerance=1e-7),
        BlockFrankWolfe(tolerance=1e-7),
        BlockFrankWolfe(tolerance=1e-7, averaging=True),
        CCCP(inner=NSlack(tolerance=1e-7)),
        Subgradient(tolerance=1e-6, max_iterations=4000, batch_size=None),
    ],
    ids=["OneSlack", "NSlack", "BlockFrankWolfe", "averaging", "CCCP", "Subgradient"],
)
@pytest.mark.filterwarnings("ignore:Training stopped early")
def test_solvers_keep_weights_nonnegative_and_agree(solver):
    X, Y = repelled()
    best = GraphLabeler(**ASSOCIATIVE, tolerance=1e-8).fit(X, Y)
    model = GraphLabeler(**ASSOCIATIVE, solver=solver).fit(X, Y)
    exact = not isinstance(solver, Subgradient)
    assert model.weights_[-2:].min() >= 0.0
    assert model.objective_ == pytest.approx(best.objective_, rel=1e-6 if exact else 1e-3)
    assert model.objective_ == pytest.approx(hinge_by_enumeration(model, X, Y), rel=1e-9)
    np.testing.assert_allclose(model.weights_, best.weights_, atol=1e-3 if exact else 0.1)


@pytest.mark.parametrize("loss", ["crf", "ramp", "augmented_crf"])
@pytest.mark.filterwarnings("ignore:Training stopped early")
def test_other_losses_keep_weights_nonnegative(loss):
    X, Y = repelled()
    model = GraphLabeler(**ASSOCIATIVE, loss=loss, max_iterations=200).fit(X, Y)
    assert model.weights_[-2:].min() >= 0.0
    assert model.score(X, Y) > 0.6
    hidden = [[None, *y[1:]] for y in Y]
    assert GraphLabeler(**ASSOCIATIVE, loss=loss, max_iterations=200).fit(X, hidden).weights_[-2:].min() >= 0.0


def test_solvers_that_lose_signs_refuse():
    X, Y = repelled()
    with pytest.raises(ValueError, match=r"LBFGS lets weights have any sign .* Subgradient\(\) for any"):
        GraphLabeler(**ASSOCIATIVE, solver=LBFGS(), loss="crf").fit(X, Y)
    with pytest.raises(ValueError, match="LBFGS lets weights have any sign"):
        GraphLabeler(**ASSOCIATIVE, solver=CCCP(inner=LBFGS()), loss="crf").fit(X, [[None, *y[1:]] for y in Y])


def test_associative_tables_make_cuts_exact(grids):
    X, Y, X_test, _ = grids
    settings = {"tables": "potts", "regularization": 1e-2}
    cut = GraphLabeler(**settings, associative=True, inference=GraphCut()).fit(X, Y)
    exact = GraphLabeler(**settings, associative=True, inference=Tree()).fit(X, Y)
    assert cut.guarantee_ is Guarantee.EXACT
    assert cut.objective_ == pytest.approx(exact.objective_, rel=2e-3)
    for mine, theirs in zip(
        cut.predict(X_test), clone(cut).set_params(decoder=MaxScore(Tree())).fit(X, Y).predict(X_test), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)


def test_nonnegative_edge_features_in_associative_tables():
    X, Y = repelled()
    rng = np.random.default_rng(0)
    featured = [NodesAndEdges(x.nodes, x.edges, rng.random((len(x.edges), 2))) for x in X]
    settings = {"tables": "potts", "associative": True, "regularization": 0.02}
    dense = GraphLabeler(**settings, tolerance=1e-7).fit(featured, Y)
    sparse = [NodesAndEdges(x.nodes, x.edges, csr_matrix(x.edge_features)) for x in featured]
    assert dense.weights_[-2:].min() >= 0.0
    assert dense.table_weights_.shape == (2, 2, 2)
    assert GraphLabeler(**settings, tolerance=1e-7).fit(sparse, Y).objective_ == pytest.approx(
        dense.objective_, rel=1e-6
    )
    assert dense.objective_ == pytest.approx(hinge_by_enumeration(dense, featured, Y), rel=1e-9)


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


def fitted():
    rng = np.random.default_rng(0)
    X, Y = random_graphs(rng, 8)
    featured = [NodesAndEdges(x.nodes, x.edges, rng.random((len(x.edges), 2)) if x.edges else None) for x in X]
    typed = [NodesAndEdges(x.nodes, x.edges, edge_types=np.arange(len(x.edges)) % 2) for x in X]
    names = [np.array(["a", "b", "ß"])[y] for y in Y]
    found = [smooth_grid(rng, 3, 3) for _ in range(6)]
    grids, labels = [x for x, _ in found], [y for _, y in found]
    return {
        "graphs": (GraphLabeler().fit(X, names), X),
        "types": (GraphLabeler(loss="crf", inference=Tree()).fit(typed, Y), typed),
        "features": (GraphLabeler(tables="potts", associative=True).fit(featured, Y), featured),
        "matrix": (GraphLabeler(tables=np.array([[0, 1, -1], [1, 0, -1], [-1, -1, 2]])).fit(X, Y), X),
        "nested": (GraphLabeler(tables=[[0, -1, -1], [-1, 0, -1], [-1, -1, 0]], cost=Hamming()).fit(X, Y), X),
        "grids": (GraphLabeler(diagonals=True, directional=False, inference=GraphCut()).fit(grids, labels), grids),
        "rho": (GraphLabeler(inference=RhoApproximate(0.8), decoder=MaxScore(BeliefPropagation())).fit(X, Y), X),
        "none": (GraphLabeler(tables="none", class_weight="balanced").fit(X, Y), X),
    }


@pytest.fixture(scope="module")
def models():
    return fitted()


@pytest.mark.parametrize("name", ["graphs", "types", "features", "matrix", "nested", "grids", "rho", "none"])
def test_a_loaded_model_is_the_saved_one(models, name, tmp_path):
    model, X = models[name]
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    for mine, theirs in zip(model.predict(X), loaded.predict(X), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(loaded.table_weights_, model.table_weights_)
    assert repr(loaded.get_params()) == repr(model.get_params())
    for attribute in ("guarantee_", "meaning_", "shortfall_", "gap_", "history_", "stop_reason_"):
        assert getattr(loaded, attribute) == getattr(model, attribute)
    if name == "types":
        np.testing.assert_array_equal(model.predict_proba(X)[0], loaded.predict_proba(X)[0])


def test_damaged_files_are_read_or_refused(models):
    rng = random.Random(0)
    for name in ("features", "matrix", "grids"):
        model, X = models[name]
        content = dump(model)
        for damaged in [mutate(content, rng) for _ in range(100)] + [content[:n] for n in range(0, len(content), 199)]:
            try:
                loaded = load(damaged)
            except ModelFileError:
                continue
            try:
                loaded.predict(X)
            except ValueError as error:
                assert "X[" in str(error)  # the graphs are not those of the altered model


N = np.arange(6.0).reshape(3, 2)
PATH = [(0, 1), (1, 2)]
X0 = [NodesAndEdges(N, PATH), (N, PATH), (N[:2], [(0, 1)])]
Y0 = [["a", "b", "a"], ["b", "b", "a"], ["a", "b"]]
F = [[1.0, 0.0], [0.5, 2.0]]
XF = [NodesAndEdges(N, PATH, F), NodesAndEdges(N, PATH, F), NodesAndEdges(N[:2], [(0, 1)], F[:1])]
NAN = np.where(N == 2, np.nan, N)


def second(graph, like=X0):
    return [like[0], graph, like[2]]


BAD = [
    ({}, second((N, [(0, 1), (1, 3)])), Y0, r"X\[1\]: edge 1 joins \[1, 3\] but the nodes are numbered 0 to 2"),
    ({}, second((N, [(0, 1), (1, -1)])), Y0, r"X\[1\]: edge 1 joins \[1, -1\] but the nodes are numbered 0 to 2"),
    ({}, second((N, [(0, 1), (1, 1)])), Y0, r"X\[1\]: edge 1 joins node 1 with itself; drop it, and give"),
    ({}, second((N, [*PATH, (1, 0)])), Y0, r"X\[1\]: edge 2 joins \[1, 0\] like edge 0; keep one"),
    ({}, second((N, [(0, 1, 2)])), Y0, r"X\[1\]: the edges have shape \(1, 3\); give pairs of nodes"),
    ({}, second((N, np.ones((3, 3), int))), Y0, r"X\[1\]: the edges have shape \(3, 3\); give pairs of nodes"),
    ({}, second((N, [0, 1, 2])), Y0, r"X\[1\]: the edges have shape \(3,\); give pairs of nodes"),
    ({}, second((N, [(0, 1), (1,)])), Y0, r"X\[1\]: its edges differ in length; each is a pair of nodes"),
    ({}, second((N, [(0, 1.5)])), Y0, r"X\[1\]: the edges must be whole numbers"),
    ({}, second((N, [("a", "b")])), Y0, r"X\[1\]: the edges must be whole numbers"),
    (
        {},
        second((N, None)),
        Y0,
        r"X\[1\]: its edges are of type NoneType; give a list or array of pairs .*\[\] for none",
    ),
    ({}, second((N, csr_matrix(np.eye(3)))), Y0, r"X\[1\]: its edges are of type csr_matrix; give a list or array"),
    ({}, second((N[:, 0], PATH)), Y0, r"X\[1\]: its nodes have shape \(3,\); give a matrix with a row for each node"),
    ({}, second((N[:, :1], PATH)), Y0, r"X\[1\] has 1 node features but 2 are expected, as in training"),
    ({}, second((N.astype(str), PATH)), Y0, r"X\[1\]: its nodes are not numbers; give a row of numbers for each node"),
    ({}, second(([[1, 2], [3]], PATH)), Y0, r"X\[1\]: its nodes are not numbers; give a row of numbers"),
    ({}, second((NAN, PATH)), Y0, r"X\[1\], node 1, contains NaN in feature 0; impute it or drop the example"),
    ({}, second((csr_matrix(NAN), PATH)), Y0, r"X\[1\], node 1, contains NaN in feature 0"),
    ({}, second((N[:0], [])), [Y0[0], [], Y0[2]], r"X\[1\] has no nodes; drop it"),
    ({"tables": "none"}, second((N[:0], [])), [Y0[0], [], Y0[2]], r"X\[1\] has no nodes; drop it"),
    ({}, second(np.ones((0, 3, 2))), [Y0[0], [], Y0[2]], r"X\[1\] is a grid of 0 x 3, without nodes; drop it"),
    ({}, second(N), Y0, r"X\[1\] is a ndarray of shape \(3, 2\); a graph is NodesAndEdges\(nodes, edges\), a tuple"),
    ({}, second((N,)), Y0, r"X\[1\] is a tuple of 1; a graph is NodesAndEdges"),
    ({}, second((N, PATH, None, None)), Y0, r"X\[1\] is a tuple of 4; a graph is NodesAndEdges"),
    ({}, second({}), Y0, r"X\[1\] is a dict; a graph is NodesAndEdges"),
    ({}, X0[0], Y0[0], r"X is of type NodesAndEdges; give a list of graphs"),
    ({}, None, Y0, r"X is of type NoneType; give a list of graphs"),
    ({}, [], [], r"X holds no graphs; give at least one"),
    ({}, X0, None, r"requires Y to be passed"),
    ({}, X0, Y0[:2], r"X has 3 graphs but Y has 2; each graph needs its labels"),
    ({}, X0, second(["a", "b"], Y0), r"Y\[1\] has 2 labels but X\[1\] has 3 nodes; each node needs one \(None where"),
    ({}, X0, second(None, Y0), r"Y\[1\] is None; give a label for each of the 3 nodes"),
    ({}, X0, second(3, Y0), r"Y\[1\] is 3; give a label for each of the 3 nodes"),
    ({}, X0, second(["a", "b", set()], Y0), r"Y\[1\], node 2, is an empty set; give its candidates, or None"),
    ({}, X0, [["a"] * 3, ["a"] * 3, ["a"] * 2], r"The labels hold 1 class; .* at least 2 classes.*classes="),
    ({}, X0, [[-1] * 3, [None] * 3, [-1] * 2], r"The labels hold 0 class; .* at least 2 classes.*classes="),
    ({"classes": ["a", "c"]}, X0, Y0, r"Y\[0\], node 1, has the unknown label 'b'; the labels are 'a', 'c'"),
    (
        {},
        [np.ones((2, 3, 1))],
        [np.zeros((3, 2), int)],
        r"Y\[0\] has shape \(3, 2\) but X\[0\] is a grid of shape \(2, 3\)",
    ),
    ({}, second((N, PATH), XF), Y0, r"X\[1\] has no edge features but graphs in training have; every edge needs them"),
    ({}, [X0[0], *XF[1:]], Y0, r"X\[0\] has no edge features but graphs in training have"),
    ({}, second((N, PATH, F[:1]), XF), Y0, r"X\[1\] has 2 edges but edge features for 1; give a row each"),
    ({}, second((N, PATH, [1.0, 2.0]), XF), Y0, r"X\[1\]: its edge features have shape \(2,\); give a matrix"),
    ({}, second((N, PATH, [[1.0], [2.0]]), XF), Y0, r"X\[1\] has 1 edge features but 2 are expected"),
    ({}, [(N, PATH, np.ones((2, 0)))], Y0[:1], r"X\[0\]: its edge features have no columns; leave them out"),
    ({}, second((N, PATH, [["a", "b"]] * 2), XF), Y0, r"X\[1\]: its edge features are not numbers"),
    ({}, second((N, PATH, [[1, np.inf], [0, 0]]), XF), Y0, r"X\[1\], edge 0, contains infinity in feature 1"),
    (
        {"tables": "potts", "associative": True},
        second((N, PATH, [[1, 0], [0, -1]]), XF),
        Y0,
        r"X\[1\], edge 1, has a negative feature; associative tables need features that are not negative: shift them",
    ),
    (
        {"tables": "potts", "associative": True},
        second((N, PATH, csr_matrix([[1, 0], [0, -1]])), XF),
        Y0,
        r"X\[1\], edge 1, has a negative feature",
    ),
    ({}, second(NodesAndEdges(N, PATH, F, [0, 1])), Y0, r"X\[1\] has edge features and edge types; add the types to"),
    (
        {},
        second(NodesAndEdges(N, PATH, None, [0])),
        Y0,
        r"X\[1\]: give each of its 2 edges a type, a whole number from 0",
    ),
    ({}, second(NodesAndEdges(N, PATH, None, [0, -1])), Y0, r"X\[1\]: give each of its 2 edges a type"),
    ({}, second(NodesAndEdges(N, PATH, None, [0, 0.5])), Y0, r"X\[1\]: give each of its 2 edges a type"),
    ({}, second(NodesAndEdges(N, PATH, None, ["x", "y"])), Y0, r"X\[1\]: give each of its 2 edges a type"),
    ({"tables": "pots"}, X0, Y0, r"There are no tables 'pots'; choose full, symmetric, diagonal, potts or none"),
    (
        {"tables": np.zeros((3, 3), int)},
        X0,
        Y0,
        r"tables has shape \(3, 3\) and there are 2 labels; give a matrix \(2, 2",
    ),
    ({"tables": np.zeros((2, 2))}, X0, Y0, r"tables holds something else than whole numbers from 0, or -1"),
    ({"tables": [[0, 2], [2, 0]]}, X0, Y0, r"tables skips the number 1; number the weights 0, 1, ... without gaps"),
    ({"associative": True}, X0, Y0, r"Associative tables have weights only where both ends agree; use tables='potts'"),
    ({"inference": "tree"}, X0, Y0, r"inference is 'tree'; give None or an inference such as BeliefPropagation\(\)"),
    ({"inference": Tree}, X0, Y0, r"inference is <class .*Tree'>; give None or an inference"),
    ({"cost": Hamming(), "class_weight": "balanced"}, X0, Y0, r"Give either cost or class_weight"),
    ({"loss": "slack_hinge"}, X0, second([None, "b", "a"], Y0), r"slack_hinge needs full annotations and example 1"),
    (
        {"inference": GraphCut(), "classes": ["a", "b", "c"]},
        X0,
        Y0,
        r"GraphCut\(\) relaxes graphs of two states and node 0 of graph 0 has 3; use GraphCut\(expansion=True\)",
    ),
    (
        {"inference": Exhaustive()},
        [np.ones((12, 12, 1))],
        [np.eye(12, dtype=int)],
        r"Exhaustive\(\) would list the 2\^144 labellings of graph 0; use Tree\(\)",
    ),
    (
        {"inference": Tree()},
        [np.ones((40, 40, 1))],
        [np.eye(40, dtype=int)],
        r"Tree\(\) would need tables of 2e\+07 entries for graph 0; use BeliefPropagation\(\)",
    ),
]


@pytest.mark.parametrize(("settings", "X", "Y", "message"), BAD)
def test_bad_training_data_get_one_sentence(settings, X, Y, message):
    with pytest.raises(ValueError, match=message):
        GraphLabeler(**settings).fit(X, Y)


def test_bad_data_at_prediction_get_one_sentence():
    model, featured = GraphLabeler().fit(X0, Y0), GraphLabeler().fit(XF, Y0)
    assert model.predict([]) == []
    for bad, message in (
        ([(N[:, :1], PATH)], r"X\[0\] has 1 node features but 2 are expected, as in training"),
        ([X0[0], (NAN, PATH)], r"X\[1\], node 1, contains NaN"),
        ([X0[0], (N, [(0, 9)])], r"X\[1\]: edge 0 joins \[0, 9\]"),
        ([NodesAndEdges(N, PATH, None, [0, 1])], r"X\[0\]: edge 1 is of type 1 but training had types up to 0"),
        (XF, r"X\[0\] has edge features but the model was trained without; leave them out"),
        ([(N[:0], [])], r"X\[0\] has no nodes; drop it"),
        (X0[0], "X is of type NodesAndEdges; give a list of graphs"),
    ):
        for answer in (model.predict, model.decision_function):
            with pytest.raises(ValueError, match=message):
                answer(bad)
    with pytest.raises(ValueError, match=r"X\[0\] has no edge features but graphs in training have"):
        featured.predict(X0)
    with pytest.raises(ValueError, match=r"Y\[0\], node 1, has the unknown label 'z'; the labels are 'a', 'b'"):
        model.costs(X0, [["a", "z", "a"], *Y0[1:]])
    unseen = model.score(X0, [["a", "z", "a"], *Y0[1:]])
    assert unseen == pytest.approx(model.score(X0, [["a", None, "a"], *Y0[1:]]) * 7 / 8)
    with pytest.raises(ValueError, match=r"Y\[1\] has 2 labels but X\[1\] has 3 nodes"):
        model.score(X0, second(["a", "b"], Y0))
    with pytest.raises(ValueError, match="Y holds no label that is known"):
        model.score(X0, [[None] * 3, [None] * 3, [None] * 2])
    with pytest.raises(ValueError, match=r"expected \(3,\)"):
        model.score(X0, Y0, sample_weight=[1.0])
