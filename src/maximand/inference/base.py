"""The contract of an inference."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from maximand.capabilities import NOTHING, Can, sentence
from maximand.inference.structure import FactorGraphs
from maximand.numerics.graphs import write_labellings
from maximand.support import Array, Bools, Guarantee, Ints, Support

CURES = {
    Can.MARGINALS: "use Tree(), Exhaustive() or BeliefPropagation(), or a loss made of maxima, such as hinge or ramp",
    Can.MIXED: "use Tree(), Exhaustive() or BeliefPropagation(), or one temperature for outputs and hidden nodes",
}


class Inference(ABC):
    """Finds the best labelling of pairwise factor graphs, or says how good it can be at most.

    A subclass is a frozen dataclass. -inf in theta forbids a part, in nodes and in tables.
    """

    def check(self, graphs: FactorGraphs) -> None:
        """Refuse graphs that this inference cannot serve, in a sentence."""
        return

    @abstractmethod
    def argmax(self, graphs: FactorGraphs, theta: Array, state: Any = None) -> Support:
        """Best labelling of every graph: value, parts and what the value is worth.

        value -inf and no parts where nothing is left. `state` is the one of an earlier answer, for inferences that
        return one.
        """

    @property
    def can(self) -> Can:
        """What it can do beside maxima."""
        return NOTHING

    def require(self, needs: Can) -> None:
        """Refuse what it cannot do, in a sentence."""
        if needs & ~self.can:
            raise ValueError(sentence(type(self).__name__, needs & ~self.can, CURES))

    def marginals(self, graphs: FactorGraphs, theta: Array, temperature: float = 1.0, state: Any = None) -> Support:
        """Soft maximum over all labellings, and the marginals."""
        raise ValueError(sentence(type(self).__name__, Can.MARGINALS, CURES))

    def mixed(
        self, graphs: FactorGraphs, theta: Array, temperatures: tuple[float, float], hidden: Bools, state: Any = None
    ) -> Support:
        """Soft maximum over outputs of that over hidden nodes, at temperatures (outputs, hidden)."""
        raise ValueError(sentence(type(self).__name__, Can.MIXED, CURES))


def checked_mixture(graphs: FactorGraphs, temperatures: tuple[float, float], hidden: Bools) -> tuple[float, float]:
    """Return the temperatures of outputs and of hidden nodes; refuse what is none, or does not say which are hidden."""
    if np.shape(hidden) != (int(graphs.node_offsets[-1]),) or np.asarray(hidden).dtype != np.bool_:
        raise ValueError(f"Say of each of the {graphs.node_offsets[-1]} nodes of the batch whether it is hidden.")
    outer, inner = (float(temperature) for temperature in temperatures)
    if not min(outer, inner) >= 0.0:
        raise ValueError(f"The temperatures are {temperatures}; give two that are at least 0: (outputs, hidden).")
    return outer, inner


def labelled(
    graphs: FactorGraphs, theta: Array, codes: Ints, guarantee: Guarantee, bound: Array | None = None
) -> Support:
    """Return the support of a labelling, a state for every node of the batch."""
    values, mean = np.empty(graphs.n_examples), np.empty(graphs.n_parts)
    write_labellings(graphs.factors, theta, codes, values, mean)
    return Support(values, mean, guarantee, bound)
