"""Belief propagation: maxima, sums and their mixtures by passing messages along edges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from maximand.capabilities import Can
from maximand.inference.base import Inference, checked_mixture, labelled
from maximand.inference.structure import FactorGraphs
from maximand.numerics.belief_propagation import propagate
from maximand.states import Numbers, Several, members
from maximand.support import Array, Bools, Guarantee, Ints, Support


class _Beliefs(NamedTuple):
    codes: Ints
    values: Array
    mean: Array
    converged: Bools
    state: Numbers | None


@dataclass(frozen=True)
class BeliefPropagation(Inference):
    """Max-product, sum-product and mixed-product belief propagation.

    Exact on forests, where one sweep from the leaves to the roots and back is all it takes. On graphs with cycles the
    messages go round until none changes by more than `tolerance`, relative to the largest score and temperature, at
    most max_iterations times: all at once, or, with `residual`, always the one whose change is largest next. `damping`
    is the share of an old message that is kept; it calms messages that would swing for ever.

    `warm_start` returns the last messages as a state, and begins from those of an earlier answer. It pays where the
    same graphs come again with scores that changed little, as in training. Graphs with cycles may have several
    fixed points: which of them is found depends on the state.
    """

    max_iterations: int = 100
    damping: float = 0.3
    tolerance: float = 1e-9
    residual: bool = False
    warm_start: bool = False

    def __post_init__(self) -> None:
        if self.max_iterations < 1:
            raise ValueError(f"max_iterations is {self.max_iterations}; it must be at least 1.")
        if not 0.0 <= self.damping < 1.0:
            raise ValueError(f"damping is {self.damping}; it must be at least 0 and below 1.")
        if not self.tolerance >= 0.0:
            raise ValueError(f"tolerance is {self.tolerance}; it must be at least 0.")

    @property
    def can(self) -> Can:
        """Sums, and sums inside of maxima."""
        return Can.MARGINALS | Can.MIXED

    def argmax(self, graphs: FactorGraphs, theta: Array, state: Any = None) -> Support:
        """Max-product: the best labelling of forests, and a good one of graphs with cycles."""
        beliefs = self._propagate(graphs, theta, np.zeros(graphs.node_offsets[-1]), state=state)
        guarantee = Guarantee.EXACT if _forests(graphs).all() else Guarantee.UNDER
        found = labelled(graphs, theta, beliefs.codes, guarantee)
        return replace(found, converged=beliefs.converged, state=beliefs.state)

    def marginals(self, graphs: FactorGraphs, theta: Array, temperature: float = 1.0, state: Any = None) -> Support:
        """Sum-product: the soft maximum, and the marginals; on graphs with cycles Bethe's estimates of them."""
        warmth = np.full(graphs.node_offsets[-1], float(temperature))
        beliefs = self._propagate(graphs, theta, warmth, state=state)
        guarantee = Guarantee.EXACT if _forests(graphs).all() else Guarantee.ESTIMATE
        return Support(beliefs.values, beliefs.mean, guarantee, None, beliefs.converged, beliefs.state)

    def mixed(
        self, graphs: FactorGraphs, theta: Array, temperatures: tuple[float, float], hidden: Bools, state: Any = None
    ) -> Support:
        """Mixed-product: the soft maximum over outputs of the soft maximum over hidden nodes, each at its temperature.

        temperatures = (outputs, hidden) are at least 0, where 0 stands for the maximum, for hidden nodes only where it
        does for outputs; `hidden` says of every node of the batch whether it is. Of maximised outputs the mean holds
        the states found, of all other nodes the marginals. With two equal temperatures this is argmax or marginals.

        Maxima and sums do not commute. So the answer is exact only where the outputs of every tree of a forest are
        connected: then no sum over hidden nodes makes outputs depend on each other. Elsewhere it is an estimate; with
        maximised outputs on forests a lower bound, the soft maximum over hidden nodes given the outputs found.
        """
        outer, inner = checked_mixture(graphs, temperatures, hidden)
        if outer > inner == 0.0:
            raise ValueError(
                f"The temperatures are {temperatures}: no messages make a maximum over hidden nodes inside of a soft "
                "maximum over outputs; give hidden nodes a small temperature, such as 0.001."
            )
        if outer == inner:
            return self.marginals(graphs, theta, outer, state) if outer > 0.0 else self.argmax(graphs, theta, state)
        states = members(state, 2)
        beliefs = self._propagate(graphs, theta, np.where(hidden, inner, outer), hidden, states[0])
        converged = beliefs.converged
        exact = bool(converged.all()) and _connected_outputs(graphs, hidden)
        if outer > 0.0:
            guarantee = Guarantee.EXACT if exact else Guarantee.ESTIMATE
            return Support(beliefs.values, beliefs.mean, guarantee, None, converged, Several.of(beliefs.state, None))
        given = theta.copy()
        found = np.arange(graphs.width) == beliefs.codes[:, None]
        graphs.nodes(given)[~hidden[:, None] & ~found] = -np.inf
        inside = self._propagate(graphs, given, np.full(hidden.size, inner), state=states[1])
        guarantee = Guarantee.EXACT if exact else Guarantee.UNDER if _forests(graphs).all() else Guarantee.ESTIMATE
        last = Several.of(beliefs.state, inside.state)
        return Support(inside.values, inside.mean, guarantee, None, converged & inside.converged, last)

    def _propagate(
        self,
        graphs: FactorGraphs,
        theta: Array,
        temperatures: Array,
        hidden: Bools | None = None,
        state: Numbers | None = None,
    ) -> _Beliefs:
        hidden = np.zeros(temperatures.size, dtype=np.bool_) if hidden is None else hidden
        messages = self._messages(graphs, state)
        distinct, levels = np.unique(temperatures, return_inverse=True)
        beliefs = _Beliefs(
            np.empty(temperatures.size, dtype=np.int64),
            np.empty(graphs.n_examples),
            np.empty(graphs.n_parts),
            np.empty(graphs.n_examples, dtype=np.bool_),
            messages if self.warm_start else None,
        )
        propagate(
            graphs.factors, theta, temperatures, hidden, levels, distinct.size, _forests(graphs),
            self.max_iterations, self.damping, self.tolerance, self.residual or None, *beliefs[:4],
            self.warm_start, messages.values, messages.offsets,
        )  # fmt: skip
        return beliefs

    def _messages(self, graphs: FactorGraphs, state: Numbers | None) -> Numbers:
        """Return the messages to begin with, for every example and half edge a row of states."""
        if not self.warm_start:
            return Numbers(np.empty(0), np.empty(0, dtype=np.int64))
        if state is not None:
            return Numbers(state.values.copy(), state.offsets)
        n_edges = np.array([len(graph.edges) for graph in graphs.structures.graphs])
        offsets = np.concatenate([[0], np.cumsum(2 * graphs.width * n_edges[graphs.which])])
        return Numbers(np.zeros(offsets[-1]), offsets)


def _forests(graphs: FactorGraphs) -> Bools:
    return np.asarray(graphs.structures.forests[graphs.which])


def _connected_outputs(graphs: FactorGraphs, hidden: Bools) -> bool:
    """Whether the graphs are forests, and the outputs of each of their trees connected."""
    if not _forests(graphs).all():
        return False
    structures, firsts = graphs.structures.graphs, graphs.node_offsets[:-1].tolist()
    edges = np.concatenate([structures[s].edges + first for s, first in zip(graphs.which, firsts, strict=True)])
    size = hidden.size
    _, trees = connected_components(coo_array((np.ones(len(edges)), edges.T), shape=(size, size)), directed=False)
    # A forest has one tree more for every node that it has more than edges.
    n_pieces = np.count_nonzero(~hidden) - np.count_nonzero(~hidden[edges].any(axis=1))
    return n_pieces == np.unique(trees[~hidden]).size
