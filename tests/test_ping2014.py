"""The studies of ping2014: what they are made of does what the paper says."""

from itertools import product

import numpy as np
import pytest
from scipy.special import softmax

from maximand.papers.ping2014.simulators import STATES, Field, Lattice, Spread


def probabilities(field):
    """Return all states of outputs and hidden nodes, and their probabilities by enumeration over inputs too."""
    n = field.lattice.n_nodes
    states = np.array(list(product(range(STATES), repeat=n)))
    scores = field.nodes[np.arange(n), states].sum(axis=1)
    weights = np.exp(field.inputs[:, :, None] + field.by_input).sum(axis=1)
    scores += np.log(weights)[np.arange(n), states].sum(axis=1)
    for (u, v), table in zip(field.lattice.edges, field.tables, strict=True):
        output, hidden = (v, u) if field.lattice.hidden[u] else (u, v)
        scores += table[states[:, output], states[:, hidden]]
    return states, softmax(scores)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("lattice", [Lattice(4), Lattice(2, 2), Lattice(1, 4)])
def test_samples_have_the_probabilities_of_enumeration(lattice, shared):
    field = Field.drawn(lattice, Spread(pair=1.0), shared, np.random.default_rng(0))
    count = 40_000
    sample = field.sample(count, np.random.default_rng(1))
    _, expected = probabilities(field)
    codes = sample.states @ STATES ** np.arange(lattice.n_nodes)[::-1]
    found = np.bincount(codes, minlength=expected.size)
    squares = ((found - count * expected) ** 2 / (count * expected)).sum()
    assert abs(squares - expected.size) < 4 * np.sqrt(2 * expected.size + 1 / (count * expected).min())


def test_inputs_depend_on_the_state_of_their_own_node():
    field = Field.drawn(Lattice(3), Spread(), False, np.random.default_rng(0))
    sample = field.sample(40_000, np.random.default_rng(1))
    for v, s in product(range(3), range(STATES)):
        with_state = sample.inputs[sample.states[:, v] == s, v]
        if with_state.size < 1000:
            continue
        expected = softmax(field.inputs[v] + field.by_input[v, :, s])
        found = np.bincount(with_state, minlength=STATES) / with_state.size
        np.testing.assert_allclose(found, expected, atol=4 * 0.5 / np.sqrt(with_state.size))


def test_shared_weights_are_the_same_everywhere():
    lattice = Lattice(6, 6)
    shared = Field.drawn(lattice, Spread(h=10.0), True, np.random.default_rng(0))
    own = Field.drawn(lattice, Spread(h=10.0), False, np.random.default_rng(0))
    for weights in (shared.nodes, shared.inputs, shared.by_input):
        assert (weights[lattice.hidden] == weights[1]).all()
        assert (weights[~lattice.hidden] == weights[0]).all()
    assert (shared.tables == shared.tables[0]).all()
    assert len(np.unique(own.tables, axis=0)) == len(lattice.edges) == 60
    assert own.nodes[lattice.hidden].std() > 30 * own.nodes[~lattice.hidden].std()
    assert lattice.hidden.sum() == 18
    for own_shared in (True, False):
        blind = Field.drawn(lattice, Spread(xh=0.01), own_shared, np.random.default_rng(0))
        assert blind.by_input[lattice.hidden].std() < 0.02 < 1.0 < blind.by_input[~lattice.hidden].std()


@pytest.mark.parametrize("shared", [True, False])
def test_graphs_score_as_the_field_does(shared):
    lattice = Lattice(2, 3)
    field = Field.drawn(lattice, Spread(), shared, np.random.default_rng(0))
    sample = field.sample(5, np.random.default_rng(1))
    for x, states, graph in zip(sample.inputs, sample.states, sample.graphs(shared), strict=True):
        score = 0.0
        for kind, chosen in (("y", ~lattice.hidden), ("h", lattice.hidden)):
            n = 1 if shared else int(chosen.sum())
            biases, tables = field.nodes[chosen][:n], field.by_input[chosen][:n]
            weights = np.concatenate([biases, tables.reshape(-1, STATES)])
            scores = graph.nodes[kind] @ weights
            score += scores[np.arange(len(scores)), states[chosen]].sum()
        ends = graph.edges["y", "h"]
        types = np.zeros(len(ends), dtype=int) if shared else graph.edge_types["y", "h"]
        y, h = states[~lattice.hidden][ends[:, 0]], states[lattice.hidden][ends[:, 1]]
        score += field.tables[types, y, h].sum()
        v = np.arange(lattice.n_nodes)
        expected = field.nodes[v, states].sum() + field.by_input[v, x, states].sum()
        for (a, b), table in zip(lattice.edges, field.tables, strict=True):
            output, hidden = (b, a) if lattice.hidden[a] else (a, b)
            expected += table[states[output], states[hidden]]
        assert score == pytest.approx(expected)
