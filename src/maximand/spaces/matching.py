"""Permutations as matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np

from maximand.capabilities import Can
from maximand.numerics import assignment, precedence, transport_entropic, transport_euclidean
from maximand.spaces.base import OutputSpace
from maximand.spaces.labels import Labels, Orders
from maximand.spaces.table import TableSpace
from maximand.states import Numbers
from maximand.support import Array, Geometry, Guarantee, Ints, Support

TOLERANCE = 1e-10  # of the column sums of a projection; its rows sum to one
MAX_ITERATIONS = 200
MAX_NODES = 10_000  # assignments to search for the best permutation in a given order


@dataclass(frozen=True)
class Matching(TableSpace):
    """Each of k items gets one of k positions, all different: part (l, j) says that item l is at position j.

    The hull is the Birkhoff polytope of doubly stochastic matrices. A slot is an item, its label the position.
    """

    n_items: int

    indicators = True

    @property
    def n_labels(self) -> int:  # type: ignore[override]
        """As many positions as items."""
        return self.n_items

    @property
    def can(self) -> Can:
        """No sums."""
        return self._usual | Can.DIRECT_PROJECTIONS

    @property
    def width(self) -> int:
        """Items times positions."""
        return self.n_items * self.n_items

    @property
    def n_slots(self) -> int:
        """A slot for each item."""
        return self.n_items

    @property
    def binary(self) -> bool:
        """Return True."""
        return True

    def nodes(self, theta: Array) -> Array:
        """View theta as the matrix (item, position), example after example."""
        return theta.reshape(-1, self.n_items)

    def matrices(self, theta: Array) -> Array:
        """View theta as the array (example, item, position)."""
        return theta.reshape(self.n_examples, self.n_items, self.n_items)

    def encode(self, annotation: Labels) -> Array:
        """Return the indicators of the known positions."""
        return annotation.one_hot.ravel()

    def decode(self, psi: Array) -> list[Ints]:
        """Return the position of every item."""
        return list(self.matrices(psi).argmax(axis=2))

    def argmax(self, theta: Array, state: Any = None) -> Support:
        """Linear assignment."""
        values, mean = np.empty(self.n_examples), np.empty(self.n_parts)
        assignment.best_assignments(self.matrices(theta), values, self.matrices(mean))
        return Support(values, mean)

    def argmax_given(self, theta: Array, annotation: Labels, state: Any = None) -> Support:
        """Linear assignment of what is allowed; a search among these where an order says more than positions do."""
        allowed = self.restricted(theta, annotation)
        if not isinstance(annotation, Orders) or not annotation.loose.size:
            return self.argmax(allowed)
        values, bounds, mean = np.empty(self.n_examples), np.empty(self.n_examples), np.empty(self.n_parts)
        scores, means = self.matrices(allowed), self.matrices(mean)
        precedence.best_in_order(scores, annotation.groups, MAX_NODES, values, means, bounds)
        guarantee = Guarantee.EXACT if (bounds <= values).all() else Guarantee.UNDER
        return Support(values, mean, guarantee, bounds)

    def project(self, theta: Array, geometry: Geometry = Geometry.EUCLIDEAN, state: Any = None) -> Support:
        """Solve each row in closed form, given potentials of the columns, and Newton's method finds these.

        The value is that of the semi-dual, never below the true one.
        """
        euclidean, entropic = transport_euclidean.project_euclidean, transport_entropic.project_entropic
        kernel = euclidean if geometry is Geometry.EUCLIDEAN else entropic
        shape = (self.n_examples, self.n_items)
        potentials = np.zeros(shape) if state is None else state.values.reshape(shape).copy()
        values, mean = np.empty(self.n_examples), np.empty(self.n_parts)
        converged = np.empty(self.n_examples, dtype=bool)
        kernel(self.matrices(theta), potentials, TOLERANCE, MAX_ITERATIONS, values, self.matrices(mean), converged)
        guarantee = Guarantee.EXACT if converged.all() else Guarantee.OVER
        return Support(values, mean, guarantee, values, converged, Numbers.equal(potentials))

    def project_given(self, theta: Array, annotation: Labels, geometry: Geometry = Geometry.EUCLIDEAN) -> Support:
        """Forbid all parts that no matching which agrees with the annotation uses.

        Where an order says more than positions do, mix matchings that are in order.
        """
        if isinstance(annotation, Orders) and annotation.loose.size:
            return self._project_orders(theta, annotation, geometry)
        allowed = annotation.allowed_nodes.reshape(self.n_examples, self.n_items, self.n_items)
        possible = np.empty(self.n_examples, dtype=bool)
        assignment.total_support(allowed, possible)
        found = self.project(np.where(allowed.ravel(), theta, -np.inf), geometry)
        if possible.all():
            return found
        return replace(
            found, value=np.where(possible, found.value, -np.inf), mean=self.layout.scale(found.mean, possible)
        )

    def _project_orders(self, theta: Array, annotation: Orders, geometry: Geometry) -> Support:
        """Project examples with and without such orders apart."""
        loose = annotation.loose
        tight = np.setdiff1d(np.arange(self.n_examples), loose)
        value, mean, guarantee = np.empty(self.n_examples), np.empty(self.n_parts), Guarantee.EXACT
        for examples, project in ((loose, OutputSpace.project_given), (tight, Matching.project_given)):
            found = project(
                self.take(examples), self.by_example(theta)[examples].ravel(), annotation.take(examples), geometry
            )
            value[examples], self.by_example(mean)[examples] = found.value, found.mean.reshape(-1, self.width)
            guarantee = guarantee & found.guarantee
        return Support(value, mean, guarantee)

    def outputs(self) -> Array:
        """Return every permutation matrix."""
        orders = np.array(list(permutations(range(self.n_items))))
        return np.eye(self.n_items)[orders].reshape(len(orders), -1)
