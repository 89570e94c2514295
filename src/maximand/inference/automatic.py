"""A good inference for given graphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maximand.inference.base import Inference
from maximand.inference.belief_propagation import BeliefPropagation
from maximand.inference.elimination_order import TooWide
from maximand.inference.exhaustive import Exhaustive
from maximand.inference.graph_cut import GraphCut
from maximand.inference.structure import FactorGraphs
from maximand.inference.tree import Tree, plans
from maximand.support import Array, Support

CHEAP = 1 << 18  # table entries of a graph that elimination may take
LARGE = 2000  # nodes above which only forests are worth planning for


@dataclass(frozen=True)
class MaximaAndSums(Inference):
    """Maxima by one inference and marginals by another."""

    maxima: Inference
    sums: Inference

    def check(self, graphs: FactorGraphs) -> None:
        """Refuse graphs that one of them cannot serve."""
        self.maxima.check(graphs)
        self.sums.check(graphs)

    def argmax(self, graphs: FactorGraphs, theta: Array) -> Support:
        """Ask the first."""
        return self.maxima.argmax(graphs, theta)

    def marginals(self, graphs: FactorGraphs, theta: Array, temperature: float = 1.0) -> Support:
        """Ask the second."""
        return self.sums.marginals(graphs, theta, temperature)


def automatic(graphs: FactorGraphs) -> Inference:
    """Return an exact inference where that is cheap; else GraphCut() for two states, else BeliefPropagation().

    The relaxation by GraphCut() keeps training's guarantees, but has no marginals; with more states there is no
    relaxation as fast. Listing all labellings is faster than elimination where most nodes are joined.
    """
    structures = graphs.structures
    if structures.forests.all() or structures.n_nodes.max() <= LARGE:
        try:
            entries = plans(graphs, CHEAP).room
            labellings = np.array([np.prod(graph.states.astype(float)) for graph in structures.graphs])
            return Exhaustive() if (labellings <= 2 * entries).all() else Tree()
        except TooWide:
            pass
    return MaximaAndSums(GraphCut(), BeliefPropagation()) if structures.width <= 2 else BeliefPropagation()
