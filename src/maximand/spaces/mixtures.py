"""Projections for any space that has an argmax: the mean as a mixture of the outputs found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from maximand.numerics.active_set import fully_correct
from maximand.numerics.away_steps import step_away
from maximand.numerics.mixtures import Held, compact, measure, slopes
from maximand.support import Array, Bools, Geometry, Guarantee, Ints, Support

if TYPE_CHECKING:
    from maximand.spaces.base import OutputSpace

ROUNDING = 16 * np.finfo(float).eps
OUTPUTS_AT_FIRST = 8


@dataclass(frozen=True)
class Mixture:
    """Means of a batch as averages of outputs.

    Example i has outputs offsets[i]:offsets[i+1], the likeliest first; their chances are positive and sum to one.
    The psi of output k holds values[pointers[k]:pointers[k+1]] at parts[pointers[k]:pointers[k+1]] of the n_parts[i]
    parts of its example, numbered as in a batch of that example alone.
    """

    offsets: Ints
    chances: Array
    pointers: Ints
    parts: Ints
    values: Array
    n_parts: Ints

    def example(self, i: int) -> tuple[Array, Array]:
        """Return the chances and the psi, row by row, of the outputs of example i: chances @ psi is its mean."""
        start, stop = int(self.offsets[i]), int(self.offsets[i + 1])
        psi = np.zeros((stop - start, int(self.n_parts[i])))
        used = slice(int(self.pointers[start]), int(self.pointers[stop]))
        rows = np.repeat(np.arange(stop - start), np.diff(self.pointers[start : stop + 1]))
        psi[rows, self.parts[used]] = self.values[used]
        return self.chances[start:stop], psi


class Mixing:
    """Finds the projection of theta onto the hull of psi(Y), or of psi(Y*), as a mixture of outputs.

    An example has converged when its gap, slope @ (v - u) for the argmax v, is at most `tolerance` times the larger of
    1 and its value, or as small as rounding lets it be. The parts of outputs must not be negative.
    """

    tolerance: float
    max_rounds: int
    advance: ClassVar[Callable[..., None]]

    def __call__(
        self, space: OutputSpace, theta: Array, geometry: Geometry = Geometry.EUCLIDEAN, annotation: Any = None
    ) -> Support:
        """Return max over u in the hull of theta @ u - Psi(u), and its u."""
        return self.mixture(space, theta, geometry, annotation)[0]

    def mixture(
        self, space: OutputSpace, theta: Array, geometry: Geometry = Geometry.EUCLIDEAN, annotation: Any = None
    ) -> tuple[Support, Mixture]:
        """Return the projection and the outputs that it is an average of."""
        if not space.nonnegative:
            raise ValueError(f"Some parts of this {type(space).__name__} are negative; mixtures are of counts.")
        return _project(space, theta, geometry, annotation, self.tolerance, self.max_rounds, type(self).advance)


@dataclass(frozen=True)
class ActiveSet(Mixing):
    """Project by adding the argmax at the present slope and solving for the best chances of all outputs held.

    For the Euclidean geometry this is Wolfe's algorithm for the nearest point of a polytope (and SparseMAP), which
    ends after finitely many rounds with few outputs. The entropic mean uses every part that it may, so it holds about
    as many outputs as there are parts, and each round costs their square: meant for examples of some hundred parts.
    Entropic means below 1e-30 may be returned as 0.
    """

    tolerance: float = 1e-12
    max_rounds: int = 5000

    advance: ClassVar[Callable[..., None]] = fully_correct


@dataclass(frozen=True)
class AwaySteps(Mixing):
    """Project by Frank-Wolfe with away steps: towards the argmax, or away from the worst output held.

    Rounds are cheap and memory small, but the gap falls by a factor only, which is close to 1 where the outputs that
    share a rare part must trade their chances: use it where the outputs of an active set would be too many, or to
    check one.
    """

    tolerance: float = 1e-9
    max_rounds: int = 10_000

    advance: ClassVar[Callable[..., None]] = step_away


class _Outputs:
    """The outputs that each example holds, with room for more."""

    def __init__(self, n_examples: int, n_parts: int, factored: bool):
        room, self.factored = OUTPUTS_AT_FIRST, factored
        self.used = 0
        self.held = Held(
            counts=np.zeros(n_examples, dtype=np.int64),
            rows=np.zeros((n_examples, room), dtype=np.int64),
            chances=np.zeros((n_examples, room)),
            factors=np.zeros((n_examples, room * (room + 1) // 2 if factored else 0)),
            weights=np.ones(n_parts if factored else 0),
            pointers=np.zeros(1, dtype=np.int64),
            parts=np.zeros(0, dtype=np.int32),
            values=np.zeros(0),
        )

    def add(self, pointers: Ints, parts: Ints, values: Array) -> Ints:
        """Store CSR rows, which nobody holds yet, and return their numbers."""
        held, n = self.held, pointers.size - 1
        if self.used + n >= held.pointers.size or held.pointers[self.used] + parts.size > held.parts.size:
            held = self._compacted(n, parts.size)
        start = held.pointers[self.used]
        held.pointers[self.used : self.used + n + 1] = start + pointers
        held.parts[start : start + parts.size] = parts
        held.values[start : start + parts.size] = values
        self.used += n
        if held.counts.max() == held.rows.shape[1]:
            self._widen()
        return np.arange(self.used - n, self.used)

    @property
    def _taken(self) -> Bools:
        """Which places (example, output) are in use."""
        return np.arange(self.held.rows.shape[1]) < self.held.counts[:, None]

    def _compacted(self, n_more: int, n_more_entries: int) -> Held:
        """Leave out the rows that nobody holds, and make room for twice the rest and what is to come."""
        held = self.held
        rows = held.rows[self._taken]
        live = int(np.sum(held.pointers[rows + 1] - held.pointers[rows]))
        pointers = np.zeros(2 * (rows.size + n_more) + 1, dtype=np.int64)
        n_entries = 2 * (live + n_more_entries)
        parts, values = np.empty(n_entries, dtype=np.int32), np.empty(n_entries)
        compact(held, pointers, parts, values)
        self.held = held._replace(pointers=pointers, parts=parts, values=values)
        self.used = rows.size
        return self.held

    def _widen(self) -> None:
        """Make room for twice as many outputs for each example."""
        held = self.held
        n, room = held.rows.shape
        wider = 2 * room
        rows, chances = np.zeros((n, wider), dtype=np.int64), np.zeros((n, wider))
        rows[:, :room], chances[:, :room] = held.rows, held.chances
        factors = held.factors
        if self.factored:
            factors = np.zeros((n, wider * (wider + 1) // 2))
            factors[:, : held.factors.shape[1]] = held.factors
        self.held = held._replace(rows=rows, chances=chances, factors=factors)

    def mixture(self, n_parts: Ints) -> Mixture:
        """Return the outputs held, the likeliest of each example first."""
        held = self.held
        examples = np.repeat(np.arange(held.counts.size), held.counts)
        chances, rows = held.chances[self._taken], held.rows[self._taken]
        order = np.lexsort((-chances, examples))
        chances, rows = chances[order], rows[order]
        lengths = held.pointers[rows + 1] - held.pointers[rows]
        pointers = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.arange(pointers[-1]) + np.repeat(held.pointers[rows] - pointers[:-1], lengths)
        offsets = np.concatenate([[0], np.cumsum(held.counts)])
        return Mixture(offsets, chances, pointers, held.parts[entries], held.values[entries], n_parts)


def _project(
    space: OutputSpace,
    theta: Array,
    geometry: Geometry,
    annotation: Any,
    tolerance: float,
    max_rounds: int,
    advance: Callable[..., None],
) -> tuple[Support, Mixture]:
    """Run rounds for all examples at once: one argmax for those that have not converged, then `advance`.

    An exact argmax makes the value exact where the gap has closed, else a lower bound; an argmax that finds outputs,
    not always the best, makes it a lower bound; one that relaxes Y (OVER) may leave the hull, and the value is an
    estimate. By concavity value + max over v of slope @ (v - u) is never below the truth: the `bound`.
    """
    n, entropic = space.n_examples, geometry is Geometry.ENTROPIC
    theta = space.layout.expand(np.asarray(theta, dtype=float))
    places, starts = space.layout.places, np.concatenate([[0], np.cumsum(space.layout.work)])
    own_theta, own_mean = theta[places], np.zeros(space.n_parts)
    outputs = _Outputs(n, space.n_parts, factored=advance is fully_correct)
    converged: Bools = np.zeros(n, dtype=bool)
    bound, guarantee = np.full(n, np.inf), Guarantee.EXACT
    chosen, part, part_places, known = np.arange(n), space, places, annotation
    for _ in range(max_rounds):
        scores = np.empty(part.n_parts)
        slopes(own_theta, own_mean, starts, chosen, part_places, entropic, scores)
        best = part.argmax(scores) if annotation is None else part.argmax_given(scores, known)
        guarantee = guarantee & best.guarantee
        found = part.layout.nonzeros(best.mean, np.arange(chosen.size))
        reached, along, value, size = (np.empty(chosen.size) for _ in range(4))
        measure(
            own_theta, own_mean, starts, chosen, part_places, scores, found, entropic, reached, along, value, size
        )  # fmt: skip
        gaps = np.where(outputs.held.counts[chosen] > 0, reached - along, np.inf)
        gaps[np.isneginf(best.value)] = -np.inf
        highest = best.value if best.guarantee.bounds_from_above else best.bound
        if highest is not None:
            bound[chosen] = np.minimum(bound[chosen], value + np.maximum(highest - along, 0.0))
        goals = tolerance * np.maximum(1.0, np.abs(value))
        done = gaps <= np.maximum(goals, ROUNDING * size)
        if done.any():
            converged[chosen[done]] = True
            going = np.flatnonzero(~done)
            chosen, gaps, goals = chosen[going], gaps[going], goals[going]
            if not going.size:
                break
            found = part.layout.nonzeros(best.mean, going)
            part, known = space.take(chosen), None if annotation is None else annotation.take(chosen)
            part_places = part.layout.places
        new = outputs.add(*found)
        advance(own_theta, own_mean, starts, chosen, new, gaps, 0.1 * goals, outputs.held, entropic)
    mean = np.empty(space.n_parts)
    mean[places] = own_mean
    used = np.where(mean > 0.0, theta, 0.0)
    values = space.layout.dot(used, mean) - space.layout.dot(np.ones(space.n_parts), geometry.terms(mean))
    empty = converged & (outputs.held.counts == 0)
    values[empty] = bound[empty] = -np.inf
    if guarantee is Guarantee.OVER:
        guarantee = Guarantee.ESTIMATE
    elif guarantee is Guarantee.EXACT and not converged.all():
        guarantee = Guarantee.UNDER
    bounded = guarantee is not Guarantee.EXACT and bool((bound < np.inf).all())
    support = Support(values, mean, guarantee, bound if bounded else None, converged)
    return support, outputs.mixture(np.diff(starts))
