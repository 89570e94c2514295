"""A label for every node of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from maximand.costs import Cost, Hamming
from maximand.features import Examples, GraphFeatures, GraphRows, PerLabel, Rows
from maximand.inference import FactorGraphs, Inference, Structure
from maximand.spaces import Graph, Labels
from maximand.support import Array
from maximand.tasks.base import BoundTask, Task, finite_rows, place_of
from maximand.tasks.graph_inputs import (
    Grid,
    NodesAndEdges,
    as_array,
    count_types,
    flat_labels,
    in_arrays,
    listed,
    pattern,
    shape_of,
    stacked,
)
from maximand.tasks.label_names import LabelNames, given_classes, named_labels, ordered


@dataclass(frozen=True)
class GraphTask(Task):
    """Labelled graphs; a label that is not known is None, NaN or -1.

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

    def bind(self, X: Any, Y: Any) -> tuple[BoundGraphs, Examples, Labels]:
        """Find the features and the labels."""
        if not isinstance(self.inference, Inference | None):
            raise ValueError(f"inference is {self.inference!r}; give None or an inference such as BeliefPropagation().")
        graphs = self.graphs(X)
        if not graphs:
            raise ValueError("X holds no graphs; give at least one.")
        tags = flat_labels(Y, [shape_of(graph) for graph in graphs], self.classes)
        names = LabelNames(ordered(named_labels(tags)) if self.classes is None else given_classes(self.classes))
        if names.count < 2:
            raise ValueError(
                f"The labels hold {names.count} class; labelling needs at least 2 classes. Name the missing ones with "
                "classes=."
            )
        weights = pattern(self.tables, names.count)
        if self.associative and (weights[~np.eye(names.count, dtype=bool)] >= 0).any():
            raise ValueError(
                "Associative tables have weights only where both ends agree; use tables='potts' or tables='diagonal'."
            )
        used = bool((weights >= 0).any())
        widths = [graph.edge_features.shape[1] for graph in graphs if graph.edge_features is not None]
        features = GraphFeatures(
            PerLabel(graphs[0].nodes.shape[1], names.count, self.bias),
            weights,
            max(count_types(graph) for graph in graphs) if used and not widths else 0,
            widths[0] if used and widths else 0,
            self.associative,
        )
        bound = BoundGraphs(names, self.cost or Hamming(), self, features)
        examples = bound.examples(graphs)
        return bound, examples, bound.annotate(tags, examples)

    def graphs(self, X: Any) -> list[NodesAndEdges]:
        """Return the inputs as graphs, whose parts are matrices and arrays."""
        return [self._graph(x, f"X[{i}]") for i, x in enumerate(listed(X))]

    def _graph(self, x: Any, where: str) -> NodesAndEdges:
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
        return Grid(grid.reshape(height * width, d), shape.edges, edge_types=types, sides=(height, width))


class BoundGraphs(BoundTask):
    """A graph task with known features and labels."""

    features: GraphFeatures
    packed = ("names", "cost", "task", "features")

    def __init__(self, names: LabelNames, cost: Cost, task: GraphTask, features: GraphFeatures):
        self.names, self.cost, self.task, self.features = names, cost, task, features
        counts = features.n_tables, features.n_table_features
        if not all(isinstance(count, int) for count in counts) or any(counts) != bool(features.n_columns):
            raise ValueError("Tables do not fit their weights: a damaged file.")

    def encode(self, X: Any) -> Examples:
        """Check graphs and lay them side by side."""
        return self.examples(self.task.graphs(X))

    def examples(self, graphs: list[NodesAndEdges]) -> Examples:
        """Return the labellings of graphs and their inputs."""
        inputs = self._inputs(graphs)
        structures = [self._structure(graph, i) for i, graph in enumerate(graphs)]
        return Examples(Graph(FactorGraphs.of(structures, self.names.count), self.task.inference), inputs)

    def _inputs(self, graphs: list[NodesAndEdges]) -> GraphRows:
        """Lay the features of nodes side by side, and those of edges."""
        nodes = stacked([graph.nodes for graph in graphs], self.features.node.n_features, "node")
        offsets = np.concatenate([[0], np.cumsum([len(graph) for graph in graphs])])
        finite_rows(nodes, offsets, "node")
        for i, graph in enumerate(graphs):
            self._check_edges(graph, f"X[{i}]")
        width, shapes = self.features.n_table_features, tuple(shape_of(graph) for graph in graphs)
        if not width:
            return GraphRows(nodes, offsets, shapes=shapes)
        none = np.zeros((0, width))
        edges = stacked(
            [none if graph.edge_features is None else graph.edge_features for graph in graphs], width, "edge"
        )
        edge_offsets = np.concatenate([[0], np.cumsum([len(graph.edges) for graph in graphs])])
        finite_rows(edges, edge_offsets, "edge")
        if self.features.associative and (edges.data if issparse(edges) else edges).min(initial=0.0) < 0:
            edge = int(csr_array(edges < 0).nonzero()[0][0])
            i = int(np.searchsorted(edge_offsets, edge, side="right")) - 1
            raise ValueError(
                f"X[{i}], edge {edge - edge_offsets[i]}, has a negative feature; associative tables need features that "
                "are not negative: shift them."
            )
        return GraphRows(nodes, offsets, Rows(edges, edge_offsets), shapes)

    def _check_edges(self, graph: NodesAndEdges, where: str) -> None:
        """Refuse a graph whose edges are not described as those in training were."""
        if not self.features.n_columns:
            return
        if self.features.n_table_features and graph.edge_features is None and len(graph.edges):
            raise ValueError(f"{where} has no edge features but graphs in training have; every edge needs them.")
        if self.features.n_tables and graph.edge_features is not None:
            raise ValueError(f"{where} has edge features but the model was trained without; leave them out.")
        n_types = count_types(graph)
        if self.features.n_tables and n_types > self.features.n_tables:
            edge = int(np.argmax(graph.edge_types))
            raise ValueError(
                f"{where}: edge {edge} is of type {n_types - 1} but training had types up to "
                f"{self.features.n_tables - 1}; train with all types."
            )

    def _structure(self, graph: NodesAndEdges, i: int) -> Structure:
        states, where = np.full(len(graph), self.names.count), f"X[{i}]"
        if not self.features.n_columns:  # edges without weights
            return Structure.of(states, [], where=where)
        if self.features.n_table_features:
            return Structure.of(states, graph.edges, where=where)
        types = np.zeros(len(graph.edges), dtype=np.int64) if graph.edge_types is None else graph.edge_types
        return Structure.of(states, graph.edges, types, self.features.n_tables, where)

    def annotation(self, examples: Examples, Y: Any) -> Labels:
        """Encode labels."""
        return self.annotate(flat_labels(Y, _shapes(examples), self.names.classes), examples)

    def annotate(self, labels: list[Any], examples: Examples) -> Labels:
        """Encode the labels of all graphs."""
        offsets = _graph(examples).offsets
        codes, candidates = self.names.encode(labels, lambda row: place_of("Y", row, offsets, "node"))
        return Labels(codes, offsets, self.names.count, candidates)

    def outputs(self, examples: Examples, psi: Array) -> list[np.ndarray]:
        """Return label names for each graph, in its shape."""
        found = zip(examples.space.decode(psi), _shapes(examples), strict=True)
        return [self.names.classes[codes].reshape(shape) for codes, shape in found]

    def parts(self, examples: Examples, values: Array) -> list[Array]:
        """Return the matrix (node, label) of each graph, or the array (height, width, label) of a grid."""
        space = _graph(examples)
        found = zip(space.split(space.nodes(values).copy()), _shapes(examples), strict=True)
        return [rows.reshape(*shape, -1) for rows, shape in found]


def _graph(examples: Examples) -> Graph:
    assert isinstance(examples.space, Graph)
    return examples.space


def _shapes(examples: Examples) -> tuple[tuple[int, ...], ...]:
    assert isinstance(examples.inputs, GraphRows)
    return examples.inputs.shapes
