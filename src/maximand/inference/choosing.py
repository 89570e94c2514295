"""A good inference for given graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maximand.capabilities import Can
from maximand.inference.base import Inference
from maximand.inference.belief_propagation import BeliefPropagation
from maximand.inference.elimination_order import TooWide
from maximand.inference.exhaustive import Exhaustive
from maximand.inference.graph_cut import GraphCut
from maximand.inference.structure import FactorGraphs, Structure
from maximand.inference.tree import Tree, plans
from maximand.states import again
from maximand.support import Array, Bools, Support

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

    @property
    def can(self) -> Can:
        """What the second can."""
        return self.sums.can

    def argmax(self, graphs: FactorGraphs, theta: Array, state: Any = None) -> Support:
        """Ask the first."""
        return self.maxima.argmax(graphs, theta, state)

    def marginals(self, graphs: FactorGraphs, theta: Array, temperature: float = 1.0, state: Any = None) -> Support:
        """Ask the second."""
        return self.sums.marginals(graphs, theta, temperature, **again(state))

    def mixed(
        self, graphs: FactorGraphs, theta: Array, temperatures: tuple[float, float], hidden: Bools, state: Any = None
    ) -> Support:
        """Ask the second."""
        return self.sums.mixed(graphs, theta, temperatures, hidden, **again(state))


def chosen_inference(graphs: FactorGraphs) -> Inference:
    """Return an exact inference where that is cheap; else GraphCut() for two states, else BeliefPropagation().

    The relaxation by GraphCut() keeps training's guarantees, but has no marginals; with more states there is no
    relaxation as fast. Listing all labellings is faster than elimination where most nodes are joined.
    """
    structures = graphs.structures
    if structures.forests.all() or structures.n_nodes.max() <= LARGE:
        try:
            entries = plans(graphs, CHEAP).room.tolist()
            few = all(_at_most(2 * most, graph) for graph, most in zip(structures.graphs, entries, strict=True))
            return Exhaustive() if few else Tree(wide=BeliefPropagation())
        except TooWide:
            pass
    return MaximaAndSums(GraphCut(), BeliefPropagation()) if structures.width <= 2 else BeliefPropagation()


def _at_most(most: int, graph: Structure) -> bool:
    """Whether a graph has at most so many labellings. Large graphs have more than any float or fixed integer holds."""
    labellings = 1
    for states in graph.states.tolist():
        labellings *= states
        if labellings > most:
            return False
    return True
