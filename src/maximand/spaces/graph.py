"""A label for every node of a graph, scored by node and by edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product
from math import prod
from typing import Any

import numpy as np

from maximand.capabilities import NOTHING, Can
from maximand.inference import FactorGraphs, Inference, Structure, Structures, labelled
from maximand.inference.choosing import chosen_inference
from maximand.layout import Layout, take_runs
from maximand.spaces.label_states import LabelStates
from maximand.spaces.labelled import LabelledSpace, joined_hidden
from maximand.spaces.labels import Labels
from maximand.spaces.node_types import NodeTypes, TypedParts
from maximand.spaces.summed_states import mixed_states
from maximand.states import again
from maximand.support import Array, Bools, Guarantee, Ints, Support


class Graph(LabelledSpace):
    """Labelled graphs. The parts are nodes (node, state), then tables (table, state, state) for the edges.

    Edges that share a table count in it, so memory stays linear in the nodes where tables are tied. A node with fewer
    states than `n_labels` leaves the rest of its row unused. `inference` finds outputs and says what they are worth.
    `hidden` says of every node of the batch whether it is never annotated. Where nodes are of several `types`, each
    type has a kind of parts with labels of its own, and so has each pair of types that tables join. Nodes of one type
    may have `states` of labels in the place of these.
    """

    def __init__(
        self,
        graphs: FactorGraphs | Sequence[Structure],
        inference: Inference | None = None,
        hidden: Bools | None = None,
        types: NodeTypes | None = None,
        states: LabelStates | None = None,
    ):
        self.graphs = graphs if isinstance(graphs, FactorGraphs) else FactorGraphs.of(graphs)
        if inference is None:
            inference = chosen_inference(self.graphs)
        else:
            inference.check(self.graphs)
        if types is not None:
            types.check(self.graphs.structures)
        self._set(self.graphs, inference, hidden, types, states)

    def _set(
        self,
        graphs: FactorGraphs,
        inference: Inference,
        hidden: Bools | None,
        types: NodeTypes | None,
        states: LabelStates | None,
    ) -> None:
        self.graphs, self.inference, self.hidden, self.types, self.states = graphs, inference, hidden, types, states
        self.typed = None if types is None else TypedParts(types, graphs)
        self.indicators = types is None
        self.n_labels = graphs.width if types is None else types.n_labels
        self.n_examples, self.offsets = graphs.n_examples, graphs.node_offsets

    @property
    def can(self) -> Can:
        """What the inference can; nodes may always be hidden where the space was given some."""
        never = self.hidden is None and (self.states is None or not self.states.several)
        return self._usual | self.inference.can | (NOTHING if never else Can.HIDDEN)

    def require(self, needs: Can) -> None:
        """Refuse what the inference cannot do, in a sentence."""
        self.inference.require(needs & (Can.MARGINALS | Can.MIXED) & ~self.inference.can)
        super().require(needs)

    @property
    def layout(self) -> Layout:
        """Nodes, then tables."""
        return self.graphs.layout if self.typed is None else self.typed.layout

    @property
    def slots(self) -> Ints:
        """The example that each node belongs to."""
        return np.repeat(np.arange(self.n_examples), np.diff(self.offsets))

    def nodes(self, theta: Array) -> Array:
        """View the node parts as the matrix (node, label); of several types, a copy that is 0 where a type has none."""
        return self.graphs.nodes(theta) if self.typed is None else self.typed.by_label(theta)

    def tables(self, theta: Array) -> Array:
        """View the table parts as an array (table, left state, right state); of several types, a copy."""
        return self.graphs.tables(self._packed(theta))

    def _packed(self, theta: Array) -> Array:
        """Return scores as inferences take them."""
        return theta if self.typed is None else self.typed.packed(theta)

    def _unpacked(self, found: Support) -> Support:
        """Return what an inference found by the kinds of this space."""
        return found if self.typed is None else replace(found, mean=self.typed.unpacked(found.mean))

    def take(self, examples: Ints | slice) -> Graph:
        """Return the batch of some of the examples."""
        hidden = None if self.hidden is None else self.hidden[take_runs(self.offsets, examples)[0]]
        space = object.__new__(Graph)  # of graphs that were checked
        space._set(self.graphs.take(examples), self.inference, hidden, self.types, self.states)
        return space

    def using(self, inference: Inference) -> Graph:
        """Return the same graphs with another inference."""
        if not isinstance(inference, Inference):
            raise ValueError(f"The inference is {inference!r}; give an object, such as Greedy() or GraphCut().")
        return Graph(self.graphs, inference, self.hidden, self.types, self.states)

    def restricted(self, theta: Array, annotation: Labels) -> Array:
        """Forbid the labels that the annotation excludes, type by type."""
        if self.typed is None:
            return super().restricted(theta, annotation)
        theta = theta.copy()
        for nodes, allowed in zip(self.typed.nodes(theta), self.typed.of_labels(annotation.allowed_nodes), strict=True):
            nodes[~allowed] = -np.inf
        return theta

    def affine(self, values: Array) -> tuple[Array, Array]:
        """Bring what labels of nodes are worth to the parts of their types."""
        if self.typed is None:
            return super().affine(values)
        vector = np.zeros(self.n_parts)
        for nodes, own in zip(self.typed.nodes(vector), self.typed.of_labels(values), strict=True):
            nodes[:] = own
        return vector, np.zeros(self.n_examples)

    def without_edges(self) -> Graph:
        """Return the same nodes, which are independent then."""
        structures = self.graphs.structures
        alone = [Structure.of(graph.states, [], types=graph.types) for graph in structures.graphs]
        graphs = FactorGraphs(Structures(alone, self.graphs.width), self.graphs.which)
        types = None if self.types is None else replace(self.types, joined=())
        return Graph(graphs, None, self.hidden, types, self.states)

    def encode(self, annotation: Labels) -> Array:
        """Count the parts of known labels; a pair counts when both of its labels are known."""
        return self._encoded(self._states(annotation))

    def _states(self, annotation: Labels) -> Ints:
        """Return the states of known labels, -1 for others."""
        codes, states = annotation.codes, self.graphs.states
        if self.typed is not None:
            codes = np.where(codes >= 0, self.typed.states(codes), -1)
        beyond = np.flatnonzero((codes >= states) | ((codes < 0) & (annotation.codes >= 0)))
        if beyond.size:
            i = int(np.searchsorted(self.offsets, beyond[0], side="right")) - 1
            has = f"its {states[beyond[0]]} states are numbered from 0"
            raise ValueError(
                f"Node {beyond[0] - int(self.offsets[i])} of graph {i} has label {annotation.codes[beyond[0]]}, but "
                f"{has if self.typed is None else 'its type has no such label'}."
            )
        return codes

    def _encoded(self, states: Ints) -> Array:
        graphs = self.graphs
        if (states >= 0).all():
            found = labelled(graphs, np.zeros(graphs.n_parts), states, Guarantee.EXACT)
            return self._unpacked(found).mean
        psi = np.zeros(graphs.n_parts)
        known = np.flatnonzero(states >= 0)
        graphs.nodes(psi)[known, states[known]] = 1.0
        tables = graphs.tables(psi)
        for i, s in enumerate(graphs.which):
            graph = graphs.structures.graphs[s]
            ends = states[self.offsets[i] + graph.edges]
            both = (ends >= 0).all(axis=1)
            used = graphs.table_offsets[i] + graph.tables[both]
            np.add.at(tables, (used, ends[both, 0], ends[both, 1]), 1.0)
        return psi if self.typed is None else self.typed.unpacked(psi)

    def decode(self, psi: Array) -> list[Ints]:
        """Return the labels of the nodes of every graph; of a mean, the likeliest of each node."""
        states = self.graphs.nodes(self._packed(psi)).argmax(axis=1)
        return self.split(states if self.typed is None else self.typed.labels(states))

    def split(self, rows: np.ndarray) -> list[np.ndarray]:
        """Cut an array with a row for each node into one array for each graph."""
        return [rows[start:stop] for start, stop in pairwise(self.offsets.tolist())]

    def rounded(self, mean: Array) -> Array:
        """Return psi of the likeliest label of each node, where a mean is of more than one output."""
        nodes = self.graphs.nodes(self._packed(mean))
        if ((nodes == 0.0) | (nodes == 1.0)).all():
            return mean
        return self._encoded(nodes.argmax(axis=1))

    def possible(self, annotation: Labels) -> Bools:
        """Whether every node has a state that the annotation allows: nothing forbids a pair."""
        state = np.arange(self.n_labels) if self.typed is None else self.typed.states_of_labels
        allowed = annotation.allowed_nodes & (state >= 0) & (state < self.graphs.states[:, None])
        return np.logical_and.reduceat(allowed.any(axis=1), self.offsets[:-1])

    def argmax(self, theta: Array, state: Any = None) -> Support:
        """Ask the inference."""
        self._check_scores(theta)
        return self._unpacked(self.inference.argmax(self.graphs, self._packed(theta), state))

    def marginals(self, theta: Array, temperature: float = 1.0, state: Any = None) -> Support:
        """Ask the inference."""
        self._check_scores(theta)
        return self._unpacked(self.inference.marginals(self.graphs, self._packed(theta), temperature, **again(state)))

    def mixed(
        self, theta: Array, temperatures: tuple[float, float], hidden: Bools | None = None, state: Any = None
    ) -> Support:
        """Ask the inference; where labels have several states, of graphs that have nodes for labels too."""
        self._check_scores(theta)
        hidden, states = joined_hidden(self, hidden), self.states
        if states is None or not states.several:
            theta = self._packed(theta)
            return self._unpacked(self.inference.mixed(self.graphs, theta, temperatures, hidden, **again(state)))
        return mixed_states(states, self.inference, self.graphs, theta, temperatures, hidden, state)

    def _check_scores(self, theta: Array) -> None:
        """Refuse NaN and infinity, naming the graph: kernels would go astray, or round for ever."""
        if theta.shape != (self.n_parts,):
            raise ValueError(f"theta has shape {theta.shape}; the graphs have {self.n_parts} parts.")
        if (theta < np.inf).all():  # false for NaN too
            return
        part = int(np.argmin(theta < np.inf))
        number = int(np.searchsorted(np.cumsum([kind.n_parts for kind in self.layout.kinds]), part, side="right"))
        kind, begins = self.layout.kinds[number], self.layout.begins[number]
        i = int(np.searchsorted(begins, part, side="right")) - 1
        item = (part - int(begins[i])) // prod(kind.shape)
        what, *types = kind.name.split(" ", 1)
        of_type = f" (type {types[0]})" if types else ""
        raise ValueError(
            f"The scores of {what[:-1]} {item}{of_type} of graph {i} hold {theta[part]}; they must be finite, or -inf "
            "to forbid a part."
        )

    def argmax_other(self, theta: Array, annotation: Labels, state: Any = None) -> Support:
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
        return np.array([self._encoded(np.array(states)) for states in product(*map(range, self.graphs.states))])

    def __repr__(self) -> str:
        return (
            f"Graph({self.n_examples} graphs, {int(self.offsets[-1])} nodes, {self.n_labels} labels, {self.inference})"
        )
