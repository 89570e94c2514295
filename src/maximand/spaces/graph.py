"""A label for every node of a graph, scored by node and by edge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product

import numpy as np
from scipy.special import expit

from maximand.inference import FactorGraphs, Inference, Structure, automatic, labelled
from maximand.numerics.fields import copy_parts
from maximand.spaces.labelled import LabelledSpace
from maximand.spaces.labels import Labels, take_slots
from maximand.support import Array, Bools, Guarantee, Ints, Support


class Graph(LabelledSpace):
    """Labelled graphs. The parts are nodes (node, state), then tables (table, state, state) for the edges.

    Edges that share a table count in it, so memory stays linear in the nodes where tables are tied. A node with fewer
    states than `n_labels` leaves the rest of its row unused. `inference` finds outputs and says what they are worth.
    """

    def __init__(self, graphs: FactorGraphs | Sequence[Structure], inference: Inference | None = None):
        self.graphs = graphs if isinstance(graphs, FactorGraphs) else FactorGraphs.of(graphs)
        if inference is None:
            inference = automatic(self.graphs)
        else:
            inference.check(self.graphs)
        self.inference = inference
        self.n_labels, self.n_examples = self.graphs.width, self.graphs.n_examples
        self.n_parts, self.offsets = self.graphs.n_parts, self.graphs.node_offsets

    @property
    def fields(self) -> tuple[Ints, Ints]:
        """Nodes, then tables."""
        return self.graphs.fields

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
        return self._of(self.graphs.take(examples))

    def using(self, inference: Inference) -> Graph:
        """Return the same graphs with another inference."""
        if not isinstance(inference, Inference):
            raise ValueError(f"The inference is {inference!r}; give an object, such as Greedy() or GraphCut().")
        return Graph(self.graphs, inference)

    def _of(self, graphs: FactorGraphs) -> Graph:
        """Return the space of graphs that the inference was checked for."""
        space = object.__new__(Graph)
        space.graphs, space.inference = graphs, self.inference
        space.n_labels, space.n_examples = graphs.width, graphs.n_examples
        space.n_parts, space.offsets = graphs.n_parts, graphs.node_offsets
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

    def allowed(self, annotation: Labels) -> Bools:
        """Restrict the nodes; the pairs follow."""
        mask = np.ones(self.n_parts, dtype=bool)
        mask[: self.graphs.n_node_parts] = annotation.allowed_nodes.ravel()
        return mask

    def argmax(self, theta: Array) -> Support:
        """Ask the inference."""
        self._check_scores(theta)
        return self.inference.argmax(self.graphs, theta)

    def marginals(self, theta: Array, temperature: float = 1.0) -> Support:
        """Ask the inference."""
        self._check_scores(theta)
        return self.inference.marginals(self.graphs, theta, temperature)

    def _check_scores(self, theta: Array) -> None:
        """Refuse NaN and infinity, naming the graph: kernels would go astray, or round for ever."""
        if theta.shape != (self.n_parts,):
            raise ValueError(f"theta has shape {theta.shape}; the graphs have {self.n_parts} parts.")
        if (theta < np.inf).all():  # false for NaN too
            return
        part = int(np.argmin(theta < np.inf))
        first, second = self.fields
        kind, start = ("node", first) if part < first[-1] else ("table", second)
        i = int(np.searchsorted(start, part, side="right")) - 1
        size = self.n_labels if kind == "node" else self.n_labels**2
        raise ValueError(
            f"The scores of {kind} {(part - int(start[i])) // size} of graph {i} hold {theta[part]}; they must be "
            "finite, or -inf to forbid a part."
        )

    def argmax_other(self, theta: Array, annotation: Labels) -> Support:
        """Best labelling that contradicts the annotation: where the best one of all does so, that is it."""
        best = self.argmax(theta)
        chosen = self.nodes(best.mean) == 1.0
        off = np.logical_or.reduceat((chosen & ~annotation.allowed_nodes).any(axis=1), self.offsets[:-1])
        single = np.logical_and.reduceat(chosen.any(axis=1), self.offsets[:-1])
        done = off & single
        start = Support(np.where(done, best.value, -np.inf), self.scale(best.mean, done.astype(float)), best.guarantee)
        return self._over_contradictions(theta, annotation, start, ~done, 0.0)

    def marginals_other(self, theta: Array, annotation: Labels, temperature: float = 1.0) -> Support:
        """Soft maximum over the labellings that contradict the annotation."""
        start = Support(np.full(self.n_examples, -np.inf), np.zeros(self.n_parts))
        return self._over_contradictions(theta, annotation, start, np.ones(self.n_examples, dtype=bool), temperature)

    def _over_contradictions(
        self, theta: Array, annotation: Labels, start: Support, wanted: Bools, temperature: float
    ) -> Support:
        """Add to `start`, for the wanted examples, the (soft) maximum over the labellings that contradict."""
        values, mean, guarantee = start.value, start.mean, start.guarantee
        for examples, space, part in self._contradictions(theta, annotation, wanted):
            found = space.marginals(part, temperature) if temperature else space.argmax(part)
            guarantee = guarantee & found.guarantee
            known = values[examples]
            with np.errstate(invalid="ignore"):  # -inf - -inf: nothing was found yet, nor now
                ahead = np.where(np.isneginf(found.value), -np.inf, found.value - known)
            share = expit(ahead / temperature) if temperature else (ahead > 0.0).astype(float)
            values[examples] = np.maximum(known, found.value)
            if temperature:
                values[examples] += temperature * np.log1p(np.exp(-np.abs(ahead) / temperature))
            so_far = np.empty(space.n_parts)
            everyone = np.arange(examples.size)
            copy_parts(mean, examples, *self.fields, so_far, everyone, *space.fields)
            blended = space.scale(so_far, 1.0 - share) + space.scale(found.mean, share)
            copy_parts(blended, everyone, *space.fields, mean, examples, *self.fields)
        return Support(values, mean, guarantee)

    def _contradictions(self, theta: Array, annotation: Labels, wanted: Bools) -> Iterator[tuple[Ints, Graph, Array]]:
        """Cut Y° into pieces by the first node that contradicts: yield examples, their space and theta for each piece.

        Nodes before it keep their allowed labels, it has one of the others, and those behind it are free.
        """
        allowed = annotation.allowed_nodes
        annotated: Bools = np.any(self.graphs.existing & ~allowed, axis=1)
        places = np.flatnonzero(annotated)
        counts = np.bincount(self.slots[places], minlength=self.n_examples)
        first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        for rank in range(int(counts[wanted].max(initial=0))):
            examples = np.flatnonzero(wanted & (counts > rank))
            space, slots = self.take(examples), np.arange(self.offsets[-1])[take_slots(self.offsets, examples)[0]]
            part = np.empty(space.n_parts)
            copy_parts(theta, examples, *self.fields, part, np.arange(examples.size), *space.fields)
            turning = np.repeat(places[first[examples] + rank], np.diff(space.offsets))
            keeps = annotated[slots] & (slots < turning)
            space.nodes(part)[keeps[:, None] & ~allowed[slots]] = -np.inf
            turns = np.asarray(slots == turning)
            space.nodes(part)[turns[:, None] & allowed[slots]] = -np.inf
            yield examples, space, part

    def outputs(self) -> Array:
        """Return psi of every labelling of a batch of one."""
        labellings = product(*(range(k) for k in self.graphs.states))
        return np.array([self.encode(Labels(np.array(codes), self.offsets, self.n_labels)) for codes in labellings])

    def __repr__(self) -> str:
        return (
            f"Graph({self.n_examples} graphs, {int(self.offsets[-1])} nodes, {self.n_labels} labels, {self.inference})"
        )
