"""A label for every node of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from maximand.costs import Cost, Hamming
from maximand.features import GraphFeatures, GraphRows, PerLabel, Rows
from maximand.inference import FactorGraphs, Inference, Structure
from maximand.spaces import Graph, Labels, OutputSpace
from maximand.support import Array, Ints
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
    stacked,
)
from maximand.tasks.label_names import LabelNames, given_classes, named_labels, ordered


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
        if not isinstance(self.inference, Inference | None):
            raise ValueError(f"inference is {self.inference!r}; give None or an inference such as BeliefPropagation().")
        graphs = self.graphs(X)
        if not graphs:
            raise ValueError("X holds no graphs; give at least one.")
        tags = flat_labels(Y, graphs)
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
        inputs = bound.inputs(X)
        return bound, inputs, bound.annotate(tags, inputs.offsets)

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

    def inputs(self, X: Any) -> GraphRows:
        """Check graphs and lay their nodes side by side, and the features of their edges."""
        graphs = self.task.graphs(X)
        nodes = stacked([graph.nodes for graph in graphs], self.features.node.n_features, "node")
        offsets = np.concatenate([[0], np.cumsum([len(graph) for graph in graphs])])
        finite_rows(nodes, offsets, "node")
        for i, graph in enumerate(graphs):
            self._check_edges(graph, f"X[{i}]")
        width = self.features.n_table_features
        if not width:
            return GraphRows(nodes, offsets)
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
        return GraphRows(nodes, offsets, Rows(edges, edge_offsets))

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

    def space(self, X: Any, inputs: Rows) -> Graph:
        """Return the labellings of these graphs."""
        structures = [self._structure(graph, i) for i, graph in enumerate(self.task.graphs(X))]
        return Graph(FactorGraphs.of(structures, self.names.count), self.task.inference)

    def _structure(self, graph: NodesAndEdges, i: int) -> Structure:
        states, where = np.full(len(graph), self.names.count), f"X[{i}]"
        if not self.features.n_columns:  # edges without weights
            return Structure.of(states, [], where=where)
        if self.features.n_table_features:
            return Structure.of(states, graph.edges, where=where)
        types = np.zeros(len(graph.edges), dtype=np.int64) if graph.edge_types is None else graph.edge_types
        return Structure.of(states, graph.edges, types, self.features.n_tables, where)

    def annotation(self, X: Any, Y: Any, inputs: Rows) -> Labels:
        """Encode labels."""
        return self.annotate(flat_labels(Y, self.task.graphs(X)), inputs.offsets)

    def annotate(self, labels: list[Any], offsets: Ints) -> Labels:
        """Encode the labels of all graphs."""
        codes, candidates = self.names.encode(labels, lambda row: place_of("Y", row, offsets, "node"))
        return Labels(codes, offsets, self.names.count, candidates)

    def outputs(self, space: OutputSpace, psi: Array) -> list[np.ndarray]:
        """Return label names for each graph."""
        assert isinstance(space, Graph)
        return space.split(self.names.classes[space.nodes(psi).argmax(axis=1)])

    def parts(self, space: OutputSpace, values: Array) -> list[Array]:
        """Return the matrix (node, label) of each graph."""
        assert isinstance(space, Graph)
        return space.split(space.nodes(values).copy())
