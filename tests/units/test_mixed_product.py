"""Mixed-product belief propagation against enumeration: exact where outputs are connected, honest elsewhere."""

import numpy as np
import pytest
from enumerated_graphs import labellings, random_forest, random_scores, softened

from maximand.inference.belief_propagation import BeliefPropagation
from maximand.inference.structure import FactorGraphs, Structure
from maximand.support import Guarantee

PAIRS = [(0.3, 0.7), (0.7, 0.3), (1e-3, 1.0), (1.0, 1e-3), (1.0, 1.0), (0.5, 0.5), (0.0, 1.0), (0.0, 0.2), (2.0, 0.1)]


def enumerated(graph, theta, width, temperatures, hidden):
    """Return the soft maximum over outputs of that over hidden nodes, and the mean."""
    outer, inner = temperatures
    found, scores, psi = labellings(graph, theta, width)
    within = []
    for y in np.unique(found[:, ~hidden], axis=0):
        given = (found[:, ~hidden] == y).all(axis=1)
        within.append(softened(scores[given], psi[given], inner))
    values, means = np.array([value for value, _ in within]), np.array([mean for _, mean in within])
    if outer == 0.0 or np.isneginf(values).all():
        return max(within, key=lambda answer: answer[0])
    return softened(values, means, outer)


def with_connected_outputs(rng, graph, n_outputs):
    """Say which nodes are hidden when outputs grow along edges from a random node of a tree."""
    hidden = np.ones(graph.n_nodes, dtype=bool)
    hidden[rng.integers(graph.n_nodes)] = False
    while (~hidden).sum() < n_outputs:
        across = graph.edges[hidden[graph.edges].sum(axis=1) == 1]
        hidden[across[rng.integers(len(across))]] = False
    return hidden


@pytest.mark.parametrize("temperatures", PAIRS)
def test_an_edge_with_a_hidden_end(temperatures):
    rng = np.random.default_rng(3)
    for edge in ((0, 1), (1, 0)):
        graph = Structure.of([3, 4], [edge])
        graphs, hidden = FactorGraphs.of([graph]), np.array([False, True])
        theta = rng.normal(size=graphs.n_parts)
        support = BeliefPropagation().mixed(graphs, theta, temperatures, hidden)
        value, mean = enumerated(graph, theta, 4, temperatures, hidden)
        assert support.guarantee is Guarantee.EXACT
        assert support.value[0] == pytest.approx(value, abs=1e-12)
        np.testing.assert_allclose(support.mean, mean, atol=1e-12)


@pytest.mark.parametrize("temperatures", PAIRS)
@pytest.mark.parametrize("kind", ["normal", "forbidden", "whole"])
@pytest.mark.parametrize("seed", range(6))
def test_exact_where_the_outputs_of_a_tree_are_connected(seed, kind, temperatures):
    rng = np.random.default_rng(seed)
    graph = random_forest(rng, 7, 3, tied=bool(seed % 2), p_root=0.0)
    graphs = FactorGraphs.of([graph], width=3)
    theta = random_scores(rng, graphs, kind, scale=2.0)
    hidden = with_connected_outputs(rng, graph, 1 + seed % 4)
    support = BeliefPropagation().mixed(graphs, theta, temperatures, hidden)
    value, mean = enumerated(graph, theta, 3, temperatures, hidden)
    assert support.converged.all()
    assert support.guarantee is Guarantee.EXACT
    assert support.value[0] == pytest.approx(value, abs=1e-9)
    if temperatures[0] > 0.0 or kind != "whole":
        np.testing.assert_allclose(support.mean, mean, atol=1e-9)
    elif np.isfinite(value):  # any of the best outputs
        found = graphs.nodes(support.mean)
        states = np.argmax(found, axis=1)
        fixed = theta.copy()
        graphs.nodes(fixed)[~hidden[:, None] & (np.arange(3) != states[:, None])] = -np.inf
        given_value, given_mean = enumerated(graph, fixed, 3, temperatures, hidden)
        assert given_value == pytest.approx(value, abs=1e-9)
        np.testing.assert_allclose(support.mean, given_mean, atol=1e-9)


@pytest.mark.parametrize("temperatures", [(0.3, 0.7), (0.7, 0.3), (0.0, 1.0)])
def test_the_gradient_is_the_mean(temperatures):
    rng = np.random.default_rng(8)
    graph = random_forest(rng, 30, 3, p_root=0.1)
    graphs = FactorGraphs.of([graph], width=3)
    theta, step = rng.normal(size=graphs.n_parts), 1e-6 * rng.normal(size=graphs.n_parts)
    hidden = np.bincount(graph.edges.ravel(), minlength=30) == 1  # the leaves
    bp = BeliefPropagation()
    after, before = (bp.mixed(graphs, theta + s * step, temperatures, hidden).value[0] for s in (1, -1))
    mean = bp.mixed(graphs, theta, temperatures, hidden).mean
    assert after - before == pytest.approx(2.0 * mean @ step, rel=1e-5)


@pytest.mark.parametrize("temperatures", [(0.3, 0.7), (0.7, 0.3), (0.0, 0.7)])
def test_says_what_it_is_worth_where_outputs_are_apart(temperatures):
    rng = np.random.default_rng(0)
    graph = Structure.of([2, 2, 2], [(0, 1), (1, 2)])
    graphs, hidden = FactorGraphs.of([graph]), np.array([False, True, False])
    guarantee = Guarantee.ESTIMATE if temperatures[0] else Guarantee.UNDER
    off = []
    for _ in range(20):
        theta = 3.0 * rng.normal(size=graphs.n_parts)
        support = BeliefPropagation().mixed(graphs, theta, temperatures, hidden)
        value, _ = enumerated(graph, theta, 2, temperatures, hidden)
        assert support.guarantee is guarantee
        off.append(support.value[0] - value)
    assert max(np.abs(off)) > 1e-6
    if guarantee is Guarantee.UNDER:
        assert max(off) < 1e-12
    # With outputs of several graphs, one of which is connected, and with cycles.
    both = FactorGraphs.of([graph, Structure.of([2, 2], [(0, 1)])])
    hidden = np.array([False, True, False, False, True])
    assert BeliefPropagation().mixed(both, np.zeros(both.n_parts), temperatures, hidden).guarantee is guarantee
    cycle = FactorGraphs.of([Structure.complete(3)])
    support = BeliefPropagation().mixed(cycle, np.zeros(cycle.n_parts), temperatures, hidden[:3])
    assert support.guarantee is Guarantee.ESTIMATE


@pytest.mark.parametrize("temperatures", [(0.0, 1.0), (0.3, 0.7), (0.7, 0.3)])
@pytest.mark.parametrize("residual", [False, True])
def test_hidden_leaves_on_a_cycle_of_outputs(residual, temperatures):
    # A weakly coupled cycle of outputs with a hidden leaf each: the leaves are summed out exactly.
    rng = np.random.default_rng(5)
    edges = [(0, 1), (1, 2), (2, 3), (0, 3), (0, 4), (1, 5), (2, 6), (7, 3)]
    graph = Structure.of(np.full(8, 2), edges)
    graphs, hidden = FactorGraphs.of([graph]), np.arange(8) >= 4
    theta = rng.normal(size=graphs.n_parts)
    graphs.tables(theta)[:4] = 0.1 * np.eye(2)
    support = BeliefPropagation(residual=residual).mixed(graphs, theta, temperatures, hidden)
    _, mean = enumerated(graph, theta, 2, temperatures, hidden)
    assert support.converged.all()
    np.testing.assert_allclose(support.mean, mean, atol=1e-6 if temperatures[0] == 0.0 else 1e-3)
