"""A label for every node of a graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from maximand.tasks.label_names import LabelNames, given_classes, named_labels, ordered


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


@dataclass(frozen=True)
class Grid(NodesAndEdges):
    """A grid as a graph, with its height and width."""

    sides: tuple[int, int] = (0, 0)


def pattern(tables: str | Any, n_labels: int) -> Ints:
    """Return which weight each pair of labels has, -1 for none.

    "full": one for each ordered pair. "symmetric": one for each unordered pair. "diagonal": one for each label, where
    both ends have it. "potts": one weight, where both ends agree. "none": no weights. Or a matrix of such numbers.
    """
    if not isinstance(tables, str):
        return _numbered(np.asarray(tables), n_labels)
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


def _numbered(tables: np.ndarray, n_labels: int) -> Ints:
    if tables.shape != (n_labels, n_labels):
        raise ValueError(
            f"tables has shape {tables.shape} and there are {n_labels} labels; give a matrix ({n_labels}, {n_labels}) "
            "with the number of the weight of each pair of labels, or -1 for none."
        )
    if tables.dtype.kind not in "iu" or (tables < -1).any():
        raise ValueError("tables holds something else than whole numbers from 0, or -1 for pairs without a weight.")
    used = np.unique(tables[tables >= 0])
    if used.size and used[-1] >= used.size:
        skipped = int(np.argmax(used != np.arange(used.size)))
        raise ValueError(f"tables skips the number {skipped}; number the weights 0, 1, ... without gaps.")
    return tables.astype(np.int64)


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
            max(_n_types(graph) for graph in graphs) if used and not widths else 0,
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
            return _in_arrays(x, where)
        grid = None if issparse(x) or isinstance(x, tuple) else _array(x)
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


def listed(X: Any) -> list[Any]:
    """Return the inputs as a list."""
    if isinstance(X, NodesAndEdges) or not hasattr(X, "__iter__"):
        raise ValueError(f"X is of type {type(X).__name__}; give a list of graphs.")
    return list(X)


def _array(values: Any) -> np.ndarray | None:
    """Return an array; None where rows differ in length."""
    try:
        return np.asarray(values)
    except ValueError:
        return None


def _in_arrays(graph: NodesAndEdges, where: str) -> NodesAndEdges:
    """Check what can be checked of a graph by itself, but for its edges."""
    nodes, edges = _matrix(graph.nodes, f"{where}: its nodes", "node"), _array(graph.edges)
    if edges is None:
        raise ValueError(f"{where}: its edges differ in length; each is a pair of nodes.")
    if issparse(graph.edges) or edges.ndim == 0:
        raise ValueError(
            f"{where}: its edges are of type {type(graph.edges).__name__}; give a list or array of pairs of nodes, [] "
            "for none."
        )
    features, types = graph.edge_features, graph.edge_types
    if features is not None and types is not None:
        raise ValueError(
            f"{where} has edge features and edge types; add the types to the features, as columns of 0 and 1."
        )
    if not edges.size and (features is None or not np.size(features)):
        features = None
    if features is not None:
        features = _matrix(features, f"{where}: its edge features", "edge")
        if not features.shape[1]:
            raise ValueError(f"{where}: its edge features have no columns; leave them out.")
        if features.shape[0] != len(edges):
            raise ValueError(
                f"{where} has {len(edges)} edges but edge features for {features.shape[0]}; give a row each."
            )
    if types is not None:
        types = np.asarray(types)
        if (
            types.shape != (len(edges),)
            or types.dtype.kind not in "iuf"
            or not (types == np.abs(np.floor(types))).all()
        ):
            raise ValueError(f"{where}: give each of its {len(edges)} edges a type, a whole number from 0.")
        types = types.astype(np.int64)
    return replace(graph, nodes=nodes, edges=edges, edge_features=features, edge_types=types)


def _matrix(block: Any, what: str, kind: str) -> Any:
    """Return a matrix of numbers."""
    matrix = block if issparse(block) else _array(block)
    if matrix is not None and matrix.dtype.kind == "O":
        try:
            matrix = matrix.astype(np.float64)
        except (TypeError, ValueError):
            matrix = None
    if matrix is None or matrix.dtype.kind not in "biuf":
        raise ValueError(f"{what} are not numbers; give a row of numbers for each {kind}.")
    if matrix.ndim != 2:
        raise ValueError(f"{what} have shape {matrix.shape}; give a matrix with a row for each {kind}.")
    return matrix


def _n_types(graph: NodesAndEdges) -> int:
    return 1 if graph.edge_types is None else int(np.max(graph.edge_types, initial=0)) + 1


def _stacked(blocks: list[Any], width: int, what: str) -> Any:
    for i, block in enumerate(blocks):
        if block.shape[1] != width:
            raise ValueError(f"X[{i}] has {block.shape[1]} {what} features but {width} are expected, as in training.")
    if any(issparse(block) for block in blocks):
        return csr_array(vstack([csr_array(block) for block in blocks], format="csr"), dtype=np.float64)
    return np.ascontiguousarray(np.vstack(blocks), dtype=np.float64)


def flat_labels(Y: Any, graphs: list[NodesAndEdges]) -> list[Any]:
    """Return the labels of all graphs one after the other, checked against the number of nodes."""
    Y = list(Y)
    if len(Y) != len(graphs):
        raise ValueError(f"X has {len(graphs)} graphs but Y has {len(Y)}; each graph needs its labels.")
    flat: list[Any] = []
    for i, (y, graph) in enumerate(zip(Y, graphs, strict=True)):
        if not hasattr(y, "__iter__") or (isinstance(y, np.ndarray) and not y.ndim):
            raise ValueError(f"Y[{i}] is {y!r}; give a label for each of the {len(graph)} nodes (None where unknown).")
        labels = y.ravel().tolist() if isinstance(y, np.ndarray) else list(y)
        shape = np.shape(y) if isinstance(y, np.ndarray) else (len(labels),)
        if labels and isinstance(labels[0], (list, np.ndarray)):
            shape, labels = (len(labels), len(labels[0])), list(chain.from_iterable(labels))
        if len(shape) > 1 and isinstance(graph, Grid) and shape[:2] != graph.sides:
            raise ValueError(f"Y[{i}] has shape {shape} but X[{i}] is a grid of shape {graph.sides}; is it transposed?")
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
        counts = features.n_tables, features.n_table_features
        if not all(isinstance(count, int) for count in counts) or any(counts) != bool(features.n_columns):
            raise ValueError("Tables do not fit their weights: a damaged file.")

    def inputs(self, X: Any) -> GraphRows:
        """Check graphs and lay their nodes side by side, and the features of their edges."""
        graphs = self.task.graphs(X)
        nodes = _stacked([graph.nodes for graph in graphs], self.features.node.n_features, "node")
        offsets = np.concatenate([[0], np.cumsum([len(graph) for graph in graphs])])
        finite_rows(nodes, offsets, "node")
        for i, graph in enumerate(graphs):
            self._check_edges(graph, f"X[{i}]")
        width = self.features.n_table_features
        if not width:
            return GraphRows(nodes, offsets)
        none = np.zeros((0, width))
        edges = _stacked(
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
        n_types = _n_types(graph)
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
