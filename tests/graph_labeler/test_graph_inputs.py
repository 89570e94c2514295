"""Forms of graphs and of what is known about their labels."""

import numpy as np
import pytest
from graph_samples import share_right
from scipy.sparse import coo_matrix, csr_matrix

from maximand import (
    BeliefPropagation,
    GraphCut,
    GraphLabeler,
    NodesAndEdges,
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
    some = GraphLabeler(regularization=0.01, tolerance=1e-6).fit(X, hidden)
    others = GraphLabeler(regularization=0.01, tolerance=1e-6).fit(X[10:], Y[10:])
    np.testing.assert_allclose(some.table_weights_, others.table_weights_, atol=0.01)
    assert some.score(X, hidden) == others.score(X[10:], Y[10:])
    assert some.costs(X, hidden)[:10].max() == 0.0


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
    together = GraphLabeler(tables="none", **settings).fit([(x, [])], [y])
    assert together.objective_ == pytest.approx(lonely.objective_, rel=1e-5)
    mixed = [NodesAndEdges(x[:3], [(0, 1)], [[1.0]]), NodesAndEdges(x[3:5], []), NodesAndEdges(x[5:6], [], [])]
    assert len(GraphLabeler().fit(mixed, [y[:3], y[3:5], [1 - y[0]]]).predict(mixed)) == 3
