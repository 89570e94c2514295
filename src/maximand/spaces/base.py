"""The contract of an output space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf, log
from typing import Any

import numpy as np

from maximand.capabilities import MOST_LISTED, NOTHING, USUAL, Can, sentence
from maximand.layout import Layout
from maximand.spaces import listing, mixtures, scaled_costs
from maximand.spaces.contradictions import over_contradictions
from maximand.spaces.margins import Doubts, by_maxima
from maximand.states import again
from maximand.support import Array, Bools, Geometry, Ints, Support, Waiting


class OutputSpace(ABC):
    """A batch of finite output sets, one for each example, laid side by side.

    Vectors over the parts of the whole batch (`theta`, `psi`, `mean`) are flat float64 arrays. The layout says where
    the parts of each kind are; views of them are matrices, so that scores are written in place by one matrix product.

    An annotation says what is known of the outputs. It has `full` (per example: it leaves exactly one output),
    `n_annotated` (per example: of how many rows of features it says something, see `Objective`), `take`,
    `contradictions`, which cuts Y° into pieces and yields the examples of each with the annotation that is left to
    them, and `contradictions_found`: EXACT where these pieces are all of Y°, UNDER where some is missing.
    """

    n_examples: int

    @property
    def can(self) -> Can:
        """What the space can do of what may be missing."""
        return self._usual

    @property
    def _usual(self) -> Can:
        """What follows from an argmax, and from few outputs."""
        return USUAL | (Can.LISTS if self.log_outputs <= log(MOST_LISTED) else NOTHING)

    @property
    def log_outputs(self) -> float:
        """The logarithm of how many outputs an example has at the most; infinite where that is not known."""
        return inf

    def require(self, needs: Can) -> None:
        """Refuse what the space cannot do, in a sentence."""
        if needs & ~self.can:
            raise ValueError(sentence(type(self).__name__, needs & ~self.can))

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """Where the parts are."""

    @property
    def n_parts(self) -> int:
        """The number of parts of the batch."""
        return self.layout.n_parts

    @abstractmethod
    def take(self, examples: Ints | slice) -> OutputSpace:
        """Return the batch of some of the examples."""

    @abstractmethod
    def encode(self, annotation: Any) -> Array:
        """Return psi of fully annotated outputs; what is not known contributes zeros."""

    def counts(self, annotation: Any) -> Array | Waiting:
        """Return what `encode` does, perhaps to be made when it is read."""
        return self.encode(annotation)

    @abstractmethod
    def decode(self, psi: Array) -> list[Any]:
        """Return the output of every example."""

    def score(self, theta: Array, target: Any) -> Array:
        """Return the score of the known parts of each example, whose `annotation` and `psi` a target has."""
        return self.layout.dot(theta, target.known)

    def restricted(self, theta: Array, annotation: Any) -> Array:
        """Return scores that forbid, by -inf, all parts that no output in Y* uses: what is left is exactly Y*.

        Spaces in which absent parts say something as well answer for Y* themselves.
        """
        raise NotImplementedError(f"Forbidding parts does not describe annotations of a {type(self).__name__}.")

    @abstractmethod
    def argmax(self, theta: Array, state: Any = None) -> Support:
        """Best output: max over y in Y of theta @ psi(y). -inf forbids a part; value -inf says nothing is left.

        `state` is the one of an earlier answer, for spaces that return one.
        """

    def argmax_given(self, theta: Array, annotation: Any, state: Any = None) -> Support:
        """Best output that agrees with the annotation: the maximum over Y*."""
        return self.argmax(self.restricted(theta, annotation), state)

    @property
    def nonempty(self) -> Bools:
        """Per example: whether there is an output, so that Y is not empty."""
        return np.ones(self.n_examples, dtype=bool)

    @property
    def remedy(self) -> str:
        """What to do where no output agrees with an annotation."""
        return "correct the annotation or the rules that forbid outputs, or drop the example"

    def possible(self, annotation: Any) -> Bools:
        """Per example: whether an output agrees with the annotation, so that Y* is not empty."""
        return self.argmax_given(np.zeros(self.layout.n_scores), annotation).value > -np.inf

    def argmax_other(self, theta: Array, annotation: Any, state: Any = None) -> Support:
        """Best output that contradicts the annotation: the maximum over Y°, -inf where Y° is empty.

        A state is given where an earlier answer had one.
        """
        return over_contradictions(self, theta, annotation)

    def marginals(self, theta: Array, temperature: float = 1.0, state: Any = None) -> Support:
        """Soft maximum over Y: temperature * log sum exp(theta @ psi / temperature); mean holds the marginals.

        A state is given, here and below, where an earlier answer had one.
        """
        raise ValueError(sentence(type(self).__name__, Can.MARGINALS))

    def mixed(self, theta: Array, temperatures: tuple[float, float], hidden: Any = None, state: Any = None) -> Support:
        """Soft maximum over the labels of visible slots of that over hidden slots, each at its temperature.

        temperatures = (visible, hidden). `hidden` says of each slot of the batch whether it is, as `open` of an
        annotation does; None: those alone that always are, and these are hidden in any case.
        """
        raise ValueError(sentence(type(self).__name__, Can.MIXED))

    def mixed_given(
        self, theta: Array, annotation: Any, temperatures: tuple[float, float], state: Any = None
    ) -> Support:
        """The same over Y*, where those slots are hidden that the annotation leaves open."""
        return self.mixed(self.restricted(theta, annotation), temperatures, self.open(annotation), **again(state))

    def open(self, annotation: Any) -> Any:
        """Say which slots the annotation leaves open; those are hidden while training."""
        return annotation.open

    def marginals_given(self, theta: Array, annotation: Any, temperature: float = 1.0, state: Any = None) -> Support:
        """Soft maximum over Y*."""
        self.require(Can.MARGINALS)
        return self.marginals(self.restricted(theta, annotation), temperature, **again(state))

    def marginals_other(self, theta: Array, annotation: Any, temperature: float = 1.0) -> Support:
        """Soft maximum over Y°."""
        return over_contradictions(self, theta, annotation, temperature)

    def project(self, theta: Array, geometry: Geometry = Geometry.EUCLIDEAN, state: Any = None) -> Support:
        """Project theta onto the hull of all psi(y): the u in it that maximises theta @ u - Psi(u).

        The default finds a mixture of few outputs, asking for nothing but argmax. `state` is the one of an earlier
        answer, for spaces that return one.
        """
        return mixtures.ActiveSet()(self, theta, geometry)

    def project_given(self, theta: Array, annotation: Any, geometry: Geometry = Geometry.EUCLIDEAN) -> Support:
        """Project theta onto the hull of the outputs that agree with the annotation."""
        return mixtures.ActiveSet()(self, theta, geometry, annotation)

    def argmax_product(self, first: Array, first_constant: Array, second: Array, second_constant: Array) -> Support:
        """Largest product of two affine functions of an output, see `scaled_costs.search`."""
        return scaled_costs.search(self, first, first_constant, second, second_constant)

    @property
    def label_of_codes(self) -> Ints | None:
        """The label of each code that slots may have; None where codes are labels."""
        return None

    def unknown_slots(self, annotation: Any) -> Ints:
        """Return the slots that have a label which the annotation leaves open."""
        return np.flatnonzero(self.open(annotation))

    def margins(self, theta: Array, annotation: Any) -> Doubts:
        """Return how far the best outputs that agree are ahead of the best with another label, for each open slot."""
        return by_maxima(self, theta, annotation)

    def one_versus_all(self, theta: Array, target: Any) -> Support:
        """Return the loss that takes each output alone, see `OneVersusAll`, from a list of all of them."""
        self.require(Can.LISTS)
        return listing.one_versus_all(self, theta, target.listed)

    @abstractmethod
    def outputs(self) -> Array:
        """Return psi of every output of a batch of one, row by row: for small spaces and for the law tests."""

    def rounded(self, mean: Array) -> Array:
        """Return psi of outputs near a mean, for spaces whose oracles may return averages; psi itself stays."""
        return mean

    def using(self, inference: Any) -> OutputSpace:
        """Return the same outputs, found by another inference, for spaces that have one."""
        raise ValueError(f"{type(self).__name__} finds its outputs exactly; leave the inference out.")

    @property
    def quick(self) -> bool:
        """Whether kernels answer in nanoseconds for each part, so that little is worth another thread."""
        return False

    @property
    def binary(self) -> bool:
        """Whether it is known that a part occurs once or not at all, so that every psi(y) is in the unit cube."""
        return False

    @property
    def nonnegative(self) -> bool:
        """Whether no part of any psi(y) is negative, as for counts."""
        return True
