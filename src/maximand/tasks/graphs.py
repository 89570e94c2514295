"""A label for every node of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from maximand.costs import Cost, Hamming
from maximand.features import GraphFeatures, GraphRows, PerLabel, Rows
from maximand.inference import FactorGraphs, Inference, Structure
from maximand.spaces import Graph, Labels, OutputSpace
from maximand.support import Array, Ints
from maximand.tasks.base import BoundTask, Task, finite_rows
from maximand.tasks.label_names import LabelNames, named_labels, ordered


@dataclass(frozen=True)
class NodesAndEdges:
    """A graph as an input: a row of features for each node, and pairs of nodes.

    edge_features, a row for each edge, lets tables depend on them; edge_types, a number from 0 for each edge, gives
    each type a table of its own.
    """

    nodes: Any
    edges: Any
    edge_features: Any = None
    edge_types: Any = None

    def __len__(self) -> int:
        return int(self.nodes.shape[0])


def pattern(tables: str | Any, n_labels: int) -> Ints:
    """Return which weight each pair of labels has, -1 for none.

    "full": one for each ordered pair. "symmetric": one for each unordered pair. "diagonal": one for each label, where
    both ends have it. "potts": one weight, where both ends agree. "none": no weights. Or a matrix of such numbers.
    """
    if not isinstance(tables, str):
        given = np.asarray(tables)
        if given.shape != (n_labels, n_labels) or given.dtype.kind not in "iu" or (given < -1).any():
            raise ValueError(
                f"tables has shape {given.shape}; give a matrix ({n_labels}, {n_labels}) with the number of the weight "
                "of each pair of labels, from 0, or -1 for none."
            )
        return given.astype(np.int64)
    square = np.full((n_labels, n_labels), -1)
    match tables:
        case "full":
            return np.arange(n_labels**2).reshape(n_labels, n_labels)
        case "symmetric":
            upper = np.triu_indices(n_labels)
            square[upper] = np.arange(upper[0].size)
            return np.maximum(square, square.T)
        case "diagonal":
            np.fill_diagonal(square, np.arange(n_labels))
        case "potts":
            np.fill_diagonal(square, 0)
        case "none":
            pass
        case _:
            raise ValueError(f"There are no tables {tables!r}; choose full, symmetric, diagonal, potts or none.")
    return square


@dataclass(frozen=True)
class GraphTask(Task):
    """Labelled graphs; a label that is not known is None (or -1 where labels are integers).

    A graph is a `NodesAndEdges`, a tuple (nodes, edges) or (nodes, edges, edge_features), or an array (height, width,
    feature) for a grid. See `GraphLabeler` for the settings.
    """

    tables: str | Any = "full"
    associative: bool = False
    diagonals: bool = False
    directional: bool = True
    bias: bool = True
    cost: Cost | None = None
    classes: Any = None
    inference: Inference | None = None

    def bind(self, X: Any, Y: Any) -> tuple[BoundGraphs, GraphRows, Labels]:
        """Find the features and the labels."""
        graphs = self.graphs(X)
        if not graphs:
            raise ValueError("X holds no graphs.")
        tags = flat_labels(Y, graphs)
        names = LabelNames(ordered(named_labels(tags)) if self.classes is None else np.asarray(self.classes))
        if names.count < 2:
            raise ValueError(f"The labels hold {names.count} class; labelling needs at least 2 classes.")
        weights = pattern(self.tables, names.count)
        if self.associative and (weights[~np.eye(names.count, dtype=bool)] >= 0).any():
            raise ValueError(
                "Associative tables have weights only where both ends agree; use tables='potts' or tables='diagonal'."
            )
        used, featured = bool((weights >= 0).any()), graphs[0].edge_features is not None
        features = GraphFeatures(
            PerLabel(_width(graphs[0].nodes), names.count, self.bias),
            weights,
            max(_n_types(graph) for graph in graphs) if used and not featured else 0,
            _width(graphs[0].edge_features) if used and featured else 0,
            self.associative,
        )
        bound = BoundGraphs(names, self.cost or Hamming(), self, features)
        inputs = bound.inputs(X)
        return bound, inputs, bound.annotate(tags, inputs.offsets)

    def graphs(self, X: Any) -> list[NodesAndEdges]:
        """Return the inputs as graphs."""
        return [self._graph(x, i) for i, x in enumerate(X)]

    def _graph(self, x: Any, i: int) -> NodesAndEdges:
        if isinstance(x, NodesAndEdges):
            return x
        if isinstance(x, tuple) and 2 <= len(x) <= 3:
            return NodesAndEdges(*x)
        grid = None if issparse(x) else np.asarray(x)
        if grid is None or grid.dtype == object or grid.ndim != 3:
            shape = getattr(x, "shape", type(x).__name__)
            raise ValueError(
                f"X[{i}] is {shape}; a graph is NodesAndEdges(nodes, edges), a tuple (nodes, edges), or an array "
                "(height, width, feature)."
            )
        height, width, d = grid.shape
        shape = Structure.grid(height, width, diagonals=self.diagonals)
        types = shape.tables if self.directional else np.zeros_like(shape.tables)
        return NodesAndEdges(grid.reshape(height * width, d), shape.edges, edge_types=types)


def _width(matrix: Any) -> int:
    return int(matrix.shape[1]) if hasattr(matrix, "shape") else np.asarray(matrix).shape[1]


def _n_types(graph: NodesAndEdges) -> int:
    return 1 if graph.edge_types is None else int(np.max(graph.edge_types, initial=0)) + 1


def _stacked(blocks: list[Any], what: str, width: int) -> Any:
    for i, block in enumerate(blocks):
        if len(np.shape(block)) != 2 or np.shape(block)[1] != width:
            raise ValueError(f"X[{i}]: its {what} have shape {np.shape(block)}; give a matrix with {width} columns.")
    if any(issparse(block) for block in blocks):
        return csr_array(vstack([csr_array(block) for block in blocks], format="csr"), dtype=np.float64)
    return np.ascontiguousarray(np.vstack(blocks), dtype=np.float64)


def flat_labels(Y: Any, graphs: list[NodesAndEdges]) -> list[Any]:
    """Return the labels of all graphs one after the other, checked against the number of nodes."""
    Y = list(Y)
    if len(Y) != len(graphs):
        raise ValueError(f"X has {len(graphs)} graphs but Y has {len(Y)}; each graph needs its labels.")
    flat = []
    for i, (y, graph) in enumerate(zip(Y, graphs, strict=True)):
        labels = np.ravel(y).tolist() if isinstance(y, np.ndarray) else list(y)
        if labels and isinstance(labels[0], (list, np.ndarray)):
            labels = list(chain.from_iterable(labels))
        if len(labels) != len(graph):
            raise ValueError(
                f"Y[{i}] has {len(labels)} labels but X[{i}] has {len(graph)} nodes; each node needs one (None where "
                "unknown)."
            )
        flat += labels
    return [None if isinstance(label, int) and not isinstance(label, bool) and label == -1 else label for label in flat]


class BoundGraphs(BoundTask):
    """A graph task with known features and labels."""

    features: GraphFeatures
    packed = ("names", "cost", "task", "features")

    def __init__(self, names: LabelNames, cost: Cost, task: GraphTask, features: GraphFeatures):
        self.names, self.cost, self.task, self.features = names, cost, task, features

    def inputs(self, X: Any) -> GraphRows:
        """Check graphs and lay their nodes side by side, and the features of their edges."""
        graphs = self.task.graphs(X)
        nodes = _stacked([graph.nodes for graph in graphs], "nodes", self.features.node.n_features)
        offsets = np.concatenate([[0], np.cumsum([len(graph) for graph in graphs])])
        finite_rows(nodes, offsets, "node")
        if not self.features.n_table_features:
            return GraphRows(nodes, offsets)
        for i, graph in enumerate(graphs):
            if graph.edge_features is None or np.shape(graph.edge_features)[0] != len(graph.edges):
                raise ValueError(f"X[{i}] has {len(graph.edges)} edges; edge_features needs a row for each of them.")
        edges = _stacked([graph.edge_features for graph in graphs], "edge features", self.features.n_table_features)
        edge_offsets = np.concatenate([[0], np.cumsum([len(graph.edges) for graph in graphs])])
        finite_rows(edges, edge_offsets, "edge")
        if self.features.associative and (edges.data if issparse(edges) else edges).min(initial=0.0) < 0:
            raise ValueError("Associative tables need edge features that are not negative; shift them.")
        return GraphRows(nodes, offsets, Rows(edges, edge_offsets))

    def space(self, X: Any, inputs: Rows) -> Graph:
        """Return the labellings of these graphs."""
        structures = [self._structure(graph, i) for i, graph in enumerate(self.task.graphs(X))]
        return Graph(FactorGraphs.of(structures, self.names.count), self.task.inference)

    def _structure(self, graph: NodesAndEdges, i: int) -> Structure:
        states, where = np.full(len(graph), self.names.count), f"X[{i}]"
        if not self.features.n_columns:  # edges without weights
            return Structure.of(states, np.zeros((0, 2), dtype=np.int64))
        if self.features.n_table_features:
            return Structure.of(states, graph.edges, where=where)
        types = np.zeros(len(graph.edges), dtype=np.int64) if graph.edge_types is None else graph.edge_types
        return Structure.of(states, graph.edges, types, self.features.n_tables, where)

    def annotation(self, X: Any, Y: Any, inputs: Rows) -> Labels:
        """Encode labels."""
        return self.annotate(flat_labels(Y, self.task.graphs(X)), inputs.offsets)

    def annotate(self, labels: list[Any], offsets: Ints) -> Labels:
        """Encode the labels of all graphs."""
        try:
            codes, candidates = self.names.encode(labels)
        except ValueError as error:
            for i, (start, stop) in enumerate(pairwise(offsets)):
                self.names.encode(labels[start:stop], f"Y[{i}], node {{}},")
            raise error
        return Labels(codes, offsets, self.names.count, candidates)

    def outputs(self, space: OutputSpace, psi: Array) -> list[np.ndarray]:
        """Return label names for each graph."""
        assert isinstance(space, Graph)
        return space.split(self.names.classes[space.nodes(psi).argmax(axis=1)])

    def parts(self, space: OutputSpace, values: Array) -> list[Array]:
        """Return the matrix (node, label) of each graph."""
        assert isinstance(space, Graph)
        return space.split(space.nodes(values).copy())
