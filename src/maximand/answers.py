"""What is known of the answers of oracles, and what they are held against."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from maximand.oracles import Oracle, Target
from maximand.support import Array, Guarantee, Ints, Support

SLIP = 1e-7  # how far rounding may put a value below the truth, in relation to the numbers that it is made of
LEAST_SIZE = 1e-5  # of these numbers


class Answered(NamedTuple):
    """What is known of the answers of an oracle on some examples.

    `excess` is how much larger the weighted sum of the true maxima may be than that of the values, where that is known.
    `contradicted` is an example whose value is below what its annotation alone makes of it: the oracle is wrong.
    """

    n_examples: int
    guarantee: Guarantee
    n_unconverged: int
    excess: float | None
    contradicted: int | None = None

    @classmethod
    def of(cls, oracle: Oracle, theta: Array, target: Target, support: Support, weight: Array) -> Answered:
        """Return what is known of an answer."""
        unconverged = 0 if support.converged is None else int((~support.converged).sum())
        excess = None
        if support.guarantee.bounds_from_above:
            excess = 0.0
        elif support.bound is not None:
            excess = float(weight @ np.maximum(support.bound - support.value, 0.0))
        wrong = _contradicted(oracle, theta, target, support)
        guarantee = support.guarantee if wrong is None else Guarantee.ESTIMATE
        return cls(support.value.size, guarantee, unconverged, excess, wrong)

    def __and__(self, other: Answered) -> Answered:
        """Return what is known of both together."""
        known = self.excess is not None and other.excess is not None
        return Answered(
            self.n_examples + other.n_examples,
            self.guarantee & other.guarantee,
            self.n_unconverged + other.n_unconverged,
            self.excess + other.excess if known else None,  # type: ignore[operator]
            other.contradicted if self.contradicted is None else self.contradicted,
        )


class Sums(NamedTuple):
    """The weighted sum of the gradients and of the values of an oracle on some examples."""

    slope: Array
    value: float
    answered: Answered


class ExamplePlanes(NamedTuple):
    """Planes of the penalties of single examples, less the score of their annotated parts.

    The difference has few nonzeros where an output differs little from the annotation. `values` holds it for every
    example asked; `which` says which of these got a plane. Plane j has `coefficients` on `parts` of its example, from
    pointers[j] to pointers[j+1]; their score plus offsets[j] is at most the value, and equal at the weights asked.
    `rounding` is how much too large an offset may be for the arithmetic.
    """

    which: Ints
    pointers: Ints
    parts: Ints
    coefficients: Array
    offsets: Array
    values: Array
    rounding: float
    answered: Answered


@dataclass
class Tally:
    """Oracle calls so far, what holds for the values of the loss that came of them, and how the last pass ended.

    `ascents` is the work of dual ascents between calls, in calls of about the same work.
    `contradicted` is the first example at which an oracle was found to be wrong; its answers are estimates then.
    It counts from outside; no oracle knows of it.
    """

    calls: int = 0
    ascents: float = 0.0
    guarantee: Guarantee = Guarantee.EXACT
    unconverged: dict[str, int] = field(default_factory=dict)
    contradicted: int | None = None

    @property
    def n_unconverged(self) -> int:
        """For how many examples a side of the loss had not converged when it was last asked."""
        return max(self.unconverged.values(), default=0)

    @property
    def work(self) -> float:
        """All work so far, in calls: about how long it took, whatever the machine."""
        return self.calls + self.ascents

    def note(self, answered: Answered, negative: bool = False) -> None:
        """Take note of answers; `negative`: their values are subtracted."""
        self.calls += answered.n_examples
        self.guarantee = self.guarantee & (-answered.guarantee if negative else answered.guarantee)
        self.unconverged["reward" if negative else "penalty"] = answered.n_unconverged
        if answered.contradicted is not None:
            self.doubt(answered.contradicted)

    def doubt(self, example: int) -> None:
        """Take note that an oracle is wrong at an example, and warn of it the first time."""
        self.guarantee = Guarantee.ESTIMATE
        if self.contradicted is None:
            self.contradicted = example
            warnings.warn(
                f"Inference is wrong: at example {example} it finds less than the annotated output has, so there is no "
                "certificate. Either its answer is not the best, which check_oracle shows on small examples, or the "
                "annotation is no output that it could find.",
                RuntimeWarning,
                stacklevel=2,
            )


def below(value: Any, least: Any, sizes: Any) -> Any:
    """Whether a value is below its least by more than rounding does, given the sizes of the numbers it is made of."""
    return value < least - SLIP * (sizes + LEAST_SIZE)


def _contradicted(oracle: Oracle, theta: Array, target: Target, support: Support) -> int | None:
    """Return the first example whose value is below what the annotation makes of it."""
    if not support.guarantee.bounds_from_above:
        return None
    least = oracle.least(target.space, theta, target)
    if not below(support.value, least, np.abs(least)).any():  # the sizes are no less
        return None
    sizes = target.space.layout.dot(np.abs(theta), np.abs(support.mean) + np.abs(target.psi))
    wrong = np.flatnonzero(below(support.value, least, sizes + np.abs(least) + np.abs(support.value).max()))
    return int(wrong[0]) if wrong.size else None
