"""From scores to outputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from maximand.costs import Cost, Hamming
from maximand.spaces import OutputSpace
from maximand.support import Array


class Decoder(Protocol):
    """Chooses an output for every example."""

    def __call__(self, space: OutputSpace, theta: Array) -> Array:
        """Return psi of the chosen outputs."""


@dataclass(frozen=True)
class MaxScore:
    """The output of largest score; graphs may be asked to find it by another inference than in training.

    Where that returns a mean of several outputs, as relaxations do, it is rounded.
    """

    inference: Any = None

    def __call__(self, space: OutputSpace, theta: Array) -> Array:
        """Return psi of the best outputs."""
        space = space if self.inference is None else space.using(self.inference)
        return space.rounded(space.argmax(theta).mean)


@dataclass(frozen=True)
class Calibrated:
    """The output of least expected cost under the distribution that the scores define at a temperature."""

    cost: Cost = field(default_factory=Hamming)
    temperature: float = 1.0

    def __call__(self, space: OutputSpace, theta: Array) -> Array:
        """E[cost] = v @ psi(y) + c, so the least is the argmax of -v."""
        vector, _ = self.cost.linear(space, space.marginals(theta, self.temperature).mean)
        return space.rounded(space.argmax(-vector).mean)
