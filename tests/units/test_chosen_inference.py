"""The inference that is chosen where none is given."""

from dataclasses import replace

import numpy as np
import pytest

from maximand.capabilities import Can
from maximand.inference import BeliefPropagation, Exhaustive, FactorGraphs, GraphCut, Inference, Structure, Tree
from maximand.inference.choosing import MaximaAndSums, chosen_inference
from maximand.spaces import Chain, Graph, LabelStates
from maximand.states import Numbers
from maximand.support import Guarantee

TREE = Tree(wide=BeliefPropagation())


def path(n_nodes, n_states):
    return Structure.of(np.full(n_nodes, n_states), np.stack([np.arange(n_nodes - 1), np.arange(1, n_nodes)], axis=1))


# So many labellings wrap to 0, to below 0, and to a number that seems small; the last exceed every float.
@pytest.mark.parametrize(("n_nodes", "n_states"), [(64, 2), (63, 2), (40, 3), (65, 2), (41, 3), (2000, 3), (3000, 2)])
def test_graphs_with_more_labellings_than_numbers_hold(n_nodes, n_states):
    assert chosen_inference(FactorGraphs.of([path(n_nodes, n_states)])) == TREE
    assert chosen_inference(FactorGraphs.of([path(2, n_states), path(n_nodes, n_states)])) == TREE


def test_few_labellings_are_listed_and_wide_graphs_estimated():
    for graph in (Structure.complete(5), Structure.complete(12), path(100, 1)):
        assert chosen_inference(FactorGraphs.of([graph])) == Exhaustive()
    assert chosen_inference(FactorGraphs.of([Structure.complete(60, 2)])) == MaximaAndSums(
        GraphCut(), BeliefPropagation()
    )
    assert chosen_inference(FactorGraphs.of([Structure.complete(60, 3)])) == BeliefPropagation()


def test_maxima_and_sums_can_what_they_say():
    """With hidden nodes, two temperatures too: what the inference of sums can."""
    graph, rng = Structure.complete(60, 2), np.random.default_rng(0)
    space = Graph([graph], hidden=np.arange(60) < 20)
    assert isinstance(space.inference, MaximaAndSums) and Can.MIXED in space.can
    theta = 0.1 * rng.normal(size=space.n_parts)
    found = space.mixed(theta, (0.5, 1.0))
    expected = space.using(BeliefPropagation()).mixed(theta, (0.5, 1.0))
    np.testing.assert_array_equal(found.mean, expected.mean)


@pytest.mark.parametrize("temperatures", [(0.0, 1.0), (0.3, 0.7)])
def test_each_graph_is_answered_as_it_is_alone(temperatures):
    """Where summing hidden nodes out first is cheap that is exact, whatever other graphs are in the batch."""
    rng = np.random.default_rng(0)
    chain = Chain(np.array([4, 40, 3, 60]), 4, states=LabelStates.of([2, 2]))
    theta = rng.normal(size=chain.layout.n_scores)
    together = chain.mixed(theta, temperatures)
    assert together.guarantee is not Guarantee.EXACT
    for i in range(4):
        one = chain.take(np.array([i]))
        nodes = chain.nodes(theta)[chain.offsets[i] : chain.offsets[i + 1]]
        alone = one.mixed(np.concatenate([nodes.ravel(), chain.transitions(theta).ravel()]), temperatures)
        assert (alone.guarantee is Guarantee.EXACT) == (chain.lengths[i] < 10)
        assert alone.value[0] == together.value[i]
        np.testing.assert_array_equal(one.nodes(alone.mean), chain.nodes(together.mean)[chain.slots == i])


class Echo(Inference):
    """Returns the state that it was given."""

    def argmax(self, graphs, theta, state=None):
        return replace(Exhaustive().argmax(graphs, theta), state=state)


def test_maxima_begin_from_their_state():
    graphs, state = FactorGraphs.of([Structure.complete(3)]), Numbers.equal(np.ones((1, 1)))
    found = MaximaAndSums(Echo(), BeliefPropagation()).argmax(graphs, np.zeros(graphs.n_parts), state)
    assert found.state is state
