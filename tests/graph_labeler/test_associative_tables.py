"""Tables that favour neighbours with the same label: weights that are never negative."""

import numpy as np
import pytest
from graph_samples import hinge_by_enumeration, scores_of_all
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.base import clone

from maximand import (
    CCCP,
    LBFGS,
    BlockFrankWolfe,
    GraphCut,
    GraphLabeler,
    Guarantee,
    MaxScore,
    NodesAndEdges,
    NSlack,
    OneSlack,
    Subgradient,
    Tree,
)

ASSOCIATIVE = {"tables": "potts", "associative": True, "regularization": 0.02 / 4}  # graphs have four nodes


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
    assert model.objective_ == pytest.approx(found.fun / 4, rel=1e-6)
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
    settings = {"tables": "potts", "associative": True, "regularization": 0.02 / 4}
    dense = GraphLabeler(**settings, tolerance=1e-7).fit(featured, Y)
    sparse = [NodesAndEdges(x.nodes, x.edges, csr_matrix(x.edge_features)) for x in featured]
    assert dense.weights_[-2:].min() >= 0.0
    assert dense.table_weights_.shape == (2, 2, 2)
    assert GraphLabeler(**settings, tolerance=1e-7).fit(sparse, Y).objective_ == pytest.approx(
        dense.objective_, rel=1e-6
    )
    assert dense.objective_ == pytest.approx(hinge_by_enumeration(dense, featured, Y), rel=1e-9)
