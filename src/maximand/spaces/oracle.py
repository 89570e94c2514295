"""A space known only by an argmax, written by the user in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from maximand.caching import cached_property
from maximand.capabilities import Can
from maximand.layout import Kind, Layout, take_runs
from maximand.spaces.base import OutputSpace
from maximand.support import Array, Bools, Guarantee, Ints, Support


@dataclass(frozen=True)
class Parts:
    """Annotations as part counts: psi[p] >= 0 is how often part p occurs, -1 says that it is not known.

    Example i owns parts offsets[i]:offsets[i+1]. Where only some parts are known they must be 0 or 1.
    """

    psi: Array
    offsets: Ints

    @property
    def full(self) -> Bools:
        """Per example: every part is known."""
        return np.logical_and.reduceat(self.psi >= 0, self.offsets[:-1])

    @property
    def n_annotated(self) -> Ints:
        """Per example: 1 where some part is known."""
        return np.logical_or.reduceat(self.psi >= 0, self.offsets[:-1]).astype(np.int64)

    @property
    def open(self) -> Bools:
        """Per part: whether it is not known."""
        return np.asarray(self.psi < 0)

    @property
    def strata(self) -> Ints:
        """What the parts count as where some are sampled: how often they occur, below 0 where that is not known."""
        return np.floor(self.psi).astype(np.int64)

    def only(self, kept: Bools) -> Parts:
        """Return what is known of some parts alone."""
        return Parts(np.where(kept, self.psi, -1.0), self.offsets)

    def turned(self, parts: Ints, counts: Array, label_of_codes: Ints | None = None) -> Parts:
        """Return for each of the parts its example, of which is known too that the part is there where it was not."""
        owners = np.searchsorted(self.offsets, parts, side="right") - 1
        copies = self.take(owners)
        copies.psi[parts - self.offsets[owners] + copies.offsets[:-1]] = counts <= 0
        return copies

    def chances(self, space: Any, mean: Array) -> Array:
        """Return the chances (part, 0 or 1) of not being there, and of being there, when psi has the given mean."""
        there = np.clip(mean, 0.0, 1.0)
        return np.stack([1.0 - there, there], axis=1)

    def agree(self, outputs: Sequence[Array]) -> Bools:
        """Say which outputs, as spaces decode them, agree with the annotation of a single example."""
        return np.asarray(((self.psi < 0) | (np.array(outputs) == self.psi)).all(axis=1))

    @property
    def contradictions_found(self) -> Guarantee:
        """What the best of the pieces of Y° is worth: beside a count above 1, others that contradict are not tried."""
        return Guarantee.UNDER if (self.psi > 1).any() else Guarantee.EXACT

    def contradictions(self) -> Iterator[tuple[Ints, Parts]]:
        """Turn one annotated part around: yield the examples and the annotation of each piece; the pieces overlap."""
        annotated = np.flatnonzero(self.psi >= 0)
        counts = np.diff(np.searchsorted(annotated, self.offsets))
        first = np.cumsum(counts) - counts
        for rank in range(int(counts.max(initial=0))):
            examples = np.flatnonzero(counts > rank)
            turning = annotated[first[examples] + rank]
            _, offsets = take_runs(self.offsets, examples)
            turned = np.full(int(offsets[-1]), -1.0)
            turned[turning - self.offsets[examples] + offsets[:-1]] = np.where(self.psi[turning] > 0, 0.0, 1.0)
            yield examples, Parts(turned, offsets)

    def take(self, examples: Ints | slice) -> Parts:
        """Return the annotation of some examples."""
        slots, offsets = take_runs(self.offsets, examples)
        return Parts(self.psi[slots], offsets)


class OracleSpace(OutputSpace):
    """Outputs found by `argmax(theta_i, instance_i) -> y_i`, counted by `encode(y_i, instance_i) -> psi_i`.

    Everything else is derived from these two. Y* forbids the absent parts with -inf and pays for the present ones a
    bonus larger than any score, so the plain argmax serves; Y° takes the best over all ways to turn one annotated
    part around. `outputs(instance)`, where given, enumerates all outputs and adds exact marginals.
    """

    def __init__(
        self,
        argmax: Callable[[Array, Any], Any],
        instances: Sequence[Any],
        n_parts: Sequence[int] | Ints,
        encode: Callable[[Any, Any], Any] | None = None,
        outputs: Callable[[Any], Iterable[Any]] | None = None,
        guarantee: Guarantee = Guarantee.EXACT,
    ):
        self._argmax = argmax
        self._encode = encode or (lambda y, instance: y)
        self._outputs = outputs
        self.instances = list(instances)
        self.guarantee = guarantee
        self.n_examples = len(self.instances)
        self.offsets = np.concatenate([[0], np.cumsum(np.asarray(n_parts, dtype=np.int64))])

    @cached_property
    def layout(self) -> Layout:
        """As many parts as each instance has."""
        return Layout((Kind("parts", self.offsets),))

    @property
    def can(self) -> Can:
        """Sums too, where all outputs can be listed."""
        return self._usual if self._outputs is None else self._usual | Can.MARGINALS

    @property
    def log_outputs(self) -> float:
        """Where outputs= is given it lists them, however many they are."""
        return inf if self._outputs is None else 0.0

    @property
    def _sizes(self) -> Ints:
        return np.diff(self.offsets)

    def take(self, examples: Ints | slice) -> OracleSpace:
        """Return the batch of some of the examples."""
        chosen = range(self.n_examples)[examples] if isinstance(examples, slice) else examples
        return OracleSpace(
            self._argmax, [self.instances[i] for i in chosen], self._sizes[examples], self._encode, self._outputs,
            self.guarantee,
        )  # fmt: skip

    def psi_of(self, i: int, y: Any) -> Array:
        """Return psi of output y of example i, checked."""
        psi = np.asarray(self._encode(y, self.instances[i]), dtype=float).ravel()
        if psi.size != self._sizes[i]:
            raise ValueError(
                f"The output of instance {i} has {psi.size} parts but the instance has {self._sizes[i]}; encode(y, "
                "instance) must return one count per part."
            )
        if not np.isfinite(psi).all():
            raise ValueError(
                f"The output of instance {i} has {psi[~np.isfinite(psi)][0]} as the count of part "
                f"{int(np.argmin(np.isfinite(psi)))}; counts are finite: correct argmax or encode."
            )
        return psi

    def encode(self, annotation: Parts) -> Array:
        """Return the known counts."""
        return np.maximum(annotation.psi, 0.0)

    def decode(self, psi: Array) -> list[Array]:
        """Return the part counts of every example: the only form of an output that is always at hand."""
        return np.split(psi, self.offsets[1:-1])

    def argmax(self, theta: Array, state: Any = None) -> Support:
        """Ask the user's oracle, example by example."""
        values, mean = np.empty(self.n_examples), np.zeros(self.n_parts)
        for i, (start, stop) in enumerate(zip(self.offsets[:-1], self.offsets[1:], strict=True)):
            part = theta[start:stop]
            psi = self.psi_of(i, self._argmax(part.copy(), self.instances[i]))
            used = psi != 0
            values[i] = float(psi[used] @ part[used])
            if values[i] > -np.inf:
                mean[start:stop] = psi
        return Support(values, mean, self.guarantee)

    def argmax_given(self, theta: Array, annotation: Parts, state: Any = None) -> Support:
        """Best output that agrees with the annotation, by the bonus described above; -inf where there is none."""
        known = annotation.psi >= 0
        sizes = np.abs(np.where(np.isfinite(theta), theta, 0.0)) * np.maximum(1.0, annotation.psi)
        bonus = 2.0 * np.add.reduceat(sizes, self.offsets[:-1]) + 1.0
        forced = np.where(annotation.psi > 0, np.repeat(bonus, self._sizes), 0.0)
        support = self.argmax(np.where(annotation.psi == 0, -np.inf, theta + forced))
        agrees = np.logical_and.reduceat(~known | (support.mean == annotation.psi), self.offsets[:-1])
        mean = np.where(np.repeat(agrees, self._sizes), support.mean, 0.0)
        finite = np.where(mean != 0, theta, 0.0)
        values = np.where(agrees, self.layout.dot(finite, mean), -np.inf)
        more = (annotation.psi > 0) & (support.mean > annotation.psi)  # paid for twice, so that others were passed over
        return Support(values, mean, support.guarantee & Guarantee.UNDER if more.any() else support.guarantee)

    def overlooked(self, annotation: Parts, sign: float = 1.0) -> Ints:
        """Return the annotated examples of which the argmax overlooks every agreeing output where no other is as good.

        The scores are 1 on the parts that are there, -1 on those that are not, 0 on those that are not known. Where
        parts occur once or not at all, an output that agrees is the best of all then. With sign=-1 an argmax is asked
        as one that minimises would have to be.
        """
        known = annotation.psi >= 0
        examples = np.flatnonzero(np.logical_or.reduceat(known, self.offsets[:-1]))
        if not examples.size:
            return examples
        some, asked = annotation.take(examples), self.take(examples)
        theta = np.where(some.psi > 0, 1.0, -1.0) * (some.psi >= 0)
        return examples[~(sign * asked.argmax(sign * theta).value >= asked.layout.dot(theta, asked.encode(some)))]

    @property
    def remedy(self) -> str:
        """Where no output was found, it may be that there are some."""
        return (
            "correct the annotation or drop the example, unless argmax overlooks such outputs: check_oracle compares "
            "it with brute force on small instances"
        )

    def outputs(self) -> Array:
        """Return psi of every output of a batch of one; needs the user's enumeration."""
        if self._outputs is None:
            raise NotImplementedError("This needs every output; give OracleSpace outputs=, a function of the instance.")
        return np.array([self.psi_of(0, y) for y in self._outputs(self.instances[0])])

    def marginals(self, theta: Array, temperature: float = 1.0, state: Any = None) -> Support:
        """Soft maximum by enumeration, where outputs= is given."""
        return self._enumerated(theta, temperature, lambda i, psi: np.ones(len(psi), dtype=bool))

    def marginals_given(self, theta: Array, annotation: Parts, temperature: float = 1.0, state: Any = None) -> Support:
        """Soft maximum over Y* by enumeration."""
        return self._enumerated(theta, temperature, lambda i, psi: ~self._contradicts(i, psi, annotation))

    def marginals_other(self, theta: Array, annotation: Parts, temperature: float = 1.0) -> Support:
        """Soft maximum over Y° by enumeration."""
        return self._enumerated(theta, temperature, lambda i, psi: self._contradicts(i, psi, annotation))

    def _contradicts(self, i: int, psi: Array, annotation: Parts) -> Bools:
        known = annotation.psi[self.offsets[i] : self.offsets[i + 1]]
        return ((psi != known) & (known >= 0)).any(axis=1)

    def _enumerated(self, theta: Array, temperature: float, select: Callable[[int, Array], Bools]) -> Support:
        if self._outputs is None:
            return super().marginals(theta, temperature)
        values, mean = np.full(self.n_examples, -np.inf), np.zeros(self.n_parts)
        for i, (start, stop) in enumerate(zip(self.offsets[:-1], self.offsets[1:], strict=True)):
            psi = self.take(slice(i, i + 1)).outputs()
            psi = psi[select(i, psi)]
            scores = (psi * np.where(psi != 0, theta[start:stop], 0.0)).sum(axis=1)
            if scores.size and scores.max() > -np.inf:
                weights = np.exp((scores - scores.max()) / temperature)
                values[i] = scores.max() + temperature * np.log(weights.sum())
                mean[start:stop] = weights @ psi / weights.sum()
        return Support(values, mean)
