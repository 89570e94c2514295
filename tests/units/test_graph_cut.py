"""Graph cuts against linear programs, enumeration and another maximum flow."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from maximand.inference.graph_cut import GraphCut
from maximand.inference.structure import FactorGraphs, Structure
from maximand.numerics.max_flow import cut_large, cut_small, network
from maximand.support import Guarantee

SEEDS = range(20)


def random_graph(rng, n_nodes=None, most=2, least=1):
    """Return a graph with edges in any direction, some nodes of fewer states and some tables that are shared."""
    n = int(rng.integers(1, 8)) if n_nodes is None else n_nodes
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    pairs = pairs[rng.random(len(pairs)) < rng.choice([0.3, 0.6, 1.0])]
    pairs = np.where(rng.random((len(pairs), 1)) < 0.5, pairs, pairs[:, ::-1])
    tables = rng.integers(0, 3, len(pairs)) if rng.random() < 0.3 else None
    states = np.where(rng.random(n) < 0.15, rng.integers(least, most + 1, n), most)
    return Structure.of(states, pairs, tables)


def random_scores(rng, graphs, kind="normal"):
    theta = rng.normal(size=graphs.n_parts)
    if kind == "whole":
        theta = rng.integers(-1, 2, graphs.n_parts).astype(float)
    if kind == "attractive" and graphs.n_parts > graphs.n_node_parts:
        tables = graphs.tables(theta)
        short = np.minimum(0.0, tables[:, 0, 0] + tables[:, 1, 1] - tables[:, 0, 1] - tables[:, 1, 0])
        tables[:, 0, 0] -= short
    if kind == "forbidden":
        theta[rng.random(graphs.n_parts) < 0.15] = -np.inf
    return theta


def scores_of(graph, theta, width):
    """Return all labellings of one graph and their scores."""
    found = np.array(list(itertools.product(*[range(s) for s in graph.states])))
    nodes = theta[: graph.n_nodes * width].reshape(-1, width)
    tables = theta[graph.n_nodes * width :].reshape(-1, width, width)
    scores = nodes[np.arange(graph.n_nodes), found].sum(axis=1)
    for (u, v), t in zip(graph.edges, graph.tables, strict=True):
        scores = scores + tables[t, found[:, u], found[:, v]]
    return found, scores


def program_value(graph, theta, width):
    """Return the maximum over the local polytope, every edge with a table of its own."""
    nodes = theta[: graph.n_nodes * width].reshape(-1, width)
    tables = theta[graph.n_nodes * width :].reshape(-1, width, width)
    scores, rows, right = [], [], []
    place = {}
    for v in range(graph.n_nodes):
        for k in range(graph.states[v]):
            place[v, k] = len(scores)
            scores.append(nodes[v, k])
        rows.append([(place[v, k], 1.0) for k in range(graph.states[v])])
        right.append(1.0)
    for (u, v), t in zip(graph.edges, graph.tables, strict=True):
        start, shape = len(scores), (graph.states[u], graph.states[v])
        scores.extend(tables[t, : shape[0], : shape[1]].ravel())
        own = np.arange(start, len(scores)).reshape(shape)
        rows += [[(place[u, k], -1.0), *((p, 1.0) for p in own[k])] for k in range(shape[0])]
        rows += [[(place[v, l], -1.0), *((p, 1.0) for p in own[:, l])] for l in range(shape[1])]
        right += [0.0] * sum(shape)
    scores = np.array(scores)
    matrix = np.zeros((len(rows), scores.size))
    for r, row in enumerate(rows):
        for p, entry in row:
            matrix[r, p] = entry
    allowed = np.isfinite(scores)
    found = linprog(-np.where(allowed, scores, 0.0), A_eq=matrix, b_eq=right, bounds=[(0, float(a)) for a in allowed])
    return -found.fun if found.status == 0 else -np.inf


def dot(theta, mean):
    used = mean != 0.0
    return theta[used] @ mean[used]


@pytest.mark.parametrize("kind", ["normal", "whole", "attractive", "forbidden"])
def test_relaxation_is_the_linear_program(kind):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        graph = Structure.complete(6) if seed % 4 == 0 else random_graph(rng)
        graphs = FactorGraphs.of([graph], width=2 + seed % 2)
        theta = random_scores(rng, graphs, kind)
        found = GraphCut().argmax(graphs, theta)
        value, mean = found.value[0], found.mean
        assert value == pytest.approx(program_value(graph, theta, graphs.width), abs=1e-7)
        labellings, scores = scores_of(graph, theta, graphs.width)
        assert value >= scores.max() - 1e-12
        if value == -np.inf:
            assert not mean.any()
            continue
        assert value == pytest.approx(dot(theta, mean), abs=1e-12)
        nodes, tables = graphs.nodes(mean), graphs.tables(mean)
        assert set(np.unique(nodes)) <= {0.0, 0.5, 1.0}
        np.testing.assert_array_equal(nodes.sum(axis=1), 1.0)
        left, right = np.zeros((2, len(tables), graphs.width))
        np.add.at(left, graph.tables, nodes[graph.edges[:, 0]])
        np.add.at(right, graph.tables, nodes[graph.edges[:, 1]])
        np.testing.assert_allclose(tables.sum(axis=2), left, atol=1e-12)
        np.testing.assert_allclose(tables.sum(axis=1), right, atol=1e-12)
        assert mean.min() >= 0.0
        decided = nodes.max(axis=1) == 1.0
        assert found.guarantee is (Guarantee.EXACT if decided.all() else Guarantee.OVER)
        if np.isfinite(scores.max()):  # decided labels are part of a best labelling
            best = labellings[scores >= scores.max() - 1e-9]
            assert (best[:, decided] == nodes.argmax(axis=1)[decided]).all(axis=1).any()
        if kind == "attractive":
            assert decided.all()


def test_cycles_with_an_even_number_of_repelling_edges_are_exact():
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        graph = Structure.grid(2, 4, tied=False)
        graphs = FactorGraphs.of([graph])
        theta = random_scores(rng, graphs, "attractive")
        turned = rng.random(8) < 0.5
        nodes, tables = graphs.nodes(theta), graphs.tables(theta)
        nodes[turned] = nodes[turned, ::-1]
        tables[turned[graph.edges[:, 0]]] = tables[turned[graph.edges[:, 0]], ::-1]
        tables[turned[graph.edges[:, 1]]] = tables[turned[graph.edges[:, 1]], :, ::-1]
        found = GraphCut().argmax(graphs, theta)
        assert found.guarantee is Guarantee.EXACT
        assert found.value[0] == pytest.approx(scores_of(graph, theta, 2)[1].max(), abs=1e-12)


@pytest.mark.parametrize("height", [8, 40])
def test_large_graphs(height):
    """A network of more than 64 nodes is cut as lists of arcs."""
    graph = Structure.grid(height, 2, tied=False)
    graphs = FactorGraphs.of([graph] * 3)
    theta = np.random.default_rng(height).normal(size=graphs.n_parts)
    found = GraphCut().argmax(graphs, theta)
    nodes, tables = graphs.nodes(theta).reshape(3, -1), graphs.tables(theta).reshape(3, -1)
    for i in range(3):
        assert found.value[i] == pytest.approx(program_value(graph, np.append(nodes[i], tables[i]), 2), abs=1e-6)


@pytest.mark.parametrize("inference", [GraphCut(), GraphCut(expansion=True)])
@pytest.mark.parametrize("kind", ["normal", "whole", "forbidden"])
def test_batches_are_as_good_as_single_calls(inference, kind):
    rng = np.random.default_rng(3)
    most = 4 if inference.expansion else 2
    shapes = [random_graph(rng, most=most) for _ in range(6)] + [Structure.grid(9, 8, 2)]
    graphs = FactorGraphs.of([shapes[s] for s in rng.integers(0, len(shapes), 30)], width=most)
    theta = random_scores(rng, graphs, kind)
    together = inference.argmax(graphs, theta)
    for i in range(graphs.n_examples):
        one = graphs.take(np.array([i]))
        at, table_at = slice(*graphs.node_offsets[i : i + 2]), slice(*graphs.table_offsets[i : i + 2])
        own = np.append(graphs.nodes(theta)[at], graphs.tables(theta)[table_at])
        alone = inference.argmax(one, own)
        assert together.value[i] == alone.value[0]
        np.testing.assert_array_equal(graphs.nodes(together.mean)[at], one.nodes(alone.mean))
        np.testing.assert_array_equal(graphs.tables(together.mean)[table_at], one.tables(alone.mean))
        if inference.expansion:
            assert together.converged[i] == alone.converged[0]


def test_expansion_of_two_states_is_exact_where_the_relaxation_is():
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        graphs = FactorGraphs.of([random_graph(rng)], width=2)
        theta = random_scores(rng, graphs, "attractive" if seed % 2 else "normal")
        relaxed, found = GraphCut().argmax(graphs, theta), GraphCut(expansion=True).argmax(graphs, theta)
        assert (found.guarantee is Guarantee.EXACT) == (relaxed.guarantee is Guarantee.EXACT)
        if found.guarantee is Guarantee.EXACT:
            np.testing.assert_array_equal(found.mean, relaxed.mean)
        else:
            assert found.value[0] <= relaxed.value[0] + 1e-12


@pytest.mark.parametrize("kind", ["normal", "whole", "forbidden"])
def test_expansion_is_between_its_start_and_the_best(kind):
    """Any scores: what moves cannot decide stays. States that a node does not have are never taken."""
    gaps = []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, n_nodes=6, most=3)
        graphs = FactorGraphs.of([graph], width=3)
        theta = random_scores(rng, graphs, kind)
        found = GraphCut(expansion=True).argmax(graphs, theta)
        labellings, scores = scores_of(graph, theta, 3)
        nodes = np.where(np.arange(3) < graph.states[:, None], graphs.nodes(theta), -np.inf)
        start = scores[(labellings == nodes.argmax(axis=1)).all(axis=1)][0]
        assert start - 1e-12 <= found.value[0] <= scores.max() + 1e-12
        if np.isfinite(found.value[0]):
            chosen = graphs.nodes(found.mean).argmax(axis=1)
            assert (chosen < graph.states).all()
            assert found.value[0] == pytest.approx(scores[(labellings == chosen).all(axis=1)][0], abs=1e-12)
        gaps.append(scores.max() - found.value[0] if np.isfinite(scores.max()) else 0.0)
    assert np.median(gaps) < 0.5


def test_expansion_of_small_potts_graphs_is_mostly_the_best():
    hits = 0
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        graph = Structure.grid(3, 3, 3)
        graphs = FactorGraphs.of([graph])
        theta = rng.normal(size=graphs.n_parts)
        graphs.tables(theta)[:] = 0.7 * np.eye(3)
        found = GraphCut(expansion=True).argmax(graphs, theta)
        assert found.converged.all()
        assert found.guarantee is Guarantee.UNDER
        labellings, scores = scores_of(graph, theta, 3)
        hits += found.value[0] > scores.max() - 1e-9
        # No move is better.
        chosen = graphs.nodes(found.mean).argmax(axis=1)
        for state in range(3):
            within = ((labellings == chosen) | (labellings == state)).all(axis=1)
            assert scores[within].max() <= found.value[0] + 1e-9
    assert hits >= 0.8 * len(SEEDS)


def test_too_few_sweeps_are_reported():
    graphs = FactorGraphs.of([Structure.grid(12, 12, 5)] * 4)
    theta = np.random.default_rng(0).normal(size=graphs.n_parts)
    graphs.tables(theta)[:] = np.eye(5)
    hasty, patient = (GraphCut(expansion=True, max_sweeps=n).argmax(graphs, theta) for n in (1, 20))
    assert not hasty.converged.any()
    assert patient.converged.all()
    assert (patient.value >= hasty.value).all()


def test_refusals():
    graphs = FactorGraphs.of([Structure.complete(3), Structure.of([2, 2, 2, 5], [[0, 3]])])
    with pytest.raises(ValueError, match=r"two states and node 3 of graph 1 has 5; use GraphCut\(expansion=True\)"):
        GraphCut().argmax(graphs, np.zeros(graphs.n_parts))
    GraphCut().check(graphs.take(np.array([0])))
    GraphCut(expansion=True).check(graphs)
    with pytest.raises(ValueError, match="max_sweeps is 0"):
        GraphCut(max_sweeps=0)


def small_side(capacity, excess):
    n = excess.size
    bits = np.uint64(1) << np.arange(n, dtype=np.uint64)
    ahead, behind = (np.where(c > 0.0, bits, np.uint64(0)).sum(axis=1, dtype=np.uint64) for c in (capacity, capacity.T))
    word = cut_small(n, capacity.copy(), excess.copy(), ahead, behind, np.empty(64, dtype=np.uint64))
    return (np.uint64(word) & bits) > 0


def large_side(capacity, excess):
    heads = np.argwhere((capacity > 0.0) | (capacity.T > 0.0))
    places = {(int(p), int(q)): a for a, (p, q) in enumerate(heads)}
    net = network(excess.size, len(heads))
    net.first[1:] = np.cumsum(np.bincount(heads[:, 0], minlength=excess.size))
    net.head[:] = heads[:, 1]
    net.twin[:] = [places[int(q), int(p)] for p, q in heads]
    net.capacity[:] = capacity[heads[:, 0], heads[:, 1]]
    net.excess[:] = excess
    cut_large(excess.size, net)
    return net.side


@pytest.mark.parametrize("seed", range(60))
def test_cuts_are_as_small_as_flows_are_large(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 65))
    capacity = rng.integers(0, 20, (n, n)) * (rng.random((n, n)) < rng.choice([0.05, 0.2, 1.0]))
    np.fill_diagonal(capacity, 0)
    excess = rng.integers(-30, 31, n)
    whole = np.zeros((n + 2, n + 2), dtype=np.int32)
    whole[:n, :n], whole[n, :n], whole[:n, n + 1] = capacity, np.maximum(excess, 0), np.maximum(-excess, 0)
    flow = maximum_flow(csr_array(whole), n, n + 1).flow_value
    sides = [side(capacity.astype(float), excess.astype(float)) for side in (small_side, large_side)]
    np.testing.assert_array_equal(*sides)
    source = sides[0]
    cut = capacity[np.ix_(source, ~source)].sum() + np.maximum(excess, 0)[~source].sum()
    assert cut + np.maximum(-excess, 0)[source].sum() == flow
