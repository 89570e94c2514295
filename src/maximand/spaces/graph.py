"""A label for every node of a graph, scored by node and by edge."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np

from maximand.capabilities import NOTHING, USUAL, Can
from maximand.inference import FactorGraphs, Inference, Structure, Structures, labelled
from maximand.inference.automatic import automatic
from maximand.layout import Layout, take_runs
from maximand.spaces.labelled import LabelledSpace
from maximand.spaces.labels import Labels
from maximand.support import Array, Bools, Guarantee, Ints, Support, Temperature


class Graph(LabelledSpace):
    """Labelled graphs. The parts are nodes (node, state), then tables (table, state, state) for the edges.

    Edges that share a table count in it, so memory stays linear in the nodes where tables are tied. A node with fewer
    states than `n_labels` leaves the rest of its row unused. `inference` finds outputs and says what they are worth.
    `hidden` says of every node of the batch whether it is never annotated.
    """

    def __init__(
        self,
        graphs: FactorGraphs | Sequence[Structure],
        inference: Inference | None = None,
        hidden: Bools | None = None,
    ):
        self.graphs = graphs if isinstance(graphs, FactorGraphs) else FactorGraphs.of(graphs)
        if inference is None:
            inference = automatic(self.graphs)
        else:
            inference.check(self.graphs)
        self.inference, self.hidden = inference, hidden
        self.n_labels, self.n_examples = self.graphs.width, self.graphs.n_examples
        self.offsets = self.graphs.node_offsets

    @property
    def can(self) -> Can:
        """What the inference can; hidden nodes are those that the space was given."""
        own = self.inference.can if self.hidden is not None else self.inference.can & ~Can.MIXED
        return USUAL | own | (Can.HIDDEN if self.hidden is not None else NOTHING)

    def require(self, needs: Can) -> None:
        """Refuse what the inference cannot do, in a sentence."""
        self.inference.require(needs & (Can.MARGINALS | Can.MIXED) & ~self.inference.can)
        super().require(needs)

    @property
    def layout(self) -> Layout:
        """Nodes, then tables."""
        return self.graphs.layout

    @property
    def slots(self) -> Ints:
        """The example that each node belongs to."""
        return np.repeat(np.arange(self.n_examples), np.diff(self.offsets))

    def nodes(self, theta: Array) -> Array:
        """View the node parts as the matrix (node, state)."""
        return self.graphs.nodes(theta)

    def tables(self, theta: Array) -> Array:
        """View the table parts as an array (table, left state, right state)."""
        return self.graphs.tables(theta)

    def take(self, examples: Ints | slice) -> Graph:
        """Return the batch of some of the examples."""
        hidden = None if self.hidden is None else self.hidden[take_runs(self.offsets, examples)[0]]
        return self._of(self.graphs.take(examples), hidden)

    def using(self, inference: Inference) -> Graph:
        """Return the same graphs with another inference."""
        if not isinstance(inference, Inference):
            raise ValueError(f"The inference is {inference!r}; give an object, such as Greedy() or GraphCut().")
        return Graph(self.graphs, inference, self.hidden)

    def without_edges(self) -> Graph:
        """Return the same nodes, which are independent then."""
        structures = self.graphs.structures
        alone = [Structure.of(graph.states, []) for graph in structures.graphs]
        return Graph(FactorGraphs(Structures(alone, self.n_labels), self.graphs.which), None, self.hidden)

    def _of(self, graphs: FactorGraphs, hidden: Bools | None) -> Graph:
        """Return the space of graphs that the inference was checked for."""
        space = object.__new__(Graph)
        space.graphs, space.inference, space.hidden = graphs, self.inference, hidden
        space.n_labels, space.n_examples = graphs.width, graphs.n_examples
        space.offsets = graphs.node_offsets
        return space

    def encode(self, annotation: Labels) -> Array:
        """Count the parts of known labels; a pair counts when both of its labels are known."""
        beyond = np.flatnonzero(annotation.codes >= self.graphs.states)
        if beyond.size:
            i = int(np.searchsorted(self.offsets, beyond[0], side="right")) - 1
            raise ValueError(
                f"Node {beyond[0] - int(self.offsets[i])} of graph {i} has label {annotation.codes[beyond[0]]}, but "
                f"its {self.graphs.states[beyond[0]]} states are numbered from 0."
            )
        if annotation.full.all():
            return labelled(self.graphs, np.zeros(self.n_parts), annotation.codes, Guarantee.EXACT).mean
        psi = np.zeros(self.n_parts)
        self.nodes(psi)[:] = annotation.one_hot
        tables, codes = self.tables(psi), annotation.codes
        for i, s in enumerate(self.graphs.which):
            graph = self.graphs.structures.graphs[s]
            ends = codes[self.offsets[i] + graph.edges]
            known = (ends >= 0).all(axis=1)
            used = self.graphs.table_offsets[i] + graph.tables[known]
            np.add.at(tables, (used, ends[known, 0], ends[known, 1]), 1.0)
        return psi

    def decode(self, psi: Array) -> list[Ints]:
        """Return the labels of the nodes of every graph; of a mean, the likeliest of each node."""
        return self.split(self.nodes(psi).argmax(axis=1))

    def split(self, rows: np.ndarray) -> list[np.ndarray]:
        """Cut an array with a row for each node into one array for each graph."""
        return [rows[start:stop] for start, stop in pairwise(self.offsets.tolist())]

    def rounded(self, mean: Array) -> Array:
        """Return psi of the likeliest label of each node, where a mean is of more than one output."""
        nodes = self.nodes(mean)
        if ((nodes == 0.0) | (nodes == 1.0)).all():
            return mean
        return self.encode(Labels(nodes.argmax(axis=1), self.offsets, self.n_labels))

    def possible(self, annotation: Labels) -> Bools:
        """Whether every node has a state that the annotation allows: nothing forbids a pair."""
        allowed = annotation.allowed_nodes & (np.arange(self.n_labels) < self.graphs.states[:, None])
        return np.logical_and.reduceat(allowed.any(axis=1), self.offsets[:-1])

    def argmax(self, theta: Array, state: Any = None) -> Support:
        """Ask the inference."""
        self._check_scores(theta)
        return self.inference.argmax(self.graphs, theta, state)

    def marginals(self, theta: Array, temperature: Temperature = 1.0) -> Support:
        """Ask the inference."""
        self._check_scores(theta)
        if not isinstance(temperature, tuple):
            return self.inference.marginals(self.graphs, theta, temperature)
        self.require(Can.MIXED)
        assert self.hidden is not None
        return self.inference.mixed(self.graphs, theta, temperature, self.hidden)

    def _check_scores(self, theta: Array) -> None:
        """Refuse NaN and infinity, naming the graph: kernels would go astray, or round for ever."""
        if theta.shape != (self.n_parts,):
            raise ValueError(f"theta has shape {theta.shape}; the graphs have {self.n_parts} parts.")
        if (theta < np.inf).all():  # false for NaN too
            return
        part = int(np.argmin(theta < np.inf))
        kind = int(part >= self.graphs.n_node_parts)
        begins = self.layout.begins[kind]
        i = int(np.searchsorted(begins, part, side="right")) - 1
        item = (part - int(begins[i])) // self.n_labels ** (1 + kind)
        raise ValueError(
            f"The scores of {('node', 'table')[kind]} {item} of graph {i} hold {theta[part]}; they must be finite, or "
            "-inf to forbid a part."
        )

    def argmax_other(self, theta: Array, annotation: Labels) -> Support:
        """Best labelling that contradicts the annotation: where the best one of all does so, that is it."""
        best = self.argmax(theta)
        chosen = self.nodes(best.mean) == 1.0
        off = np.logical_or.reduceat((chosen & ~annotation.allowed_nodes).any(axis=1), self.offsets[:-1])
        single = np.logical_and.reduceat(chosen.any(axis=1), self.offsets[:-1])
        rest = np.flatnonzero(~(off & single))
        if not rest.size:
            return best
        part = self.take(rest)
        other = super(Graph, part).argmax_other(self.layout.pick(theta, rest, part.layout), annotation.take(rest))
        value, mean = best.value.copy(), best.mean.copy()
        value[rest] = other.value
        self.layout.put(mean, rest, other.mean, part.layout)
        bound, converged = best.bound, best.converged
        if bound is not None and other.bound is not None:
            bound = bound.copy()
            bound[rest] = other.bound
        if converged is not None and other.converged is not None:
            converged = converged.copy()
            converged[rest] = other.converged
        known = None if other.bound is None else bound
        return Support(value, mean, best.guarantee & other.guarantee, known, converged)

    def outputs(self) -> Array:
        """Return psi of every labelling of a batch of one."""
        labellings = product(*(range(k) for k in self.graphs.states))
        return np.array([self.encode(Labels(np.array(codes), self.offsets, self.n_labels)) for codes in labellings])

    def __repr__(self) -> str:
        return (
            f"Graph({self.n_examples} graphs, {int(self.offsets[-1])} nodes, {self.n_labels} labels, {self.inference})"
        )
