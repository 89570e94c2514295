"""Several outputs for each example at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any

import numpy as np

from maximand.caching import cached_property
from maximand.capabilities import Can
from maximand.layout import Layout
from maximand.spaces.base import OutputSpace
from maximand.spaces.choice import Choice
from maximand.spaces.margins import Doubts
from maximand.states import Several, again, members
from maximand.support import Array, Bools, Geometry, Ints, Support


@dataclass(frozen=True)
class Annotations:
    """An annotation for each factor of a product."""

    factors: tuple[Any, ...]

    @property
    def full(self) -> Bools:
        """Per example: every factor is known."""
        return np.logical_and.reduce([annotation.full for annotation in self.factors])

    @property
    def n_annotated(self) -> Ints:
        """Per example: of how many rows of all factors something is known."""
        return np.sum([annotation.n_annotated for annotation in self.factors], axis=0)

    @property
    def nonempty(self) -> Bools:
        """Whether each factor has an output."""
        return np.logical_and.reduce([factor.nonempty for factor in self.factors])

    def agree(self, outputs: Sequence[tuple[Any, ...]]) -> Bools:
        """Say which outputs agree with the annotation of a single example, factor by factor."""
        return np.logical_and.reduce(
            [annotation.agree(own) for annotation, own in zip(self.factors, zip(*outputs, strict=True), strict=True)]
        )

    def take(self, examples: Ints | slice) -> Annotations:
        """Return the annotation of some examples."""
        return Annotations(tuple(annotation.take(examples) for annotation in self.factors))


class Product(OutputSpace):
    """An output is a tuple with one of each factor; theta holds the vectors of the factors, one after the other."""

    def __init__(self, *factors: OutputSpace):
        sizes = {space.n_examples for space in factors}
        if len(sizes) != 1:
            raise ValueError(f"The factors of a product have {sizes or 'no'} examples; they must have equally many.")
        self.factors = factors
        self.n_examples = sizes.pop()

    @cached_property
    def layout(self) -> Layout:
        """The kinds of parts of each factor in turn."""
        return Layout.product([space.layout for space in self.factors])

    @property
    def quick(self) -> bool:
        """Whether all factors are."""
        return all(space.quick for space in self.factors)

    @property
    def can(self) -> Can:
        """What all factors can; of few outputs each there may be many together."""
        return reduce(and_, (space.can | Can.LISTS for space in self.factors)) & (self._usual | ~Can.LISTS)

    @property
    def log_outputs(self) -> float:
        """Outputs multiply."""
        return sum(space.log_outputs for space in self.factors)

    def split(self, theta: Array) -> list[Array]:
        """Return theta of each factor."""
        return self.layout.split(theta, [len(space.layout.kinds) for space in self.factors])

    def _each(self, answer: Callable[[int, Any, Array], Support], theta: Array) -> Support:
        """Add up the answers of the factors."""
        found = [
            answer(f, space, part) for f, (space, part) in enumerate(zip(self.factors, self.split(theta), strict=True))
        ]
        value = np.sum([support.value for support in found], axis=0)
        mean = np.concatenate([support.mean for support in found])
        mean = self.layout.scale(mean, (value > -np.inf).astype(float))
        bounds = [support.bound for support in found]
        converged = [support.converged for support in found if support.converged is not None]
        return Support(
            value, mean, reduce(and_, (support.guarantee for support in found)),
            None if any(bound is None for bound in bounds) else np.sum(bounds, axis=0),  # type: ignore[arg-type]
            np.logical_and.reduce(converged) if converged else None, Several.of(*(support.state for support in found)),
        )  # fmt: skip

    def take(self, examples: Ints | slice) -> Product:
        """Return the batch of some of the examples."""
        return Product(*(space.take(examples) for space in self.factors))

    @property
    def binary(self) -> bool:
        """Whether all factors are."""
        return all(space.binary for space in self.factors)

    @property
    def nonnegative(self) -> bool:
        """Whether all factors are."""
        return all(space.nonnegative for space in self.factors)

    def encode(self, annotation: Annotations) -> Array:
        """Encode each factor."""
        pairs = zip(self.factors, annotation.factors, strict=True)
        return np.concatenate([space.encode(part) for space, part in pairs])

    def decode(self, psi: Array) -> list[tuple[Any, ...]]:
        """Return a tuple for each example."""
        parts = zip(self.factors, self.split(psi), strict=True)
        return list(zip(*(space.decode(part) for space, part in parts), strict=True))

    def argmax(self, theta: Array, state: Any = None) -> Support:
        """Best output of each factor."""
        states = members(state, len(self.factors))
        return self._each(lambda f, space, part: space.argmax(part, states[f]), theta)

    def argmax_given(self, theta: Array, annotation: Annotations, state: Any = None) -> Support:
        """Best output of each factor that agrees with its annotation."""
        states = members(state, len(self.factors))
        return self._each(lambda f, space, part: space.argmax_given(part, annotation.factors[f], states[f]), theta)

    def argmax_other(self, theta: Array, annotation: Annotations, state: Any = None) -> Support:
        """Best over the factors of outputs that contradict the annotation there first."""
        return self._over_pieces(theta, annotation, 0.0)

    def marginals(self, theta: Array, temperature: float = 1.0, state: Any = None) -> Support:
        """Soft maximum of each factor."""
        states = members(state, len(self.factors))
        return self._each(lambda f, space, part: space.marginals(part, temperature, **again(states[f])), theta)

    def open(self, annotation: Annotations) -> tuple[Any, ...]:
        """Say which slots of each factor the annotation leaves open."""
        return tuple(space.open(own) for space, own in zip(self.factors, annotation.factors, strict=True))

    def mixed(self, theta: Array, temperatures: tuple[float, float], hidden: Any = None, state: Any = None) -> Support:
        """Soft maximum of each factor; `hidden` has what each takes."""
        own = (None,) * len(self.factors) if hidden is None else hidden
        states = members(state, len(self.factors))
        return self._each(lambda f, space, part: space.mixed(part, temperatures, own[f], **again(states[f])), theta)

    def mixed_given(
        self, theta: Array, annotation: Annotations, temperatures: tuple[float, float], state: Any = None
    ) -> Support:
        """Soft maximum of each factor over what agrees with its annotation."""
        own, states = annotation.factors, members(state, len(self.factors))
        return self._each(
            lambda f, space, part: space.mixed_given(part, own[f], temperatures, **again(states[f])), theta
        )

    def marginals_given(
        self, theta: Array, annotation: Annotations, temperature: float = 1.0, state: Any = None
    ) -> Support:
        """Soft maximum of each factor over what agrees with its annotation."""
        own, states = annotation.factors, members(state, len(self.factors))
        return self._each(
            lambda f, space, part: space.marginals_given(part, own[f], temperature, **again(states[f])), theta
        )

    def marginals_other(self, theta: Array, annotation: Annotations, temperature: float = 1.0) -> Support:
        """Soft maximum over the factors of outputs that contradict the annotation there first."""
        return self._over_pieces(theta, annotation, temperature)

    def _over_pieces(self, theta: Array, annotation: Annotations, temperature: float) -> Support:
        """Split Y° by the first factor that contradicts its annotation; the (soft) maximum over the pieces."""

        def piece(first: int) -> Support:
            return self._each(
                lambda f, space, part: _first_off(f, first, space, part, annotation.factors[f], temperature), theta
            )

        pieces = [piece(first) for first in range(len(self.factors))]
        values = np.concatenate([found.value[:, None] for found in pieces], axis=1).ravel()
        choice = Choice(self.n_examples, len(pieces))
        found = choice.marginals(values, temperature) if temperature else choice.argmax(values)
        shares = choice.nodes(found.mean)
        mean = np.sum([self.layout.scale(found.mean, shares[:, f]) for f, found in enumerate(pieces)], axis=0)
        return Support(found.value, mean, reduce(and_, (found.guarantee for found in pieces)))

    def margins(self, theta: Array, annotation: Annotations) -> Doubts:
        """Slots belong to factors."""
        raise ValueError("A Product has no slots of its own; ask its factors for their margins.")

    def project(self, theta: Array, geometry: Geometry = Geometry.EUCLIDEAN, state: Any = None) -> Support:
        """Project onto the hull of each factor."""
        states = members(state, len(self.factors))
        return self._each(lambda f, space, part: space.project(part, geometry, states[f]), theta)

    def project_given(self, theta: Array, annotation: Annotations, geometry: Geometry = Geometry.EUCLIDEAN) -> Support:
        """Project each factor given its annotation."""
        return self._each(lambda f, space, part: space.project_given(part, annotation.factors[f], geometry), theta)

    def outputs(self) -> Array:
        """Return every combination."""
        rows = np.zeros((1, 0))
        for space in self.factors:
            own = space.outputs()
            rows = np.concatenate([np.repeat(rows, len(own), axis=0), np.tile(own, (len(rows), 1))], axis=1)
        return rows


def _first_off(f: int, first: int, space: Any, theta: Array, annotation: Any, temperature: float) -> Support:
    """Answer for factor f when the first factor that contradicts its annotation is `first`."""
    heat = (temperature,) if temperature else ()
    if f < first:
        return (space.marginals_given if temperature else space.argmax_given)(theta, annotation, *heat)
    if f == first:
        return (space.marginals_other if temperature else space.argmax_other)(theta, annotation, *heat)
    return (space.marginals if temperature else space.argmax)(theta, *heat)
