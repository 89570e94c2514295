"""Forests, and graphs that are nearly so, by eliminating one node after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from maximand.capabilities import Can
from maximand.inference.base import Inference, labelled
from maximand.inference.elimination_order import TooWide, plans_of
from maximand.inference.structure import FactorGraphs, Structures
from maximand.numerics.elimination import Plans, eliminate_best, eliminate_soft
from maximand.support import Array, Guarantee, Support

MOST_ENTRIES = 1 << 24  # of all tables of one graph together

_plans: WeakKeyDictionary[Structures, Plans] = WeakKeyDictionary()


def plans(graphs: FactorGraphs, most_entries: float = MOST_ENTRIES) -> Plans:
    """Return how to eliminate the nodes of each structure, worked out once for each batch and its parts."""
    structures = graphs.structures
    if structures not in _plans:
        _plans[structures] = plans_of(structures.graphs, graphs.width, most_entries)
    return _plans[structures]


@dataclass(frozen=True)
class Tree(Inference):
    """Exact maxima and marginals, at any temperature, of forests and of other graphs of small width.

    On a forest the work is linear in the nodes. On a graph with cycles it is the size of the tables that arise when
    nodes are eliminated one by one: k^(width + 1) for each node, where a grid is as wide as its shorter side.
    """

    def check(self, graphs: FactorGraphs) -> None:
        """Refuse graphs whose tables would be too large."""
        try:
            plans(graphs)
        except TooWide as error:
            raise ValueError(
                f"Tree() would need tables of {error.entries:.1g} entries for graph "
                f"{int(np.argmax(graphs.which == error.graph))}; use BeliefPropagation(), LinearProgram() or "
                "GraphCut()."
            ) from None

    @property
    def can(self) -> Can:
        """Sums too."""
        return Can.MARGINALS

    def argmax(self, graphs: FactorGraphs, theta: Array, state: Any = None) -> Support:
        """Return the best labelling of every graph."""
        codes = np.empty(graphs.node_offsets[-1], dtype=np.int64)
        eliminate_best(plans(graphs), graphs.factors, theta, codes)
        return labelled(graphs, theta, codes, Guarantee.EXACT)

    def marginals(self, graphs: FactorGraphs, theta: Array, temperature: float = 1.0) -> Support:
        """Return the log-sum over all labellings, and the marginals."""
        values, mean = np.empty(graphs.n_examples), np.empty(graphs.n_parts)
        eliminate_soft(plans(graphs), graphs.factors, theta, temperature, values, mean)
        return Support(values, mean)
