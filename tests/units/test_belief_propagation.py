"""Belief propagation against enumeration, on forests where it is exact and on graphs with cycles where it is not."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp

from maximand.inference.belief_propagation import BeliefPropagation
from maximand.inference.structure import FactorGraphs, Structure
from maximand.support import Guarantee

TEMPERATURES = [1.0, 0.3, 5.0, 1e-3]


def random_forest(rng, n_nodes, width, tied=False, p_root=0.2):
    """Return a forest with ragged states, nodes in no order and edges in any direction."""
    names = rng.permutation(n_nodes)
    edges = [(v, rng.integers(v)) for v in range(1, n_nodes) if rng.random() > p_root]
    edges = [(names[u], names[v]) if rng.random() < 0.5 else (names[v], names[u]) for u, v in edges]
    states = rng.integers(1, width + 1, n_nodes)
    tables = rng.integers(0, 2, len(edges)) if tied else None
    return Structure.of(states, np.array(edges).reshape(-1, 2), tables)


def random_scores(rng, graphs, kind="normal", scale=1.0):
    theta = rng.normal(size=graphs.n_parts) * scale
    if kind == "whole":
        theta = rng.integers(-1, 2, graphs.n_parts).astype(float)
    if kind == "forbidden":
        theta[rng.random(graphs.n_parts) < 0.25] = -np.inf
    return theta


def labellings(graph, theta, width):
    """Return all labellings of one graph, their scores and their parts."""
    n, tables = graph.n_nodes, graph.n_tables
    found = np.array(list(itertools.product(*[range(s) for s in graph.states])))
    psi = np.zeros((len(found), (n + tables * width) * width))
    rows = np.arange(len(found))
    for v in range(n):
        psi[rows, v * width + found[:, v]] = 1.0
    for (u, v), t in zip(graph.edges, graph.tables, strict=True):
        psi[rows, n * width + (t * width + found[:, u]) * width + found[:, v]] += 1.0
    legal = psi[:, np.isneginf(theta)].sum(axis=1) == 0.0
    scores = psi @ np.where(np.isneginf(theta), 0.0, theta)
    return found, np.where(legal, scores, -np.inf), psi


def softened(scores, psi, temperature):
    if np.isneginf(scores).all():
        return -np.inf, np.zeros(psi.shape[1])
    value = temperature * logsumexp(scores / temperature)
    return value, np.exp((scores - value) / temperature) @ psi


FORESTS = [
    (kind, tied, seed) for kind in ("normal", "whole", "forbidden") for tied in (False, True) for seed in range(12)
]


@pytest.mark.parametrize(("kind", "tied", "seed"), FORESTS)
def test_exact_on_forests(kind, tied, seed):
    rng = np.random.default_rng(seed)
    graph = random_forest(rng, n_nodes=int(rng.integers(1, 8)), width=3, tied=tied)
    graphs = FactorGraphs.of([graph], width=int(graph.states.max()) + seed % 2)
    theta = random_scores(rng, graphs, kind)
    _, scores, psi = labellings(graph, theta, graphs.width)
    best = BeliefPropagation().argmax(graphs, theta)
    assert best.guarantee is Guarantee.EXACT
    assert best.converged.tolist() == [True]
    assert best.value[0] == pytest.approx(scores.max(), abs=1e-12)
    if np.isfinite(best.value[0]):
        chosen = np.flatnonzero((psi == best.mean).all(axis=1))
        assert chosen.size == 1
        assert scores[chosen[0]] == pytest.approx(scores.max(), abs=1e-12)
    else:
        assert not best.mean.any()
    for temperature in TEMPERATURES:
        soft = BeliefPropagation().marginals(graphs, theta, temperature)
        value, mean = softened(scores, psi, temperature)
        assert soft.guarantee is Guarantee.EXACT
        assert soft.value[0] == pytest.approx(value, abs=1e-10, rel=1e-12)
        np.testing.assert_allclose(soft.mean, mean, atol=1e-10)
        assert not soft.mean[np.isneginf(theta)].any()


@pytest.mark.parametrize("temperature", [1e-3, 5.0])
@pytest.mark.parametrize("seed", range(6))
def test_large_scores_on_forests(seed, temperature):
    rng = np.random.default_rng(seed)
    graph = random_forest(rng, n_nodes=7, width=3, p_root=0.0)
    graphs = FactorGraphs.of([graph])
    # Whole numbers and halves of the temperature apart, so that the best labelling has close rivals.
    theta = rng.integers(-2, 3, graphs.n_parts) * 100.0 + rng.integers(0, 3, graphs.n_parts) * (temperature / 2.0)
    theta[rng.random(graphs.n_parts) < 0.1] = -np.inf
    _, scores, psi = labellings(graph, theta, graphs.width)
    soft = BeliefPropagation().marginals(graphs, theta, temperature)
    value, mean = softened(scores, psi, temperature)
    assert soft.value[0] == pytest.approx(value, abs=1e-10)
    np.testing.assert_allclose(soft.mean, mean, atol=1e-9)


@pytest.mark.parametrize("k", [1, 4, 11, 18, 21])
def test_long_chains_with_many_states(k):
    rng = np.random.default_rng(0)
    n = 300
    graphs = FactorGraphs.of([Structure.of(np.full(n, k), np.stack([np.arange(n - 1), np.arange(1, n)], axis=1))])
    theta = rng.normal(size=graphs.n_parts) * 3.0
    nodes, tables = graphs.nodes(theta), graphs.tables(theta)
    hard, soft = nodes[0], nodes[0]
    for t in range(n - 1):
        hard = (hard[:, None] + tables[t]).max(axis=0) + nodes[t + 1]
        soft = logsumexp(soft[:, None] + tables[t], axis=0) + nodes[t + 1]
    assert BeliefPropagation(max_iterations=1).argmax(graphs, theta).value[0] == pytest.approx(hard.max(), rel=1e-12)
    result = BeliefPropagation(max_iterations=1).marginals(graphs, theta)
    assert result.value[0] == pytest.approx(logsumexp(soft), rel=1e-12)
    # The gradient of the soft maximum is the mean.
    step = rng.normal(size=theta.size) * 1e-5
    after, before = (BeliefPropagation().marginals(graphs, theta + s * step).value[0] for s in (1, -1))
    assert after - before == pytest.approx(2.0 * result.mean @ step, rel=1e-6)


def defined_messages(graph, nodes, tables, temperatures, damping, n_rounds):
    """Return the beliefs after rounds of messages that are written as they are defined."""
    into = {u: {} for u in range(graph.n_nodes)}
    for (u, v), t in zip(graph.edges.tolist(), graph.tables, strict=True):
        into[v][u], into[u][v] = tables[t], tables[t].T
    old = {(u, v): np.zeros(nodes.shape[1]) for v in into for u in into[v]}
    for _ in range(n_rounds):
        new = {}
        for u, v in old:
            belief = nodes[u] + sum(old[w, u] for w in into[u])
            scores = (belief - old[v, u])[:, None] + into[v][u]
            if temperatures[u] > 0.0:
                message = temperatures[u] * logsumexp(scores / temperatures[u], axis=0)
            else:
                message = scores.max(axis=0) if temperatures[v] == 0.0 else scores[np.argmax(belief)]
            message = (1.0 - damping) * (message - message.max()) + damping * old[u, v]
            new[u, v] = message - message.max()
        old = new
    return np.array([nodes[u] + sum(old[w, u] for w in into[u]) for u in into])


@pytest.mark.parametrize("damping", [0.0, 0.4])
@pytest.mark.parametrize("tied", [False, True])
def test_messages_are_what_they_are_defined_to_be(tied, damping):
    rng = np.random.default_rng(6)
    graph = Structure.grid(3, 4, 3, diagonals=True, tied=tied)
    graphs = FactorGraphs.of([graph])
    theta = rng.normal(size=graphs.n_parts)
    bp = BeliefPropagation(max_iterations=4, damping=damping, tolerance=0.0)
    for choices in ([0.0], [0.5], [0.0, 1.0], [0.0, 0.5, 2.0]):
        temperatures = rng.choice(choices, graph.n_nodes)
        beliefs = defined_messages(graph, graphs.nodes(theta), graphs.tables(theta), temperatures, damping, 4)
        mean = graphs.nodes(bp.mixed(graphs, theta, temperatures).mean)
        for u, temperature in enumerate(temperatures):
            if temperature == 0.0:
                assert np.argmax(mean[u]) == np.argmax(beliefs[u])
            else:
                soft = np.exp((beliefs[u] - temperature * logsumexp(beliefs[u] / temperature)) / temperature)
                np.testing.assert_allclose(mean[u], soft, atol=1e-12)


def frustrated(n_nodes=3):
    """Return a complete graph of two states whose nodes all want to differ."""
    graph = Structure.complete(n_nodes, 2)
    graphs = FactorGraphs.of([graph])
    theta = np.zeros(graphs.n_parts)
    graphs.tables(theta)[:] = -3.0 * np.eye(2)
    graphs.nodes(theta)[:, 0] = 0.1 * np.arange(1, n_nodes + 1)
    return graph, graphs, theta


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_graphs_with_cycles(seed, residual):
    rng = np.random.default_rng(seed)
    graph = Structure.grid(2, 3, 3, diagonals=bool(seed % 2), tied=bool(seed % 3))
    graphs = FactorGraphs.of([graph])
    bp = BeliefPropagation(damping=0.3, residual=residual)
    theta = random_scores(rng, graphs, "forbidden" if seed % 4 == 3 else "normal")
    _, scores, _ = labellings(graph, theta, 3)
    best = bp.argmax(graphs, theta)
    assert best.guarantee is Guarantee.UNDER
    assert best.value[0] <= scores.max() + 1e-12
    # Loose tables: what sum-product says is nearly right.
    theta[graphs.n_node_parts :] *= 0.05
    _, scores, psi = labellings(graph, theta, 3)
    soft = bp.marginals(graphs, theta)
    value, mean = softened(scores, psi, 1.0)
    assert soft.guarantee is Guarantee.ESTIMATE
    if np.isfinite(theta).all():
        assert soft.converged.all()
        assert soft.value[0] == pytest.approx(value, abs=1e-3)
        np.testing.assert_allclose(soft.mean, mean, atol=5e-3)
    assert not soft.mean[np.isneginf(theta)].any()
    # The beliefs of an edge agree with those of its ends.
    if soft.converged.all() and np.isfinite(value):
        np.testing.assert_allclose(graphs.tables(soft.mean).sum(), len(graph.edges), atol=1e-9)


def test_schedules_meet_in_one_fixed_point():
    rng = np.random.default_rng(1)
    graphs = FactorGraphs.of([Structure.grid(4, 5, 3, tied=False)] * 3)
    theta = rng.normal(size=graphs.n_parts)
    theta[graphs.n_node_parts :] *= 0.5
    methods = [BeliefPropagation(damping=d, residual=r, max_iterations=500) for d in (0.0, 0.4) for r in (False, True)]
    soft = [bp.marginals(graphs, theta) for bp in methods]
    hard = [bp.argmax(graphs, theta) for bp in methods]
    for one, other in zip(soft, hard, strict=True):
        assert one.converged.all()
        np.testing.assert_allclose(one.mean, soft[0].mean, atol=1e-7)
        np.testing.assert_allclose(one.value, soft[0].value, rtol=1e-9)
        if other.converged.all() and hard[0].converged.all():
            np.testing.assert_array_equal(other.mean, hard[0].mean)


@pytest.mark.parametrize("residual", [False, True])
def test_says_when_messages_have_not_settled(residual):
    _, graphs, theta = frustrated(6)
    few = BeliefPropagation(max_iterations=1, residual=residual)
    for support in (few.argmax(graphs, theta), few.marginals(graphs, theta)):
        assert support.converged.dtype == np.bool_
        assert support.converged.tolist() == [False]
    assert BeliefPropagation(residual=residual).marginals(graphs, theta, temperature=20.0).converged.tolist() == [True]


def test_nothing_is_left():
    # A cycle of two states whose neighbours must differ, of odd length: no labelling, but no node knows.
    graph, graphs, theta = frustrated()
    graphs.tables(theta)[:] = np.where(np.eye(2) > 0.0, -np.inf, 0.0)
    assert BeliefPropagation().argmax(graphs, theta).value[0] == -np.inf
    # All states of a node, and all pairs of an edge, are forbidden.
    for forest in (Structure.of([2, 2], [(0, 1)]), graph):
        graphs = FactorGraphs.of([forest, forest, forest])
        theta = np.zeros(graphs.n_parts)
        graphs.nodes(theta)[0] = -np.inf
        graphs.tables(theta)[graphs.table_offsets[2]] = -np.inf
        half = np.where(np.arange(graphs.node_offsets[-1]) % 2, 0.5, 0.0)
        bp = BeliefPropagation()
        for support in (bp.argmax(graphs, theta), bp.marginals(graphs, theta), bp.mixed(graphs, theta, half)):
            assert np.isneginf(support.value).tolist() == [True, False, True]
            assert not graphs.nodes(support.mean)[: graphs.node_offsets[1]].any()
            assert not graphs.nodes(support.mean)[graphs.node_offsets[2] :].any()
            assert not graphs.tables(support.mean)[graphs.table_offsets[2] :].any()


def test_mixed_of_one_temperature_is_argmax_or_marginals():
    rng = np.random.default_rng(2)
    shapes = [random_forest(rng, 6, 3), Structure.grid(3, 3, 3), random_forest(rng, 5, 3, tied=True)]
    graphs = FactorGraphs.of(shapes, width=3)
    theta = random_scores(rng, graphs, "forbidden")
    bp = BeliefPropagation()
    for temperature in (0.0, 0.7):
        one = bp.mixed(graphs, theta, np.full(graphs.node_offsets[-1], temperature))
        other = bp.argmax(graphs, theta) if temperature == 0.0 else bp.marginals(graphs, theta, temperature)
        assert one.guarantee is Guarantee.ESTIMATE
        for field in ("value", "mean", "converged"):
            np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


def marginal_map(graph, theta, width, temperatures, cold):
    """Return the maximum over the cold nodes of the soft maximum over the others, of one temperature, and the mean."""
    found, scores, psi = labellings(graph, theta, width)
    answers = []
    for y in np.unique(found[:, cold], axis=0):
        given = (found[:, cold] == y).all(axis=1)
        answers.append(softened(scores[given], psi[given], temperatures.max()))
    return max(answers, key=lambda answer: answer[0])


@pytest.mark.parametrize("temperature", [1.0, 0.2])
@pytest.mark.parametrize("seed", range(10))
def test_mixed_is_exact_where_the_maximised_nodes_are_connected(seed, temperature):
    rng = np.random.default_rng(seed)
    graph = random_forest(rng, 7, 3, tied=bool(seed % 2), p_root=0.0)
    graphs = FactorGraphs.of([graph], width=3)
    theta = random_scores(rng, graphs, "forbidden" if seed % 3 == 2 else "normal", scale=2.0)
    # Grow the maximised part from a random node along edges.
    cold = [int(rng.integers(7))]
    while len(cold) < 3:
        near = {int(v) for edge in graph.edges for v in edge if set(edge.tolist()) & set(cold)}
        cold.append(min(near - set(cold)))
    temperatures = np.full(7, temperature)
    temperatures[cold] = 0.0
    support = BeliefPropagation().mixed(graphs, theta, temperatures)
    value, mean = marginal_map(graph, theta, 3, temperatures, cold)
    assert support.value[0] == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(support.mean, mean, atol=1e-9)
    assert support.converged.all()


@pytest.mark.parametrize("residual", [False, True])
def test_mixed_with_hidden_nodes_on_a_cycle_of_outputs(residual):
    # A strongly coupled cycle of outputs with a hidden leaf each: max-product finds the best, the leaves are summed.
    rng = np.random.default_rng(5)
    edges = [(0, 1), (1, 2), (2, 3), (0, 3), (0, 4), (1, 5), (2, 6), (7, 3)]
    graph = Structure.of(np.full(8, 2), edges)
    graphs = FactorGraphs.of([graph])
    theta = rng.normal(size=graphs.n_parts)
    graphs.tables(theta)[:4] = 0.3 * np.eye(2)
    temperatures = np.repeat([0.0, 1.0], 4)
    support = BeliefPropagation(residual=residual).mixed(graphs, theta, temperatures)
    _, mean = marginal_map(graph, theta, 2, temperatures, [0, 1, 2, 3])
    assert support.converged.all()
    np.testing.assert_allclose(support.mean, mean, atol=1e-6)


def test_two_temperatures_nest_on_an_edge():
    # The hotter end is inside: tau_0 log sum_a exp((theta_a + tau_1 log sum_b exp((theta_b + T) / tau_1)) / tau_0).
    rng = np.random.default_rng(3)
    for edge in ((0, 1), (1, 0)):
        graphs = FactorGraphs.of([Structure.of([3, 4], [edge])])
        theta = rng.normal(size=graphs.n_parts)
        (a, b), table = graphs.nodes(theta), graphs.tables(theta)[0]
        table = table if edge == (0, 1) else table.T
        support = BeliefPropagation().mixed(graphs, theta, np.array([0.4, 1.5]))
        inner = 1.5 * logsumexp((b + table) / 1.5, axis=1)
        scores = (a + inner)[:3]
        assert support.value[0] == pytest.approx(0.4 * logsumexp(scores / 0.4))
        np.testing.assert_allclose(graphs.nodes(support.mean)[0, :3], np.exp((scores - support.value[0]) / 0.4))
        assert graphs.tables(support.mean).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("residual", [False, True])
def test_a_batch_is_its_examples(residual):
    rng = np.random.default_rng(4)
    shapes = [random_forest(rng, 6, 4, tied=bool(i % 2)) for i in range(4)]
    shapes += [Structure.grid(3, 4, 4), Structure.complete(5, 2), Structure.edgeless(2, 3), shapes[0], shapes[1]]
    shapes = [shapes[i] for i in rng.permutation(len(shapes))]
    graphs = FactorGraphs.of(shapes, width=4)
    theta = random_scores(rng, graphs, "forbidden")
    temperatures = rng.choice([0.0, 0.5, 2.0], graphs.node_offsets[-1])
    bp = BeliefPropagation(residual=residual, damping=0.2)
    together = [bp.argmax(graphs, theta), bp.marginals(graphs, theta, 0.5), bp.mixed(graphs, theta, temperatures)]
    assert together[0].guarantee is Guarantee.UNDER
    for i in range(graphs.n_examples):
        nodes = slice(graphs.node_offsets[i], graphs.node_offsets[i + 1])
        tables = slice(graphs.table_offsets[i], graphs.table_offsets[i + 1])

        def part(of, nodes=nodes, tables=tables):
            return np.concatenate([graphs.nodes(of)[nodes].ravel(), graphs.tables(of)[tables].ravel()])

        one, own = graphs.take(np.array([i])), part(theta)
        alone = [bp.argmax(one, own), bp.marginals(one, own, 0.5), bp.mixed(one, own, temperatures[nodes])]
        for support, all_ in zip(alone, together, strict=True):
            np.testing.assert_array_equal(support.value[0], all_.value[i])
            np.testing.assert_array_equal(support.mean, part(all_.mean))
            assert support.converged[0] == all_.converged[i]


def test_refuses_what_makes_no_sense():
    graphs = FactorGraphs.of([Structure.edgeless(2, 2)])
    with pytest.raises(ValueError, match="2 nodes of the batch a temperature"):
        BeliefPropagation().mixed(graphs, np.zeros(graphs.n_parts), np.array([1.0, -1.0]))
    for options in ({"max_iterations": 0}, {"damping": 1.0}, {"tolerance": -1.0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            BeliefPropagation(**options)
