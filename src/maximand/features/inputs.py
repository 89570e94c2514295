"""What examples are made of: inputs, and the outputs that they may have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from maximand.spaces import OutputSpace
from maximand.support import Ints

if TYPE_CHECKING:
    from maximand.features.rows import Rows


class Inputs(Protocol):
    """The inputs of a batch: a matrix of rows is one kind of them, strings or detections are others."""

    @property
    def n_examples(self) -> int:
        """The number of examples."""

    @property
    def n_bytes(self) -> int:
        """The memory that they take."""

    def take(self, examples: Ints | slice) -> Self:
        """Return the inputs of some examples."""

    def rows(self, kind: str) -> Rows:
        """Return the rows of features that the parts of a kind have, for blocks that ask for them."""


@dataclass(frozen=True)
class Examples:
    """Inputs as they were encoded, once, and the space of their outputs."""

    space: OutputSpace
    inputs: Inputs

    @property
    def n_examples(self) -> int:
        """The number of examples."""
        return self.space.n_examples

    def take(self, examples: Ints | slice) -> Examples:
        """Return some of the examples."""
        return Examples(self.space.take(examples), self.inputs.take(examples))

    def squared(self) -> Examples:
        """Return the examples with the squares of their features."""
        return Examples(self.space, Squared(self.inputs))


@dataclass(frozen=True)
class Squared:
    """Inputs whose features are squared. The other entries of A are zeros and ones, so they are squares already."""

    inputs: Inputs

    @property
    def n_examples(self) -> int:
        """The number of examples."""
        return self.inputs.n_examples

    @property
    def n_bytes(self) -> int:
        """The memory that the inputs take."""
        return self.inputs.n_bytes

    def take(self, examples: Ints | slice) -> Squared:
        """Return the inputs of some examples."""
        return Squared(self.inputs.take(examples))

    def rows(self, kind: str) -> Rows:
        """Return squared rows."""
        return self.inputs.rows(kind).squared()
