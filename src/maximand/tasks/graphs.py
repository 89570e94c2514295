"""A label for every node of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from maximand.costs import Cost, Hamming
from maximand.features import Examples, GraphFeatures, GraphRows, PerLabel, Rows, TableWeights
from maximand.inference import FactorGraphs, Inference, Structure
from maximand.spaces import Graph, Labels, NodeTypes
from maximand.spaces.node_types import node_kind, table_kind
from maximand.support import Array, Bools, Ints
from maximand.tasks.base import BoundTask, Task, place_of
from maximand.tasks.graph_inputs import EdgeArrays, GraphArrays, NodesAndEdges, as_array, flat_labels, in_arrays, listed
from maximand.tasks.graph_layout import check_graph, noun_of, side_by_side, structure_of
from maximand.tasks.label_names import LabelNames
from maximand.tasks.node_types import NodeType, labels_of_types, names_of_types, nodes_of_type
from maximand.tasks.table_patterns import Ends, chosen, pattern


@dataclass(frozen=True)
class GraphTask(Task):
    """Labelled graphs; a label that is not known is None, NaN or -1.

    A graph is a `NodesAndEdges`, whose nodes may be of several types, a tuple (nodes, edges) or (nodes, edges,
    edge_features), or an array (height, width, feature) for a grid. See `GraphLabeler` for the settings.
    """

    tables: str | Any = "full"
    associative: bool = False
    diagonals: bool = False
    directional: bool = True
    bias: bool = True
    cost: Cost | None = None
    classes: Any = None
    inference: Inference | None = None

    def bind(self, X: Any, Y: Any) -> tuple[BoundGraphs, Examples, Labels]:
        """Find the features and the labels."""
        if not isinstance(self.inference, Inference | None):
            raise ValueError(f"inference is {self.inference!r}; give None or an inference such as BeliefPropagation().")
        graphs = self.graphs(X)
        if not graphs:
            raise ValueError("X holds no graphs; give at least one.")
        known, joined = names_of_types(graphs)
        shapes = [graph.shape(known) for graph in graphs]
        tags = flat_labels(Y, shapes, known, self.classes)
        names, types = labels_of_types(tags, shapes, known, self.classes)
        tables = chosen(self.tables, joined)
        features = GraphFeatures(
            tuple(PerLabel(_width(graphs, node_type.name), node_type.labels.size, self.bias) for node_type in types),
            tuple(self._weights(graphs, ends, tables[ends], known, types) for ends in joined),
            self.associative,
        )
        bound = BoundGraphs(names, self.cost or Hamming(), self, features, () if known == [None] else types)
        examples = bound.examples(graphs)
        return bound, examples, bound.annotate(tags, examples)

    def _weights(
        self, graphs: list[GraphArrays], ends: Ends, tables: Any, known: list[Any], types: tuple[NodeType, ...]
    ) -> TableWeights:
        """Return which weights edges between two types of nodes have."""
        first, second = (known.index(name) for name in ends)
        weights = pattern(tables, (types[first].labels.size, types[second].labels.size), ends)
        used = bool((weights >= 0).any())
        apart = first != second or (weights[~np.eye(len(weights), dtype=bool)] >= 0).any()
        if self.associative and used and apart:
            raise ValueError(
                "Associative tables have weights only where both ends agree; use tables='potts' or tables='diagonal'."
            )
        edges = [graph.edges[ends] for graph in graphs if ends in graph.edges]
        widths = [own.features.shape[1] for own in edges if own.features is not None]
        n_tables = max(own.n_types for own in edges) if used and not widths else 0
        return TableWeights(weights, n_tables, widths[0] if used and widths else 0, (first, second))

    def graphs(self, X: Any) -> list[GraphArrays]:
        """Return the inputs as graphs, whose parts are matrices and arrays."""
        return [self._graph(x, f"X[{i}]") for i, x in enumerate(listed(X))]

    def _graph(self, x: Any, where: str) -> GraphArrays:
        if isinstance(x, tuple) and 2 <= len(x) <= 3:
            x = NodesAndEdges(*x)
        if isinstance(x, NodesAndEdges):
            return in_arrays(x, where)
        grid = None if issparse(x) or isinstance(x, tuple) else as_array(x)
        if grid is None or grid.dtype.kind not in "biuf" or grid.ndim != 3:
            size = f" of {len(x)}" if isinstance(x, tuple) else f" of shape {x.shape}" if hasattr(x, "shape") else ""
            raise ValueError(
                f"{where} is a {type(x).__name__}{size}; a graph is NodesAndEdges(nodes, edges), a tuple (nodes, "
                "edges) or (nodes, edges, edge_features), or an array of numbers (height, width, feature)."
            )
        height, width, d = grid.shape
        if min(height, width) < 1:
            raise ValueError(f"{where} is a grid of {height} x {width}, without nodes; drop it.")
        shape = Structure.grid(height, width, diagonals=self.diagonals)
        types = shape.tables if self.directional else np.zeros_like(shape.tables)
        edges = {(None, None): EdgeArrays(shape.edges, types=types)}
        return GraphArrays({None: grid.reshape(height * width, d)}, edges, (height, width))


def _width(graphs: list[GraphArrays], name: Any) -> int:
    """Return the number of features of nodes of a type, as the first graph that has such gives them."""
    return int(next(graph.nodes[name].shape[1] for graph in graphs if name in graph.nodes))


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
            return Examples(Graph(batch, self.task.inference), inputs)
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
            return Labels(codes, offsets, self.names.count, candidates)
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
            return [self.names.classes[codes].reshape(shape) for codes, shape in found]
        named = ((self.names.classes[codes], np.cumsum(shape)[:-1]) for codes, shape in found)
        return [dict(zip(self.type_names, np.split(labels, ends), strict=True)) for labels, ends in named]

    def parts(self, examples: Examples, values: Array) -> list[Any]:
        """Return the matrix (node, label) of each graph, or the array (height, width, label) of a grid.

        Where nodes have types, it is a dict with a matrix (node, label of the type) for each.
        """
        space, shapes = _graph(examples), _shapes(examples)
        if space.typed is None:
            found = zip(space.split(space.nodes(values).copy()), shapes, strict=True)
            return [rows.reshape(*shape, -1) for rows, shape in found]
        ends = np.cumsum(shapes, axis=0)[:-1]
        by_type = [np.split(own.copy(), ends[:, t]) for t, own in enumerate(space.typed.nodes(values))]
        return [dict(zip(self.type_names, matrices, strict=True)) for matrices in zip(*by_type, strict=True)]

    @property
    def has_hidden(self) -> bool:
        """Whether there are variables that are never annotated."""
        return any(own.hidden for own in self.types)

    def hidden_of(self, by_type: list[Any]) -> list[Any]:
        """Return of what belongs to nodes by type that of hidden types."""
        hidden = [own.name for own in self.types if own.hidden]
        return [{name: found[name] for name in hidden} for found in by_type]

    def latent(self, examples: Examples, psi: Array) -> list[Any]:
        """Return the states of hidden nodes by type."""
        return self.hidden_of(self.outputs(examples, psi))

    def latent_chances(self, examples: Examples, mean: Array) -> list[Any]:
        """Return the matrix (node, state) of each hidden type."""
        return self.hidden_of(self.parts(examples, mean))

    def completed(self, examples: Examples, Y: Any, states: Any) -> Labels:
        """Encode labels together with states of hidden nodes."""
        if len(states) != len(Y):
            raise ValueError(f"latent_start has {len(states)} graphs but Y has {len(Y)}; give states for each.")
        return self.annotation(examples, [{**y, **h} for y, h in zip(Y, states, strict=True)])


def _graph(examples: Examples) -> Graph:
    assert isinstance(examples.space, Graph)
    return examples.space


def _shapes(examples: Examples) -> tuple[tuple[int, ...], ...]:
    assert isinstance(examples.inputs, GraphRows)
    return examples.inputs.shapes
