"""Labelled graphs whose features and labels are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from maximand.costs import Cost
from maximand.features import Examples, GraphFeatures, GraphRows, Rows
from maximand.inference import FactorGraphs
from maximand.spaces import Graph, Labels, NodeTypes
from maximand.spaces.node_types import node_kind, table_kind
from maximand.support import Array, Bools, Ints
from maximand.tasks.base import BoundTask, place_of
from maximand.tasks.graph_inputs import GraphArrays, NodesAndEdges, flat_labels
from maximand.tasks.graph_layout import check_graph, noun_of, side_by_side, structure_of
from maximand.tasks.label_names import LabelNames
from maximand.tasks.node_types import NodeType, nodes_of_type
from maximand.tasks.state_names import StateNames, started_with
from maximand.tasks.table_patterns import Ends

if TYPE_CHECKING:
    from maximand.tasks.graphs import GraphTask


class BoundGraphs(BoundTask):
    """A graph task with known features and labels; `types` are those of the nodes, empty where these have none."""

    features: GraphFeatures
    packed = ("names", "cost", "task", "features", "types")

    def __init__(
        self, names: LabelNames, cost: Cost, task: GraphTask, features: GraphFeatures, types: tuple[NodeType, ...]
    ):
        self.names, self.cost, self.task, self.features, self.types = names, cost, task, features, types
        for tables in features.tables:
            counts = tables.n_tables, tables.n_features
            if not all(isinstance(count, int) for count in counts) or any(counts) != bool(tables.n_columns):
                raise ValueError("Tables do not fit their weights: a damaged file.")

    @property
    def type_names(self) -> list[Any]:
        """The names of the types of nodes; None for the only one."""
        return [node_type.name for node_type in self.types] or [None]

    @property
    def all_classes(self) -> Any:
        """The labels, for each type where nodes have several."""
        return {own.name: own.classes(self.names) for own in self.types} or self.names.classes

    def small_input(self) -> Any:
        """Return a graph of two nodes of each type, joined by an edge of each kind."""
        names, tables = self.type_names, self.features.tables
        nodes = {name: np.zeros((2, own.n_features)) for name, own in zip(names, self.features.nodes, strict=True)}
        ends = [(names[own.ends[0]], names[own.ends[1]]) for own in tables]
        edges = {pair: np.array([[0, 1]]) for pair in ends}
        features = {
            pair: np.zeros((1, own.n_features)) for pair, own in zip(ends, tables, strict=True) if own.n_features
        }
        if self.types:
            return [NodesAndEdges(nodes, edges, features or None)]
        return [NodesAndEdges(nodes[None], np.array([[0, 1]]), features.get((None, None)))]

    def encode(self, X: Any) -> Examples:
        """Check graphs and lay them side by side."""
        return self.examples(self.task.graphs(X))

    def examples(self, graphs: list[GraphArrays]) -> Examples:
        """Return the labellings of graphs and their inputs."""
        inputs = self._inputs(graphs)
        names = self.type_names
        structures = [structure_of(graph, names, self.features, f"X[{i}]") for i, graph in enumerate(graphs)]
        batch = FactorGraphs.of(structures, max(own.n_labels for own in self.features.nodes))
        if not self.types:
            return Examples(Graph(batch, self.task.inference, states=self.names.states), inputs)
        types = NodeTypes.of([own.labels for own in self.types], [tables.ends for tables in self.features.tables])
        return Examples(Graph(batch, self.task.inference, self._hidden(inputs.shapes), types), inputs)

    def _hidden(self, shapes: tuple[tuple[int, ...], ...]) -> Bools | None:
        """Return which nodes are of a type that has no labels in training; None where there is no such type."""
        hidden = np.array([own.hidden for own in self.types])
        return np.repeat(np.tile(hidden, len(shapes)), np.ravel(shapes)) if hidden.any() else None

    def _inputs(self, graphs: list[GraphArrays]) -> GraphRows:
        """Lay the features of nodes side by side, type by type, and those of edges."""
        names = self.type_names
        for i, graph in enumerate(graphs):
            check_graph(graph, names, self.features, f"X[{i}]")
        n, by_kind = len(names), {}
        for t, (name, own) in enumerate(zip(names, self.features.nodes, strict=True)):
            none = np.zeros((0, own.n_features))
            blocks = [graph.nodes.get(name, none) for graph in graphs]
            by_kind[node_kind(t, n)] = side_by_side(blocks, own.n_features, noun_of("node", name))
        for tables in self.features.tables:
            if tables.n_features:
                ends = names[tables.ends[0]], names[tables.ends[1]]
                by_kind[table_kind(tables.ends, n)] = self._edge_rows(graphs, ends, tables.n_features)
        return GraphRows(by_kind, tuple(graph.shape(names) for graph in graphs))

    def _edge_rows(self, graphs: list[GraphArrays], ends: Ends, width: int) -> Rows:
        none = np.zeros((0, width))
        given = [graph.edges[ends].features if ends in graph.edges else None for graph in graphs]
        rows = side_by_side([none if own is None else own for own in given], width, noun_of("edge", *ends))
        edges, offsets = rows.matrix, rows.offsets
        if self.features.associative and (edges.data if issparse(edges) else edges).min(initial=0.0) < 0:
            edge = int(csr_array(edges < 0).nonzero()[0][0])
            i = int(np.searchsorted(offsets, edge, side="right")) - 1
            raise ValueError(
                f"X[{i}], {noun_of('edge', *ends)} {edge - offsets[i]}, has a negative feature; associative tables "
                "need features that are not negative: shift them."
            )
        return rows

    def annotation(self, examples: Examples, Y: Any) -> Labels:
        """Encode labels."""
        return self.annotate(flat_labels(Y, _shapes(examples), self.type_names, self.names.classes), examples)

    def annotate(self, labels: list[Any], examples: Examples) -> Labels:
        """Encode the labels of all graphs."""
        offsets = _graph(examples).offsets
        if not self.types:
            codes, candidates = self.names.encode(labels, lambda row: place_of("Y", row, offsets, "node"))
            return self.names.annotation(codes, offsets, candidates)
        codes, tables = np.empty(len(labels), dtype=np.int64), [np.zeros((0, self.names.count), dtype=bool)]
        for t, own in enumerate(self.types):
            nodes, n_candidates = nodes_of_type(_shapes(examples), t), sum(map(len, tables))
            starts = np.searchsorted(nodes, offsets)

            def where(row: int, starts: Ints = starts, noun: str = noun_of("node", own.name)) -> str:
                return place_of("Y", row, starts, noun)

            found, candidates = LabelNames(own.classes(self.names)).encode([labels[v] for v in nodes.tolist()], where)
            codes[nodes] = np.where(found >= 0, own.labels[found], np.where(found == -1, -1, found - n_candidates))
            table = np.zeros((len(candidates), self.names.count), dtype=bool)
            table[:, own.labels] = candidates
            tables.append(table)
        return Labels(codes, offsets, self.names.count, np.concatenate(tables))

    def outputs(self, examples: Examples, psi: Array) -> list[Any]:
        """Return label names for each graph, in its shape; by type where nodes have types."""
        found = zip(examples.space.decode(psi), _shapes(examples), strict=True)
        if not self.types:
            return [self.names.named(codes).reshape(shape) for codes, shape in found]
        named = ((self.names.classes[codes], np.cumsum(shape)[:-1]) for codes, shape in found)
        return [dict(zip(self.type_names, np.split(labels, ends), strict=True)) for labels, ends in named]

    def parts(self, examples: Examples, values: Array) -> list[Any]:
        """Return the matrix (node, label) of each graph, or the array (height, width, label) of a grid.

        Where nodes have types, it is a dict with a matrix (node, label of the type) for each.
        """
        return self._by_graph(examples, values, self.names.scores)

    def means(self, examples: Examples, mean: Array) -> list[Any]:
        """Return the same for marginals."""
        return self._by_graph(examples, mean, self.names.chances)

    def _by_graph(self, examples: Examples, values: Array, of_labels: Callable[[Array, None], Array]) -> list[Any]:
        space, shapes = _graph(examples), _shapes(examples)
        if space.typed is None:
            found = zip(space.split(of_labels(space.nodes(values).copy(), None)), shapes, strict=True)
            return [rows.reshape(*shape, -1) for rows, shape in found]
        ends = np.cumsum(shapes, axis=0)[:-1]
        by_type = [np.split(own.copy(), ends[:, t]) for t, own in enumerate(space.typed.nodes(values))]
        return [dict(zip(self.type_names, matrices, strict=True)) for matrices in zip(*by_type, strict=True)]

    @property
    def has_hidden(self) -> bool:
        """Whether there are variables that are never annotated."""
        return self.names.states is not None or any(own.hidden for own in self.types)

    def hidden_of(self, by_type: list[Any]) -> list[Any]:
        """Return of what belongs to nodes by type that of hidden types."""
        hidden = [own.name for own in self.types if own.hidden]
        return [{name: found[name] for name in hidden} for found in by_type]

    def latent(self, examples: Examples, psi: Array) -> list[Any]:
        """Return the states of hidden nodes by type, or numbers of states among those of the labels of nodes."""
        if self.names.states is None:
            return self.hidden_of(self.outputs(examples, psi))
        found = zip(_graph(examples).decode(psi), _shapes(examples), strict=True)
        return [self.names.states.numbers[codes].reshape(shape) for codes, shape in found]

    def latent_chances(self, examples: Examples, mean: Array) -> list[Any]:
        """Return the matrix (node, state) of each hidden type, or of each graph."""
        found = self._by_graph(examples, mean, lambda nodes, _: nodes)
        return found if self.names.states is not None else self.hidden_of(found)

    def completed(self, examples: Examples, Y: Any, states: Any) -> Labels:
        """Encode labels together with states of hidden nodes."""
        states = started_with(states, examples.space.n_examples, "graphs")
        if not isinstance(self.names, StateNames):
            self._check_start(states, _shapes(examples))
            return self.annotation(examples, [{**y, **h} for y, h in zip(Y, states, strict=True)])
        for i, (own, shape) in enumerate(zip(states, _shapes(examples), strict=True)):
            if np.shape(own) != tuple(shape):
                raise ValueError(f"latent_start[{i}] has shape {np.shape(own)} but the graph has {tuple(shape)} nodes.")
        return self.names.started(self.annotation(examples, Y), None, states, "node")

    def _check_start(self, states: list[Any], shapes: tuple[tuple[int, ...], ...]) -> None:
        """Refuse states that are not those of all hidden nodes."""
        hidden = [(t, own.name, own.classes(self.names).tolist()) for t, own in enumerate(self.types) if own.hidden]
        for i, (given, shape) in enumerate(zip(states, shapes, strict=True)):
            if not isinstance(given, dict) or set(given) != {name for _, name, _ in hidden}:
                names = ", ".join(repr(name) for _, name, _ in hidden)
                raise ValueError(f"latent_start[{i}] is {given!r}; give a dict with the states of the nodes {names}.")
            for t, name, classes in hidden:
                if np.shape(given[name]) != (shape[t],):
                    raise ValueError(
                        f"latent_start[{i}][{name!r}] has shape {np.shape(given[name])} but X[{i}] has {shape[t]} such "
                        "nodes."
                    )
                for state in np.asarray(given[name]).tolist():
                    if state not in classes:
                        raise ValueError(
                            f"latent_start[{i}][{name!r}] holds {state!r}; the states are "
                            f"{', '.join(map(repr, classes))}."
                        )


def _graph(examples: Examples) -> Graph:
    assert isinstance(examples.space, Graph)
    return examples.space


def _shapes(examples: Examples) -> tuple[tuple[int, ...], ...]:
    assert isinstance(examples.inputs, GraphRows)
    return examples.inputs.shapes
