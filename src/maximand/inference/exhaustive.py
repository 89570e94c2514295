"""All labellings, one by one: the reference for small graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.capabilities import Can
from maximand.inference.base import Inference, labelled
from maximand.inference.structure import FactorGraphs
from maximand.inference.tree import Tree
from maximand.numerics.enumeration import best_labellings, soft_labellings
from maximand.support import Array, Bools, Guarantee, Support

MOST_LABELLINGS = 1 << 22


def check_small(name: str, graphs: FactorGraphs) -> None:
    """Refuse graphs with too many labellings to list."""
    for s, graph in enumerate(graphs.structures.graphs):
        if np.log2(graph.states).sum() > np.log2(MOST_LABELLINGS):
            raise ValueError(
                f"{name}() would list the 2^{np.log2(graph.states).sum():.0f} labellings of graph "
                f"{int(np.argmax(graphs.which == s))}; use Tree(), BeliefPropagation() or LinearProgram()."
            )


@dataclass(frozen=True)
class Exhaustive(Inference):
    """Scores every labelling. Exact, maxima and marginals; for graphs of up to four million labellings."""

    def check(self, graphs: FactorGraphs) -> None:
        """Refuse graphs with too many labellings."""
        check_small("Exhaustive", graphs)

    @property
    def can(self) -> Can:
        """Sums too, and sums inside of maxima."""
        return Can.MARGINALS | Can.MIXED

    def argmax(self, graphs: FactorGraphs, theta: Array, state: Any = None) -> Support:
        """Return the best labelling of every graph, the first of equals."""
        codes = np.empty(graphs.node_offsets[-1], dtype=np.int64)
        best_labellings(graphs.factors, theta, 1.0, codes)
        return labelled(graphs, theta, codes, Guarantee.EXACT)

    def marginals(self, graphs: FactorGraphs, theta: Array, temperature: float = 1.0, state: Any = None) -> Support:
        """Return the log-sum over all labellings, and the marginals."""
        values, mean = np.empty(graphs.n_examples), np.empty(graphs.n_parts)
        soft_labellings(graphs.factors, theta, temperature, values, mean)
        return Support(values, mean)

    def mixed(
        self, graphs: FactorGraphs, theta: Array, temperatures: tuple[float, float], hidden: Bools, state: Any = None
    ) -> Support:
        """Sum out the hidden nodes first, which leaves a table of outputs no larger than the list of labellings."""
        return Tree().mixed(graphs, theta, temperatures, hidden)
