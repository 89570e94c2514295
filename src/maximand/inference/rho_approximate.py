"""An oracle that is wrong by a known factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.inference.base import Inference, labelled
from maximand.inference.exhaustive import check_small
from maximand.inference.structure import FactorGraphs
from maximand.numerics.enumeration import best_labellings
from maximand.support import Array, Guarantee, Support


@dataclass(frozen=True)
class RhoApproximate(Inference):
    """The worst labelling whose score is still at least rho times the best one's: finley2008's artificial oracle.

    Where the best score is not positive it is returned itself. For small graphs, as it lists all labellings.
    """

    rho: float

    def __post_init__(self) -> None:
        if not 0.0 < self.rho <= 1.0:
            raise ValueError(f"rho is {self.rho}; it must be above 0 and at most 1.")

    def check(self, graphs: FactorGraphs) -> None:
        """Refuse graphs with too many labellings."""
        check_small("RhoApproximate", graphs)

    def argmax(self, graphs: FactorGraphs, theta: Array, state: Any = None) -> Support:
        """Return a labelling of at least rho times the best score."""
        codes = np.empty(graphs.node_offsets[-1], dtype=np.int64)
        best_labellings(graphs.factors, theta, self.rho, codes)
        return labelled(graphs, theta, codes, Guarantee.EXACT if self.rho == 1.0 else Guarantee.UNDER)
