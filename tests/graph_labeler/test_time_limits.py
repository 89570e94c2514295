"""What is returned at a time limit is at least as good as nodes that are labelled without regard to their edges."""

from dataclasses import replace

import numpy as np
import pytest
from graph_samples import random_graphs, smooth_grid
from sklearn.exceptions import ConvergenceWarning

from maximand import BeliefPropagation, Exhaustive, GraphLabeler, Greedy, LinearProgram, NodesAndEdges
from maximand.batch import Batch
from maximand.estimators.independent_nodes import without_edges
from maximand.losses import CRF, EUCLIDEAN, HINGE, RAMP
from maximand.objective import Objective


def grids(n, side):
    rng = np.random.default_rng(0)
    return zip(*(smooth_grid(rng, side, side, n_labels=3) for _ in range(n)), strict=True)


@pytest.mark.parametrize("loss", ["hinge", "ramp"])
def test_a_limit_returns_no_less_than_independent_nodes(loss):
    X, Y = grids(4, 24)
    alone = [NodesAndEdges(x.reshape(-1, 3), []) for x in X]
    least = GraphLabeler(loss=loss, regularization=1e-2, tolerance=1e-3).fit(alone, [y.ravel() for y in Y]).objective_
    model = GraphLabeler(loss=loss, regularization=1e-2, inference=LinearProgram(), max_seconds=1.0)
    with pytest.warns(ConvergenceWarning, match="max_seconds=1 was reached"):
        model.fit(X, Y)
    assert model.objective_ <= 1.02 * least
    assert len(np.unique(np.stack(model.predict(X)))) > 1


def test_a_limit_that_is_not_met_changes_nothing():
    X, Y = random_graphs(np.random.default_rng(2), 12)
    free, limited = (
        GraphLabeler(inference=BeliefPropagation(), regularization=0.05, max_seconds=limit).fit(X, Y)
        for limit in (np.inf, 600.0)
    )
    np.testing.assert_array_equal(limited.weights_, free.weights_)
    assert (limited.objective_, limited.gap_) == (free.objective_, free.gap_)


@pytest.mark.parametrize("loss", [HINGE, RAMP, CRF], ids=lambda loss: loss.name)
@pytest.mark.parametrize("inference", [Exhaustive(), BeliefPropagation(), LinearProgram(), Greedy()], ids=repr)
@pytest.mark.parametrize("associative", [False, True])
def test_the_value_without_edges_is_that_of_tables_of_zeros(loss, inference, associative):
    X, Y = random_graphs(np.random.default_rng(3), 6)
    tables = "potts" if associative else "full"
    model = GraphLabeler(tables=tables, inference=inference, associative=associative)
    _, bound, examples, annotation = model._bind(X, Y)
    if loss.needs & ~examples.space.can:
        return
    objective = Objective.of(Batch(examples, annotation, bound.cost, np.ones(6)), bound.features, loss, 0.1)
    nodes = without_edges(objective)
    weights = np.random.default_rng(0).normal(size=nodes.n_weights)
    whole = np.concatenate([weights, np.zeros(objective.n_weights - weights.size)])
    assert nodes.value(weights) == pytest.approx(objective.value(whole), rel=1e-9)
    assert without_edges(nodes) is None
    assert without_edges(replace(objective, loss=EUCLIDEAN)) is None
