"""Patterns of the tables on edges, and the kinds of edges that have tables of their own."""

from itertools import product

import numpy as np
import pytest

from maximand import (
    GraphLabeler,
    NodesAndEdges,
)


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
