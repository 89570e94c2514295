"""Belief propagation against enumeration, on forests where it is exact and on graphs with cycles where it is not."""

import numpy as np
import pytest
from enumerated_graphs import labellings, random_forest, random_scores, softened
from scipy.special import logsumexp

from maximand.inference.belief_propagation import BeliefPropagation
from maximand.inference.structure import FactorGraphs, Structure
from maximand.support import Guarantee

TEMPERATURES = [1.0, 0.3, 5.0, 1e-3]


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


def defined_messages(graph, nodes, tables, temperatures, hidden, damping, n_rounds):
    """Return the beliefs after rounds of messages that are written as they are defined."""
    into = {u: {} for u in range(graph.n_nodes)}
    for (u, v), t in zip(graph.edges.tolist(), graph.tables, strict=True):
        into[v][u], into[u][v] = tables[t], tables[t].T
    old = {(u, v): np.zeros(nodes.shape[1]) for v in into for u in into[v]}
    for _ in range(n_rounds):
        new = {}
        for u, v in old:
            belief = nodes[u] + sum(old[w, u] for w in into[u])
            scores = into[v][u] - old[v, u][:, None]
            own, shared = temperatures[int(hidden[u])], temperatures[int(hidden[u] or hidden[v])]
            if own > 0.0:
                message = shared * logsumexp(belief[:, None] / own + scores / shared, axis=0)
            else:
                message = (belief[:, None] + scores).max(axis=0) if shared == 0.0 else scores[np.argmax(belief)]
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
    hidden = rng.random(graph.n_nodes) < 0.5
    for temperatures in ((0.0, 0.0), (0.5, 0.5), (0.0, 1.0), (0.5, 2.0), (2.0, 0.5)):
        beliefs = defined_messages(graph, graphs.nodes(theta), graphs.tables(theta), temperatures, hidden, damping, 4)
        mean = graphs.nodes(bp.mixed(graphs, theta, temperatures, hidden).mean)
        for u, temperature in enumerate(np.where(hidden, *temperatures[::-1])):
            if temperature == 0.0:
                assert np.argmax(mean[u]) == np.argmax(beliefs[u])
            elif temperatures[0] > 0.0:
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
        half = np.arange(graphs.node_offsets[-1]) % 2 == 1
        bp = BeliefPropagation()
        mixed = [bp.mixed(graphs, theta, temperatures, half) for temperatures in ((0.0, 0.5), (0.3, 0.5), (0.5, 0.3))]
        for support in (bp.argmax(graphs, theta), bp.marginals(graphs, theta), *mixed):
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
        hidden = rng.random(graphs.node_offsets[-1]) < 0.5
        one = bp.mixed(graphs, theta, (temperature, temperature), hidden)
        other = bp.argmax(graphs, theta) if temperature == 0.0 else bp.marginals(graphs, theta, temperature)
        assert one.guarantee is other.guarantee
        for field in ("value", "mean", "converged"):
            np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


@pytest.mark.parametrize("residual", [False, True])
def test_a_batch_is_its_examples(residual):
    rng = np.random.default_rng(4)
    shapes = [random_forest(rng, 6, 4, tied=bool(i % 2)) for i in range(4)]
    shapes += [Structure.grid(3, 4, 4), Structure.complete(5, 2), Structure.edgeless(2, 3), shapes[0], shapes[1]]
    shapes = [shapes[i] for i in rng.permutation(len(shapes))]
    graphs = FactorGraphs.of(shapes, width=4)
    theta = random_scores(rng, graphs, "forbidden")
    hidden = rng.random(graphs.node_offsets[-1]) < 0.4
    bp = BeliefPropagation(residual=residual, damping=0.2)
    pairs = (0.0, 0.5), (0.5, 2.0), (2.0, 0.5)
    together = [bp.argmax(graphs, theta), bp.marginals(graphs, theta, 0.5)]
    together += [bp.mixed(graphs, theta, pair, hidden) for pair in pairs]
    assert together[0].guarantee is Guarantee.UNDER
    for i in range(graphs.n_examples):
        nodes = slice(graphs.node_offsets[i], graphs.node_offsets[i + 1])
        tables = slice(graphs.table_offsets[i], graphs.table_offsets[i + 1])

        def part(of, nodes=nodes, tables=tables):
            return np.concatenate([graphs.nodes(of)[nodes].ravel(), graphs.tables(of)[tables].ravel()])

        one, own = graphs.take(np.array([i])), part(theta)
        alone = [bp.argmax(one, own), bp.marginals(one, own, 0.5)]
        alone += [bp.mixed(one, own, pair, hidden[nodes]) for pair in pairs]
        for support, all_ in zip(alone, together, strict=True):
            np.testing.assert_array_equal(support.value[0], all_.value[i])
            np.testing.assert_array_equal(support.mean, part(all_.mean))
            assert support.converged[0] == all_.converged[i]


def test_refuses_what_makes_no_sense():
    graphs = FactorGraphs.of([Structure.edgeless(2, 2)])
    for hidden in (np.ones(3, dtype=bool), [0, 1]):
        with pytest.raises(ValueError, match="2 nodes of the batch whether it is hidden"):
            BeliefPropagation().mixed(graphs, np.zeros(graphs.n_parts), (1.0, 0.5), hidden)
    for temperatures, words in (
        ((1.0, -1.0), "at least 0"),
        ((np.nan, 1.0), "at least 0"),
        ((1.0, 0.0), "such as 0.001"),
    ):
        with pytest.raises(ValueError, match=words):
            BeliefPropagation().mixed(graphs, np.zeros(graphs.n_parts), temperatures, np.array([True, False]))
    for options in ({"max_iterations": 0}, {"damping": 1.0}, {"tolerance": -1.0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            BeliefPropagation(**options)


def answers(inference, graphs, theta, hidden, states=(None, None, None)):
    return (
        inference.argmax(graphs, theta, states[0]),
        inference.marginals(graphs, theta, 1.0, states[1]),
        inference.mixed(graphs, theta, (0.0, 1.0), hidden, states[2]),
    )


@pytest.mark.parametrize("residual", [False, True])
def test_warm_starts_change_the_number_of_sweeps_and_not_the_fixed_point(residual):
    rng = np.random.default_rng(0)
    graphs = FactorGraphs.of([Structure.grid(4, 5, 3), Structure.grid(2, 3, 3)])
    theta, hidden = 0.5 * rng.normal(size=graphs.n_parts), rng.random(26) < 0.5
    settings = {"tolerance": 1e-12, "residual": residual, "warm_start": True}
    once = answers(BeliefPropagation(**settings, max_iterations=500), graphs, theta, hidden)
    states = [found.state for found in once]
    again = answers(BeliefPropagation(**settings, max_iterations=1), graphs, theta, hidden, states)
    cold = answers(BeliefPropagation(**{**settings, "warm_start": False}, max_iterations=500), graphs, theta, hidden)
    for first, second, other in zip(once, again, cold, strict=True):
        assert first.converged.all() and second.converged.all() and other.state is None
        np.testing.assert_array_equal(first.mean, other.mean)
        np.testing.assert_allclose(second.value, first.value, atol=1e-9)
        np.testing.assert_allclose(second.mean, first.mean, atol=1e-9)
    some = [state.take(np.array([1])) for state in states]
    part = graphs.take(np.array([1]))
    alone = answers(
        BeliefPropagation(**settings), part, graphs.layout.pick(theta, np.array([1]), part.layout), hidden[20:], some
    )
    for found, whole in zip(alone, once, strict=True):
        np.testing.assert_allclose(found.value, whole.value[1:], atol=1e-9)
