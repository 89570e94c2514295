"""Local search: the single change that helps most, again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.inference.base import Inference, labelled
from maximand.inference.structure import FactorGraphs
from maximand.numerics.local_search import climb
from maximand.support import Array, Guarantee, Support


@dataclass(frozen=True)
class Greedy(Inference):
    """Begins with every node in its first allowed state and repeats the change of a node that gains most.

    For label sets: begins with no label and adds, or takes away, the one that helps most. A lower bound.
    """

    def argmax(self, graphs: FactorGraphs, theta: Array, state: Any = None) -> Support:
        """Return a labelling that no single change improves."""
        codes = ((graphs.nodes(theta) > -np.inf) & graphs.existing).argmax(axis=1)
        climb(graphs.factors, theta, codes)
        return labelled(graphs, theta, codes, Guarantee.UNDER)
