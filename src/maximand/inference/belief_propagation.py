"""Belief propagation: maxima, sums and their mixtures by passing messages along edges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from maximand.inference.base import Inference, labelled
from maximand.inference.structure import FactorGraphs
from maximand.numerics.belief_propagation import propagate
from maximand.support import Array, Bools, Guarantee, Ints, Support


class _Beliefs(NamedTuple):
    codes: Ints
    values: Array
    mean: Array
    converged: Bools


@dataclass(frozen=True)
class BeliefPropagation(Inference):
    """Max-product, sum-product and mixed-product belief propagation.

    Exact on forests, where one sweep from the leaves to the roots and back is all it takes. On graphs with cycles the
    messages go round until none changes by more than `tolerance`, relative to the largest score and temperature, at
    most max_iterations times: all at once, or, with `residual`, always the one whose change is largest next. `damping`
    is the share of an old message that is kept; it calms messages that would swing for ever.
    """

    max_iterations: int = 100
    damping: float = 0.3
    tolerance: float = 1e-9
    residual: bool = False

    def __post_init__(self) -> None:
        if self.max_iterations < 1:
            raise ValueError(f"max_iterations is {self.max_iterations}; it must be at least 1.")
        if not 0.0 <= self.damping < 1.0:
            raise ValueError(f"damping is {self.damping}; it must be at least 0 and below 1.")
        if not self.tolerance >= 0.0:
            raise ValueError(f"tolerance is {self.tolerance}; it must be at least 0.")

    def argmax(self, graphs: FactorGraphs, theta: Array) -> Support:
        """Max-product: the best labelling of forests, and a good one of graphs with cycles."""
        beliefs = self._propagate(graphs, theta, np.zeros(graphs.node_offsets[-1]))
        guarantee = Guarantee.EXACT if _forests(graphs).all() else Guarantee.UNDER
        return replace(labelled(graphs, theta, beliefs.codes, guarantee), converged=beliefs.converged)

    def marginals(self, graphs: FactorGraphs, theta: Array, temperature: float = 1.0) -> Support:
        """Sum-product: the soft maximum, and the marginals; on graphs with cycles Bethe's estimates of them."""
        beliefs = self._propagate(graphs, theta, np.full(graphs.node_offsets[-1], float(temperature)))
        guarantee = Guarantee.EXACT if _forests(graphs).all() else Guarantee.ESTIMATE
        return Support(beliefs.values, beliefs.mean, guarantee, converged=beliefs.converged)

    def mixed(self, graphs: FactorGraphs, theta: Array, temperatures: Array) -> Support:
        """Mixed-product: maximum over the nodes of temperature 0 of the soft maximum over all others.

        `temperatures` has one for every node of the batch. The mean holds the states of the former and the marginals
        of the latter. Maxima and sums do not commute, so that both are estimates even on most trees; they are right
        where the nodes of temperature 0 form a connected part of a tree. An example whose temperatures are all equal
        gets the answer of argmax or marginals.
        """
        temperatures = np.asarray(temperatures, dtype=np.float64)
        n_nodes = int(graphs.node_offsets[-1])
        if temperatures.shape != (n_nodes,) or not (temperatures >= 0.0).all():
            raise ValueError(f"Give each of the {n_nodes} nodes of the batch a temperature that is at least 0.")
        beliefs = self._propagate(graphs, theta, temperatures)
        value, mean = beliefs.values, beliefs.mean
        cold = np.maximum.reduceat(temperatures, graphs.node_offsets[:-1]) == 0.0
        if cold.any():
            best = labelled(graphs, theta, beliefs.codes, Guarantee.ESTIMATE)
            value = np.where(cold, best.value, value)
            nodes, tables = (np.repeat(cold, np.diff(of)) for of in (graphs.node_offsets, graphs.table_offsets))
            graphs.nodes(mean)[nodes] = graphs.nodes(best.mean)[nodes]
            graphs.tables(mean)[tables] = graphs.tables(best.mean)[tables]
        return Support(value, mean, Guarantee.ESTIMATE, converged=beliefs.converged)

    def _propagate(self, graphs: FactorGraphs, theta: Array, temperatures: Array) -> _Beliefs:
        distinct, levels = np.unique(temperatures, return_inverse=True)
        beliefs = _Beliefs(
            np.empty(temperatures.size, dtype=np.int64),
            np.empty(graphs.n_examples),
            np.empty(graphs.n_parts),
            np.empty(graphs.n_examples, dtype=np.bool_),
        )
        propagate(
            graphs.factors, theta, temperatures, levels, distinct.size, _forests(graphs), self.max_iterations,
            self.damping, self.tolerance, self.residual, *beliefs,
        )  # fmt: skip
        return beliefs


def _forests(graphs: FactorGraphs) -> Bools:
    return np.asarray(graphs.structures.forests[graphs.which])
