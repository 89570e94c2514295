"""The best of several inferences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.inference.base import Inference
from maximand.inference.structure import FactorGraphs
from maximand.support import Array, Guarantee, Support


@dataclass(frozen=True)
class Combine(Inference):
    """Runs several inferences that return labellings and keeps the better one for each graph."""

    members: tuple[Inference, ...]

    def __post_init__(self) -> None:
        if not self.members or not all(isinstance(member, Inference) for member in self.members):
            raise ValueError("Combine takes several inferences, such as Combine((Greedy(), BeliefPropagation())).")

    def check(self, graphs: FactorGraphs) -> None:
        """Refuse graphs that one of them cannot serve."""
        for member in self.members:
            member.check(graphs)

    def argmax(self, graphs: FactorGraphs, theta: Array, state: Any = None) -> Support:
        """Return the best labelling found of every graph; of equals, that of the first inference."""
        best: Support | None = None
        for member in self.members:
            found = member.argmax(graphs, theta)
            if found.guarantee not in (Guarantee.EXACT, Guarantee.UNDER):
                raise ValueError(
                    f"{type(member).__name__}() returns {found.guarantee.value}, which is no labelling; Combine takes "
                    "inferences that return one, such as Greedy() or LinearProgram(integral=True)."
                )
            best = found if best is None else self._better(graphs, best, found)
        assert best is not None
        return best

    @staticmethod
    def _better(graphs: FactorGraphs, first: Support, second: Support) -> Support:
        better = second.value > first.value
        exact = Guarantee.EXACT in (first.guarantee, second.guarantee)
        bounds = [support.bound for support in (first, second) if support.bound is not None]
        return Support(
            np.maximum(first.value, second.value),
            graphs.layout.choose(first.mean, second.mean, better),
            Guarantee.EXACT if exact else Guarantee.UNDER,
            np.minimum.reduce(bounds) if bounds else None,
        )
