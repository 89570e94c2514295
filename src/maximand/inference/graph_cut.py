"""Graph cuts: the relaxation of graphs of two states, and expansion moves for any number of states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maximand.inference.base import Inference, labelled
from maximand.inference.structure import FactorGraphs
from maximand.numerics.expansion import expand
from maximand.numerics.roof_duality import relax
from maximand.support import Array, Guarantee, Support


@dataclass(frozen=True)
class GraphCut(Inference):
    """Maximise by minimum cuts.

    For nodes of at most two states: theta @ mu over the local polytope, by one cut (roof duality). The value is that of
    the linear program, never below the maximum. Nodes have the marginals 0, 1 or 1/2. Those with 0 or 1 have that label
    in some best labelling (they are persistent); where all of them do, the value is the maximum. So it is whenever no
    cycle of the graph has an odd number of edges whose nodes repel each other: t00 + t11 < t01 + t10.

    With `expansion`, for any number of states: a labelling, by moves in which every node keeps its state or takes a
    certain one. A move is one cut, the best of its kind where none of its terms repels, as for Potts and other
    metrics. Moves go over all states until none brings more, at most max_sweeps times. The value is then a lower bound,
    or the maximum where all graphs have two states and the relaxation decides all nodes.
    """

    expansion: bool = False
    max_sweeps: int = 20

    def __post_init__(self) -> None:
        if self.max_sweeps < 1:
            raise ValueError(f"max_sweeps is {self.max_sweeps}; it must be at least 1.")

    def check(self, graphs: FactorGraphs) -> None:
        """Refuse to relax graphs of more than two states."""
        if self.expansion or graphs.width <= 2:
            return
        most = np.array([graph.states.max() for graph in graphs.structures.graphs])[graphs.which]
        if (most > 2).any():
            i = int(np.argmax(most > 2))
            states = graphs.structures.graphs[graphs.which[i]].states
            v = int(np.argmax(states > 2))
            raise ValueError(
                f"GraphCut() relaxes graphs of two states and node {v} of graph {i} has {states[v]}; use "
                "GraphCut(expansion=True), LinearProgram() or BeliefPropagation()."
            )

    def argmax(self, graphs: FactorGraphs, theta: Array, state: Any = None) -> Support:
        """Best point of the local polytope, or with `expansion` a good labelling."""
        self.check(graphs)
        if self.expansion:
            codes, converged = np.empty(graphs.node_offsets[-1], np.int64), np.empty(graphs.n_examples, np.bool_)
            exact = expand(graphs.factors, theta, bool(np.isneginf(theta).any()), self.max_sweeps, codes, converged)
            guarantee = Guarantee.EXACT if exact else Guarantee.UNDER
            return replace(labelled(graphs, theta, codes, guarantee), converged=converged)
        values, mean = np.empty(graphs.n_examples), np.empty(graphs.n_parts)
        whole = relax(graphs.factors, theta, values, mean)
        return Support(values, mean, Guarantee.EXACT if whole else Guarantee.OVER)
