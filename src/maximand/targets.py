"""What training knows of the outputs of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from maximand.caching import cached_property
from maximand.costs import Cost
from maximand.spaces import OutputSpace
from maximand.spaces.listing import Listed, listed
from maximand.support import Array, Geometry, Waiting


class Over(Enum):
    """The set of outputs that a maximum ranges over."""

    ALL = "Y"
    ANNOTATED = "Y*"
    OTHER = "Y°"


@dataclass(frozen=True)
class Target:
    """What training knows of the outputs of a batch: the annotation, and what each part would cost."""

    space: OutputSpace
    annotation: Any
    cost: Cost

    @cached_property
    def full(self) -> bool:
        """Whether the annotation leaves a single output to every example."""
        return bool(self.annotation.full.all())

    @cached_property
    def open(self) -> Any:
        """Which slots the annotation leaves open; those are hidden while training."""
        return self.space.open(self.annotation)

    @cached_property
    def known(self) -> Array | Waiting:
        """Psi of the known parts, which may wait to be made."""
        return self.space.counts(self.annotation)

    @cached_property
    def psi(self) -> Array:
        """Psi of the known parts."""
        return self.known.array() if isinstance(self.known, Waiting) else self.known

    @cached_property
    def listed(self) -> list[Listed]:
        """All outputs of each example, and which agree with the annotation: for small spaces."""
        return listed(self.space, self.annotation)

    def score(self, theta: Array) -> Array:
        """Return the score of the known parts, for every example."""
        return self.space.score(theta, self)

    def where_full(self, values: Array | float) -> Array:
        """Return the values of fully annotated examples, -inf for the others."""
        if self.full and isinstance(values, np.ndarray):
            return values
        return np.where(self.annotation.full, values, -np.inf)

    @cached_property
    def cost_linear(self) -> tuple[Array, Array]:
        """v, c with cost = v @ psi + c."""
        return self.cost.against(self.space, self.annotation)

    def regularizer(self, geometry: Geometry) -> Array:
        """Return Psi(psi(y)) for every example."""
        return self._euclidean if geometry is Geometry.EUCLIDEAN else self._entropic

    @cached_property
    def _euclidean(self) -> Array:
        return 0.5 * self.space.layout.dot(self.psi, self.psi)

    @cached_property
    def _entropic(self) -> Array:
        return self.space.layout.dot(np.ones(self.space.n_parts), Geometry.ENTROPIC.terms(self.psi))
