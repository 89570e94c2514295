"""From scores to outputs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from maximand.capabilities import Can
from maximand.costs import Cost, Hamming
from maximand.oracles import Projection, Soft
from maximand.sets import ConvexSet, Hull
from maximand.spaces import OutputSpace
from maximand.support import Array, Support
from maximand.targets import Over, Target


class Layer(Protocol):
    """Makes a mean of the parts of the scores, knowing nothing of the outputs."""

    @property
    def needs(self) -> Can:
        """What it asks of a space beyond what every space can."""

    def __call__(self, space: OutputSpace, theta: Array) -> Support:
        """Return the mean, and the value whose gradient it is."""


class Decoder(Protocol):
    """Chooses an output for every example."""

    def __call__(self, space: OutputSpace, theta: Array, known: Any = None) -> Array:
        """Return psi of the chosen outputs, among those that agree with an annotation where one is given."""


def decoded(decoder: Decoder, space: OutputSpace, theta: Array, known: Any = None) -> Array:
    """Return psi of the outputs that a decoder chooses; those of which something is known agree with that."""
    some = np.empty(0, dtype=np.int64) if known is None else np.flatnonzero(known.n_annotated)
    if some.size == space.n_examples:
        return decoder(space, theta, known)
    psi = decoder(space, theta)
    if some.size:
        psi, own = psi.copy(), space.take(some)
        picked = space.layout.pick(theta, some, own.layout)
        space.layout.put(psi, some, decoder(own, picked, known.take(some)), own.layout)
    return psi


def try_decoder(decoder: Decoder, space: OutputSpace) -> None:
    """Decode the largest example with zero scores: a decoder that would fail does so before training."""
    largest = int(np.argmax(space.layout.work))
    one = space.take(slice(largest, largest + 1))
    decoder(one, np.zeros(one.n_parts))


@dataclass(frozen=True)
class MaxScore:
    """The output of largest score; graphs may be asked to find it by another inference than in training.

    Where that returns a mean of several outputs, as relaxations do, it is rounded. Where slots always are hidden, the
    score of an output is the soft maximum over what is hidden, at the temperature `hidden`: marginal MAP; the likeliest
    hidden states come with it. With 0 it is the best output together with what is hidden: joint MAP.
    """

    inference: Any = None
    hidden: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.hidden < np.inf:
            raise ValueError(f"The temperature of what is hidden is {self.hidden}; it must be at least 0 and finite.")

    def __call__(self, space: OutputSpace, theta: Array, known: Any = None) -> Array:
        """Return psi of the best outputs."""
        return space.rounded(self.found(space, theta, known).mean)

    def found(self, space: OutputSpace, theta: Array, known: Any = None) -> Support:
        """Return the best outputs with the chances of what is hidden."""
        space = space if self.inference is None else space.using(self.inference)
        if self.hidden and Can.HIDDEN in space.can:
            return space.mixed(theta if known is None else space.restricted(theta, known), (0.0, self.hidden))
        return space.argmax(theta) if known is None else space.argmax_given(theta, known)


@dataclass(frozen=True)
class Calibrated:
    """The output of least expected cost, when the parts have the mean that `layer` makes of the scores.

    The layer is an oracle: Soft(temperature=1) takes marginals, Euclidean() and Entropic() project, Soft() takes the
    output of largest score, and Euclidean(Everything()) the scores as they are. `among` chooses among the vertices of
    a larger set than the outputs.
    """

    cost: Cost = field(default_factory=Hamming)
    layer: Layer = field(default_factory=lambda: Soft(temperature=1.0))
    among: ConvexSet = field(default_factory=Hull)

    def __post_init__(self) -> None:
        if not isinstance(self.cost, Cost):
            raise ValueError(f"The cost of Calibrated is {self.cost!r}; give a Cost such as Hamming().")
        if isinstance(self.layer, type) or not callable(self.layer):
            raise ValueError(f"The layer of Calibrated is {self.layer!r}; give one such as Euclidean().")

    def __call__(self, space: OutputSpace, theta: Array, known: Any = None) -> Array:
        """E[cost] = v @ psi(y) + c, so the least is the argmax of -v."""
        merits = self.merits(space, theta, known)
        if known is not None:  # vertices of a larger set that are no outputs agree with nothing
            return space.rounded(space.argmax_given(merits, known).mean)
        return space.rounded(self.among.argmax(space, merits).mean)

    def merits(self, space: OutputSpace, theta: Array, known: Any = None) -> Array:
        """Return -v, the scores by which outputs are chosen."""
        return -self.cost.linear(space, self._mean(space, theta, known))[0]

    def _mean(self, space: OutputSpace, theta: Array, known: Any) -> Array:
        missing = self.layer.needs & ~space.can
        if missing:
            layer = self.layer
            heat = layer.temperature if isinstance(layer, Soft) else None
            name = f"Soft(temperature={heat:g})" if isinstance(heat, (int, float)) else repr(layer)
            raise ValueError(
                f"The layer {name} of Calibrated needs {missing.words}, and there are none of this "
                f"{type(space).__name__}; give layer=Euclidean()."
            )
        if known is not None and isinstance(self.layer, (Soft, Projection)):
            return replace(self.layer, over=Over.ANNOTATED)(space, theta, Target(space, known, self.cost)).mean
        return self.layer(space, theta).mean
