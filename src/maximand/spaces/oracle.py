"""A space known only by an argmax, written by the user in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.spaces.base import OutputSpace
from maximand.spaces.labels import take_slots
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

    def take(self, examples: Ints | slice) -> Parts:
        """Return the annotation of some examples."""
        slots, offsets = take_slots(self.offsets, examples)
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
        self.n_parts = int(self.offsets[-1])

    def take(self, examples: Ints | slice) -> OracleSpace:
        """Return the batch of some of the examples."""
        chosen = range(self.n_examples)[examples] if isinstance(examples, slice) else examples
        return OracleSpace(
            self._argmax, [self.instances[i] for i in chosen], self.work[examples], self._encode, self._outputs,
            self.guarantee,
        )  # fmt: skip

    def psi_of(self, i: int, y: Any) -> Array:
        """Return psi of output y of example i, checked."""
        psi = np.asarray(self._encode(y, self.instances[i]), dtype=float).ravel()
        if psi.size != self.work[i]:
            raise ValueError(
                f"The output of instance {i} has {psi.size} parts but the instance has {self.work[i]}; encode(y, "
                "instance) must return one count per part."
            )
        return psi

    def encode(self, annotation: Parts) -> Array:
        """Return the known counts."""
        return np.maximum(annotation.psi, 0.0)

    def decode(self, psi: Array) -> list[Array]:
        """Return the part counts of every example: the only form of an output that is always at hand."""
        return np.split(psi, self.offsets[1:-1])

    def allowed(self, annotation: Parts) -> Bools:
        """Return the parts that are not annotated as absent. Present parts are enforced by `argmax_given`."""
        return annotation.psi != 0

    def argmax(self, theta: Array) -> Support:
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

    def argmax_given(self, theta: Array, annotation: Parts) -> Support:
        """Best output that agrees with the annotation, by the bonus described above; -inf where there is none."""
        known = annotation.psi >= 0
        sizes = np.abs(np.where(np.isfinite(theta), theta, 0.0)) * np.maximum(1.0, annotation.psi)
        bonus = 2.0 * np.add.reduceat(sizes, self.offsets[:-1]) + 1.0
        forced = np.where(annotation.psi > 0, np.repeat(bonus, self.work), 0.0)
        support = self.argmax(np.where(annotation.psi == 0, -np.inf, theta + forced))
        agrees = np.logical_and.reduceat(~known | (support.mean == annotation.psi), self.offsets[:-1])
        mean = np.where(np.repeat(agrees, self.work), support.mean, 0.0)
        finite = np.where(mean != 0, theta, 0.0)
        values = np.where(agrees, self.dot(finite, mean), -np.inf)
        return Support(values, mean, support.guarantee)

    def argmax_other(self, theta: Array, annotation: Parts) -> Support:
        """Best output that contradicts the annotation.

        An output contradicts y when at least one annotated part is off, so the best of `n_annotated` constrained
        maxima is exact.
        """
        values, mean = np.full(self.n_examples, -np.inf), np.zeros(self.n_parts)
        guarantee = Guarantee.EXACT
        for i in range(self.n_examples):
            start, stop = self.offsets[i], self.offsets[i + 1]
            one = self.take(slice(i, i + 1))
            for p in np.flatnonzero(annotation.psi[start:stop] >= 0):
                turned = np.full(stop - start, -1.0)
                turned[p] = 0.0 if annotation.psi[start + p] > 0 else 1.0
                support = one.argmax_given(theta[start:stop], Parts(turned, one.offsets))
                guarantee = guarantee & support.guarantee
                if support.value[0] > values[i]:
                    values[i] = support.value[0]
                    mean[start:stop] = support.mean
        return Support(values, mean, guarantee)

    def outputs(self) -> Array:
        """Return psi of every output of a batch of one; needs the user's enumeration."""
        if self._outputs is None:
            raise NotImplementedError("This needs every output; give OracleSpace outputs=, a function of the instance.")
        return np.array([self.psi_of(0, y) for y in self._outputs(self.instances[0])])

    def marginals(self, theta: Array, temperature: float = 1.0) -> Support:
        """Soft maximum by enumeration, where outputs= is given."""
        return self._enumerated(theta, temperature, lambda i, psi: np.ones(len(psi), dtype=bool))

    def marginals_given(self, theta: Array, annotation: Parts, temperature: float = 1.0) -> Support:
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

    @property
    def fields(self) -> tuple[Ints, Ints]:
        """A run of parts for each example."""
        return self.offsets, np.zeros_like(self.offsets)
