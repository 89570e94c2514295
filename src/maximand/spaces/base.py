"""The contract of an output space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from maximand.numerics import fields
from maximand.spaces import mixtures, scaled_costs
from maximand.support import Array, Bools, Geometry, Ints, Support


class OutputSpace(ABC):
    """A batch of finite output sets, one for each example, laid side by side.

    Vectors over the parts of the whole batch (`theta`, `psi`, `mean`) are flat float64 arrays. A space with several
    kinds of parts lays them out field by field (all node parts, then all transition parts) and gives named views,
    so that scores are written in place by one matrix product.
    """

    n_examples: int
    n_parts: int

    @abstractmethod
    def take(self, examples: Ints | slice) -> OutputSpace:
        """Return the batch of some of the examples."""

    @abstractmethod
    def encode(self, annotation: Any) -> Array:
        """Return psi of fully annotated outputs; what is not known contributes zeros."""

    @abstractmethod
    def decode(self, psi: Array) -> list[Any]:
        """Return the output of every example."""

    def allowed(self, annotation: Any) -> Bools:
        """Return for every part whether an output in Y* may use it: outputs made of allowed parts are exactly Y*.

        Spaces in which absent parts say something as well answer for Y* themselves.
        """
        raise NotImplementedError(f"Forbidding parts does not describe annotations of a {type(self).__name__}.")

    @abstractmethod
    def argmax(self, theta: Array) -> Support:
        """Best output: max over y in Y of theta @ psi(y). -inf forbids a part; value -inf says nothing is left."""

    def argmax_given(self, theta: Array, annotation: Any) -> Support:
        """Best output that agrees with the annotation: the maximum over Y*."""
        return self.argmax(np.where(self.allowed(annotation), theta, -np.inf))

    @abstractmethod
    def argmax_other(self, theta: Array, annotation: Any) -> Support:
        """Best output that contradicts the annotation: the maximum over Y°, -inf where Y° is empty."""

    def marginals(self, theta: Array, temperature: float = 1.0) -> Support:
        """Soft maximum over Y: temperature * log sum exp(theta @ psi / temperature); mean holds the marginals."""
        raise NotImplementedError(
            f"{type(self).__name__} has no marginals; use a loss made of maxima or projections, such as hinge or "
            "euclidean."
        )

    def marginals_given(self, theta: Array, annotation: Any, temperature: float = 1.0) -> Support:
        """Soft maximum over Y*."""
        if type(self).marginals is OutputSpace.marginals:
            return self.marginals(theta, temperature)
        return self.marginals(np.where(self.allowed(annotation), theta, -np.inf), temperature)

    def marginals_other(self, theta: Array, annotation: Any, temperature: float = 1.0) -> Support:
        """Soft maximum over Y°."""
        raise NotImplementedError(
            f"{type(self).__name__} has no marginals; use a loss made of maxima or projections, such as hinge or "
            "euclidean."
        )

    def project(self, theta: Array, geometry: Geometry = Geometry.EUCLIDEAN, start: Array | None = None) -> Support:
        """Project theta onto the hull of all psi(y): the u in it that maximises theta @ u - Psi(u).

        The default finds a mixture of few outputs, asking for nothing but argmax. `start` is the one of an earlier
        answer, for spaces that can make use of it.
        """
        return mixtures.ActiveSet()(self, theta, geometry)

    def project_given(self, theta: Array, annotation: Any, geometry: Geometry = Geometry.EUCLIDEAN) -> Support:
        """Project theta onto the hull of the outputs that agree with the annotation."""
        return mixtures.ActiveSet()(self, theta, geometry, annotation)

    def argmax_product(self, first: Array, first_constant: Array, second: Array, second_constant: Array) -> Support:
        """Largest product of two affine functions of an output, see `scaled_costs.search`."""
        return scaled_costs.search(self, first, first_constant, second, second_constant)

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
    def binary(self) -> bool:
        """Whether it is known that a part occurs once or not at all, so that every psi(y) is in the unit cube."""
        return False

    @property
    def nonnegative(self) -> bool:
        """Whether no part of any psi(y) is negative, as for counts."""
        return True

    @property
    @abstractmethod
    def fields(self) -> tuple[Ints, Ints]:
        """Say where the parts of each example are: in a run of the first field, then in a run of the second.

        Example i owns first[i]:first[i+1] and second[i]:second[i+1].
        """

    def dot(self, theta: Array, mean: Array) -> Array:
        """Return theta_i @ mean_i for every example i."""
        products = np.empty(self.n_examples)
        fields.dots(theta, mean, *self.fields, products)
        return products

    def scale(self, mean: Array, factors: Array) -> Array:
        """Return mean with the parts of example i multiplied by factors[i]."""
        scaled = np.empty(self.n_parts)
        fields.scale(mean, factors, *self.fields, scaled)
        return scaled

    def nonzeros(self, vector: Array, examples: Ints) -> tuple[Ints, Ints, Array]:
        """Return the nonzero entries of some examples as CSR rows (pointers, parts, values) over their own parts."""
        return fields.nonzeros(vector, *self.fields, examples)

    @property
    def work(self) -> Ints:
        """Parts per example, a measure of its cost: batches are cut into pieces of similar work."""
        first, second = self.fields
        return np.diff(first) + np.diff(second)
