"""A label for every node of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from maximand.costs import Cost, Hamming
from maximand.features import Examples, GraphFeatures, PerLabel, TableWeights
from maximand.inference import Inference, Structure
from maximand.spaces import Labels
from maximand.tasks.base import Task
from maximand.tasks.bound_graphs import BoundGraphs
from maximand.tasks.graph_inputs import EdgeArrays, GraphArrays, NodesAndEdges, as_array, flat_labels, in_arrays, listed
from maximand.tasks.node_types import NodeType, labels_of_types, names_of_types
from maximand.tasks.state_names import with_states
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
    n_states_per_label: Any = 1

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
        if known == [None]:
            names = with_states(names, self.n_states_per_label)
            types = (NodeType(None, np.arange(names.n_states), False),)
        elif self.n_states_per_label != 1:
            raise ValueError("n_states_per_label is for nodes of one type; join nodes of several types to hidden ones.")
        elif all(own.hidden for own in types):
            raise ValueError("Y holds no label that is known: all nodes would be hidden; label those of one type.")
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
