"""Forests, and graphs that are nearly so, by eliminating one node after another."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from maximand.capabilities import Can
from maximand.inference.base import Inference, checked_mixture, labelled
from maximand.inference.elimination_order import TooWide, plans_of, side_by_side
from maximand.inference.structure import FactorGraphs, Structures
from maximand.layout import take_runs
from maximand.numerics.elimination import Plans, eliminate_best, eliminate_soft
from maximand.states import again
from maximand.support import Array, Bools, Guarantee, Ints, Support

MOST_ENTRIES = 1 << 24  # of all tables of one graph together
FEW_ENTRIES = 1 << 14  # where another inference answers for graphs that need more


@dataclass
class _Known:
    """Plans that were worked out: for all structures of a batch, and for one whose hidden nodes come first."""

    plans: Plans | None = None
    hidden_first: dict[tuple[int, bytes, float], Plans | TooWide] = field(default_factory=dict)


_known: WeakKeyDictionary[Structures, _Known] = WeakKeyDictionary()


def plans(graphs: FactorGraphs, most_entries: float = MOST_ENTRIES) -> Plans:
    """Return how to eliminate the nodes of each structure, worked out once for each batch and its parts."""
    known = _known.setdefault(graphs.structures, _Known())
    if known.plans is None:
        known.plans = plans_of([(graph, None) for graph in graphs.structures.graphs], graphs.width, most_entries)
    return known.plans


def plans_hidden_first(graphs: FactorGraphs, hidden: Bools, most_entries: float) -> tuple[list[Plans | TooWide], Ints]:
    """Return how to eliminate the nodes of examples, the hidden ones first, and which of these plans each has."""
    known = _known.setdefault(graphs.structures, _Known()).hidden_first
    numbers: dict[tuple[int, bytes, float], int] = {}
    which, listed = np.empty(graphs.n_examples, dtype=np.int64), list[Plans | TooWide]()
    for i, (s, (start, stop)) in enumerate(zip(graphs.which.tolist(), pairwise(graphs.node_offsets), strict=True)):
        inside = hidden[start:stop]
        key = s, inside.tobytes(), most_entries
        which[i] = number = numbers.setdefault(key, len(numbers))
        if number < len(listed):
            continue
        if key not in known:
            try:
                known[key] = plans_of([(graphs.structures.graphs[s], inside)], graphs.width, most_entries)
            except TooWide as error:
                known[key] = error
        listed.append(known[key])
    return listed, which


@dataclass(frozen=True)
class Tree(Inference):
    """Exact maxima and marginals, at any temperature, of forests and of other graphs of small width.

    On a forest the work is linear in the nodes. On a graph with cycles it is the size of the tables that arise when
    nodes are eliminated one by one: k^(width + 1) for each node, where a grid is as wide as its shorter side.

    Where outputs and hidden nodes have temperatures of their own, all hidden nodes are eliminated first. That makes a
    table of all outputs around each connected piece of them: `wide`, where given, answers for graphs whose tables
    have more than some ten thousand entries.
    """

    wide: Inference | None = None

    def check(self, graphs: FactorGraphs) -> None:
        """Refuse graphs whose tables would be too large."""
        try:
            plans(graphs)
        except TooWide as error:
            raise ValueError(
                f"Tree() would need tables of {error.entries:.1g} entries for graph "
                f"{int(np.argmax(graphs.which == error.graph))}; use BeliefPropagation(), LinearProgram() or "
                "GraphCut()."
            ) from None

    @property
    def can(self) -> Can:
        """Sums too, and sums inside of maxima."""
        return Can.MARGINALS | Can.MIXED

    def argmax(self, graphs: FactorGraphs, theta: Array, state: Any = None) -> Support:
        """Return the best labelling of every graph."""
        codes = np.empty(graphs.node_offsets[-1], dtype=np.int64)
        eliminate_best(plans(graphs), graphs.which, graphs.factors, theta, codes)
        return labelled(graphs, theta, codes, Guarantee.EXACT)

    def marginals(self, graphs: FactorGraphs, theta: Array, temperature: float = 1.0, state: Any = None) -> Support:
        """Return the log-sum over all labellings, and the marginals."""
        temperatures = np.full(graphs.node_offsets[-1], float(temperature))
        return _soft(plans(graphs), graphs.which, graphs, theta, temperatures)

    def mixed(
        self, graphs: FactorGraphs, theta: Array, temperatures: tuple[float, float], hidden: Bools, state: Any = None
    ) -> Support:
        """Return the soft maximum over outputs of that over hidden nodes, and the mean."""
        outer, inner = checked_mixture(graphs, temperatures, hidden)
        if outer == inner:
            return self.marginals(graphs, theta, outer) if outer > 0.0 else self.argmax(graphs, theta)
        most = MOST_ENTRIES if self.wide is None else FEW_ENTRIES
        listed, which = plans_hidden_first(graphs, hidden, most)
        narrow = np.array([isinstance(plan, Plans) for plan in listed])[which]
        if narrow.all():
            found = side_by_side([plan for plan in listed if isinstance(plan, Plans)])
            return _soft(found, which, graphs, theta, np.where(hidden, inner, outer))
        if self.wide is None:
            i = int(np.argmin(narrow))
            entries = next(plan.entries for plan in listed if isinstance(plan, TooWide))
            raise ValueError(
                f"Summing out the hidden nodes of graph {i} before its outputs would need tables of {entries:.1g} "
                "entries; use BeliefPropagation(), or one temperature for all nodes."
            )
        if not narrow.any():
            return self.wide.mixed(graphs, theta, temperatures, hidden, **again(state))
        parts = [(self, np.flatnonzero(narrow)), (self.wide, np.flatnonzero(~narrow))]
        return _apart(parts, graphs, theta, temperatures, hidden)


def _apart(
    parts: list[tuple[Inference, Ints]],
    graphs: FactorGraphs,
    theta: Array,
    temperatures: tuple[float, float],
    hidden: Bools,
) -> Support:
    """Return the answers of several inferences, each on some of the examples; these begin anew each time."""
    values, mean, guarantee = np.empty(graphs.n_examples), np.empty(graphs.n_parts), Guarantee.EXACT
    converged = np.ones(graphs.n_examples, dtype=bool)
    for inference, examples in parts:
        part = graphs.take(examples)
        own = hidden[take_runs(graphs.node_offsets, examples)[0]]
        found = inference.mixed(part, graphs.layout.pick(theta, examples, part.layout), temperatures, own)
        values[examples], guarantee = found.value, guarantee & found.guarantee
        graphs.layout.put(mean, examples, found.mean, part.layout)
        if found.converged is not None:
            converged[examples] = found.converged
    return Support(values, mean, guarantee, converged=converged)


def _soft(plans: Plans, which: Ints, graphs: FactorGraphs, theta: Array, temperatures: Array) -> Support:
    values, mean = np.empty(graphs.n_examples), np.empty(graphs.n_parts)
    eliminate_soft(plans, which, graphs.factors, theta, temperatures, values, mean)
    return Support(values, mean)
