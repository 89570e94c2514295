"""A good inference for given graphs."""

from __future__ import annotations

import numpy as np

from maximand.inference.base import Inference
from maximand.inference.belief_propagation import BeliefPropagation
from maximand.inference.elimination_order import TooWide
from maximand.inference.exhaustive import Exhaustive
from maximand.inference.graph_cut import GraphCut
from maximand.inference.structure import FactorGraphs
from maximand.inference.tree import Tree, plans

CHEAP = 1 << 18  # table entries of a graph that elimination may take
LARGE = 2000  # nodes above which only forests are worth planning for


def automatic(graphs: FactorGraphs) -> Inference:
    """Return an exact inference where that is cheap; else GraphCut() for two states, else BeliefPropagation().

    The relaxation by GraphCut() keeps training's guarantees; with more states there is no relaxation as fast. Listing
    all labellings is faster than elimination where most nodes are joined.
    """
    structures = graphs.structures
    if structures.forests.all() or structures.n_nodes.max() <= LARGE:
        try:
            entries = plans(graphs, CHEAP).room
            labellings = np.array([np.prod(graph.states.astype(float)) for graph in structures.graphs])
            return Exhaustive() if (labellings <= 2 * entries).all() else Tree()
        except TooWide:
            pass
    return GraphCut() if structures.width <= 2 else BeliefPropagation()
