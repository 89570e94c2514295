"""Iterated conditional modes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.inference.base import Inference, labelled
from maximand.inference.structure import FactorGraphs
from maximand.numerics.local_search import sweep_nodes
from maximand.support import Array, Guarantee, Ints, Support


def own_best(graphs: FactorGraphs, theta: Array) -> Ints:
    """Return the best state of every node by its own scores alone."""
    return np.where(graphs.existing, graphs.nodes(theta), -np.inf).argmax(axis=1)


@dataclass(frozen=True)
class IteratedModes(Inference):
    """Begins with the best state of each node alone and sweeps over the nodes until no change helps. A lower bound.

    Faster than Greedy() on large graphs.
    """

    def argmax(self, graphs: FactorGraphs, theta: Array, state: Any = None) -> Support:
        """Return a labelling that no single change improves."""
        codes = own_best(graphs, theta)
        sweep_nodes(graphs.factors, theta, codes)
        return labelled(graphs, theta, codes, Guarantee.UNDER)
