"""Laws of inferences: what they find against enumeration, and what they say it is worth."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maximand.inference import (
    BeliefPropagation,
    Combine,
    Exhaustive,
    FactorGraphs,
    GraphCut,
    Greedy,
    Inference,
    IntegerProgram,
    IteratedModes,
    LinearProgram,
    RhoApproximate,
    Structure,
    Tree,
)
from maximand.inference.choosing import MaximaAndSums
from maximand.support import Guarantee
from thinning import tries


@dataclass
class Enrolled:
    """An inference, which graphs it serves, how many of them a law tries, and at which it is exact."""

    inference: Inference
    binary: bool = False
    batch: int = 100
    exact_on_forests: bool = False
    exact: bool = False


ENROLLED = {
    "Exhaustive": Enrolled(Exhaustive(), exact=True),
    "Tree": Enrolled(Tree(), exact=True),
    "Greedy": Enrolled(Greedy()),
    "IteratedModes": Enrolled(IteratedModes()),
    "BeliefPropagation": Enrolled(BeliefPropagation(), exact_on_forests=True),
    "BeliefPropagation, residual": Enrolled(BeliefPropagation(residual=True), exact_on_forests=True),
    "Combine": Enrolled(Combine((Greedy(), BeliefPropagation())), exact_on_forests=True),
    "LinearProgram": Enrolled(LinearProgram(), batch=10, exact_on_forests=True),
    "LinearProgram, integral": Enrolled(LinearProgram(integral=True), batch=10, exact_on_forests=True),
    "GraphCut": Enrolled(GraphCut(), binary=True, exact_on_forests=True),
    "GraphCut, expansion": Enrolled(GraphCut(expansion=True)),
    "IntegerProgram": Enrolled(IntegerProgram(), batch=4, exact=True),
    "MaximaAndSums": Enrolled(MaximaAndSums(GraphCut(), BeliefPropagation()), binary=True, exact_on_forests=True),
    "RhoApproximate": Enrolled(RhoApproximate(0.8)),
}
EVERY = pytest.mark.parametrize("enrolled", ENROLLED.values(), ids=list(ENROLLED))
SOFT = pytest.mark.parametrize("enrolled", [ENROLLED["Tree"], ENROLLED["BeliefPropagation"]], ids=["Tree", "BP"])
SEEDS = st.integers(0, 100_000)


def random_graphs(rng, count, binary=False, forest=False):
    """Graphs of one to six nodes; some are complete, some have lone nodes, some share tables."""
    structures = []
    for _ in range(count):
        n = int(rng.integers(1, 7))
        density = rng.choice([0.3, 0.7, 1.0])
        pairs = [(u, v) for v in range(n) for u in range(v) if rng.random() < density]
        if forest:
            pairs = [(int(rng.integers(v)), v) for v in range(1, n) if rng.random() < 0.8]
        pairs = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs]
        states = np.full(n, 2) if binary else rng.integers(1, 4, n)
        tables = rng.integers(0, 3, len(pairs)) if rng.random() < 0.3 else None
        structures.append(Structure.of(states, np.array(pairs).reshape(-1, 2), tables))
    return FactorGraphs.of(structures)


def random_scores(rng, graphs):
    """Normal, whole with ties, large, or with forbidden states, but never all those of a node."""
    kind = rng.integers(4)
    theta = rng.normal(size=graphs.n_parts)
    if kind == 1:
        theta = np.round(theta)
    if kind == 2:
        theta *= 1e4
    if kind == 3:
        nodes = graphs.nodes(theta)
        nodes[:, 1:][rng.random(nodes[:, 1:].shape) < 0.3] = -np.inf
    return theta


def scores_of_means(graphs, theta, mean):
    return np.array(
        [
            sum(
                theta[parts][mean[parts] != 0] @ mean[parts][mean[parts] != 0]
                for parts in map(
                    slice, graphs.layout.begins[:, i], graphs.layout.begins[:, i] + graphs.layout.sizes[:, i]
                )
            )
            for i in range(graphs.n_examples)
        ]
    )


def rounding(theta):
    finite = theta[np.isfinite(theta)]
    return 1e-9 * (1.0 + np.abs(finite).max(initial=0.0))


@EVERY
@given(seed=SEEDS)
@tries(30)
def test_under_exact_over(enrolled, seed):
    rng = np.random.default_rng(seed)
    graphs = random_graphs(rng, enrolled.batch, enrolled.binary)
    theta = random_scores(rng, graphs)
    truth = Exhaustive().argmax(graphs, theta)
    found = enrolled.inference.argmax(graphs, theta)
    slack = rounding(theta)
    np.testing.assert_allclose(scores_of_means(graphs, theta, found.mean), found.value, rtol=1e-9, atol=slack)
    if enrolled.exact:
        assert found.guarantee is Guarantee.EXACT
    match found.guarantee:
        case Guarantee.EXACT:
            np.testing.assert_allclose(found.value, truth.value, rtol=1e-9, atol=slack)
        case Guarantee.UNDER:
            assert (found.value <= truth.value + slack).all()
        case Guarantee.OVER:
            assert (found.value >= truth.value - slack).all()
        case Guarantee.ESTIMATE:
            pytest.fail("a maximum has a side")
    if found.guarantee is not Guarantee.OVER:
        assert np.isin(graphs.nodes(found.mean), (0.0, 1.0)).all()
    if found.bound is not None:
        assert (found.bound >= truth.value - slack).all()


@EVERY
@given(seed=SEEDS)
@tries(15)
def test_means_are_of_nodes_and_pairs_that_agree(enrolled, seed):
    rng = np.random.default_rng(seed)
    graphs = random_graphs(rng, min(enrolled.batch, 8), enrolled.binary)
    mean = enrolled.inference.argmax(graphs, random_scores(rng, graphs)).mean
    nodes, tables = graphs.nodes(mean), graphs.tables(mean)
    np.testing.assert_allclose(nodes.sum(axis=1), 1.0, atol=1e-9)
    assert (mean >= 0).all()
    assert not nodes[~graphs.existing].any()
    for i, s in enumerate(graphs.which):
        graph = graphs.structures.graphs[s]
        own = tables[graphs.table_offsets[i] : graphs.table_offsets[i + 1]]
        left, right = (np.zeros((graph.n_tables, graphs.width)) for _ in range(2))
        for (u, v), t in zip(graph.edges, graph.tables, strict=True):
            left[t] += nodes[graphs.node_offsets[i] + u]
            right[t] += nodes[graphs.node_offsets[i] + v]
        np.testing.assert_allclose(own.sum(axis=2), left, atol=1e-8)
        np.testing.assert_allclose(own.sum(axis=1), right, atol=1e-8)


@EVERY
@given(seed=SEEDS)
@tries(10)
def test_a_batch_is_its_graphs_one_by_one(enrolled, seed):
    rng = np.random.default_rng(seed)
    graphs = random_graphs(rng, min(enrolled.batch, 8), enrolled.binary)
    theta = random_scores(rng, graphs)
    together = enrolled.inference.argmax(graphs, theta)
    for i in range(graphs.n_examples):
        own = graphs.layout.places[graphs.layout.work[:i].sum() :][: graphs.layout.work[i]]
        alone = enrolled.inference.argmax(graphs.take(slice(i, i + 1)), theta[own])
        assert alone.value[0] == together.value[i]
        np.testing.assert_array_equal(alone.mean, together.mean[own])


@EVERY
@given(seed=SEEDS)
@tries(10)
def test_forests_are_solved_exactly_by_those_that_say_so(enrolled, seed):
    if not (enrolled.exact_on_forests or enrolled.exact):
        pytest.skip("local search is exact nowhere")
    rng = np.random.default_rng(seed)
    graphs = random_graphs(rng, enrolled.batch, enrolled.binary, forest=True)
    theta = random_scores(rng, graphs)
    truth = Exhaustive().argmax(graphs, theta).value
    found = enrolled.inference.argmax(graphs, theta)
    np.testing.assert_allclose(found.value, truth, rtol=1e-9, atol=rounding(theta))


@EVERY
def test_ties_are_broken_in_the_same_way_every_time(enrolled):
    graphs = random_graphs(np.random.default_rng(1), enrolled.batch, enrolled.binary)
    theta = np.zeros(graphs.n_parts)
    first, second = (enrolled.inference.argmax(graphs, theta) for _ in range(2))
    np.testing.assert_array_equal(first.mean, second.mean)
    np.testing.assert_allclose(first.value, 0.0, atol=1e-9)


@SOFT
@given(seed=SEEDS, temperature=st.sampled_from([1.0, 0.3, 5.0, 1e-3]))
@tries(20)
def test_marginals_of_forests_equal_enumeration_at_any_one_temperature(enrolled, seed, temperature):
    rng = np.random.default_rng(seed)
    graphs = random_graphs(rng, 20, forest=True)
    theta = random_scores(rng, graphs)
    truth = Exhaustive().marginals(graphs, theta, temperature)
    found = enrolled.inference.marginals(graphs, theta, temperature)
    assert found.guarantee is Guarantee.EXACT
    size = np.abs(theta[np.isfinite(theta)]).max(initial=1.0)
    np.testing.assert_allclose(found.value, truth.value, rtol=1e-11, atol=1e-11 * size)
    np.testing.assert_allclose(found.mean, truth.mean, atol=1e-13 * size / temperature + 1e-10)


@given(seed=SEEDS)
@tries(30)
def test_tree_equals_enumeration_on_any_small_graph(seed):
    rng = np.random.default_rng(seed)
    graphs = random_graphs(rng, 30)
    theta = random_scores(rng, graphs)
    np.testing.assert_allclose(
        Tree().argmax(graphs, theta).value, Exhaustive().argmax(graphs, theta).value, rtol=1e-12, atol=rounding(theta)
    )
    for temperature in (1.0, 0.1):
        one, other = (inference.marginals(graphs, theta, temperature) for inference in (Tree(), Exhaustive()))
        np.testing.assert_allclose(one.value, other.value, rtol=1e-11, atol=rounding(theta))
        np.testing.assert_allclose(one.mean, other.mean, atol=1e-9)


@given(seed=SEEDS)
@tries(30)
def test_the_roof_dual_is_the_linear_program(seed):
    rng = np.random.default_rng(seed)
    graphs = random_graphs(rng, 10, binary=True)
    theta = random_scores(rng, graphs)
    cut, program = GraphCut().argmax(graphs, theta), LinearProgram().argmax(graphs, theta)
    np.testing.assert_allclose(cut.value, program.value, rtol=1e-7, atol=100 * rounding(theta))
    assert np.isin(graphs.nodes(cut.mean), (0.0, 0.5, 1.0)).all()


@given(seed=SEEDS, rho=st.sampled_from([1.0, 0.95, 0.8, 0.5]))
@tries(20)
def test_rho_approximate_finds_its_share_and_no_better_than_it_must(seed, rho):
    rng = np.random.default_rng(seed)
    graphs = random_graphs(rng, 30)
    theta = rng.normal(size=graphs.n_parts)
    best = Exhaustive().argmax(graphs, theta).value
    found = RhoApproximate(rho).argmax(graphs, theta).value
    assert (found >= np.where(best > 0, rho * best, best) - 1e-12).all()
    assert (found <= best + 1e-12).all()
    if rho == 1.0:
        np.testing.assert_array_equal(found, best)
