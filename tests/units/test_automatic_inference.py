"""The inference that is chosen where none is given."""

import numpy as np
import pytest

from maximand.inference import BeliefPropagation, Exhaustive, FactorGraphs, GraphCut, Structure, Tree
from maximand.inference.automatic import MaximaAndSums, automatic


def path(n_nodes, n_states):
    return Structure.of(np.full(n_nodes, n_states), np.stack([np.arange(n_nodes - 1), np.arange(1, n_nodes)], axis=1))


# So many labellings wrap to 0, to below 0, and to a number that seems small; the last exceed every float.
@pytest.mark.parametrize(("n_nodes", "n_states"), [(64, 2), (63, 2), (40, 3), (65, 2), (41, 3), (2000, 3), (3000, 2)])
def test_graphs_with_more_labellings_than_numbers_hold(n_nodes, n_states):
    assert automatic(FactorGraphs.of([path(n_nodes, n_states)])) == Tree()
    assert automatic(FactorGraphs.of([path(2, n_states), path(n_nodes, n_states)])) == Tree()


def test_few_labellings_are_listed_and_wide_graphs_estimated():
    for graph in (Structure.complete(5), Structure.complete(12), path(100, 1)):
        assert automatic(FactorGraphs.of([graph])) == Exhaustive()
    assert automatic(FactorGraphs.of([Structure.complete(60, 2)])) == MaximaAndSums(GraphCut(), BeliefPropagation())
    assert automatic(FactorGraphs.of([Structure.complete(60, 3)])) == BeliefPropagation()
