"""The forms in which graphs and their labels come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from maximand.support import Ints
from maximand.tasks.label_names import coded, unknown


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


def listed(X: Any) -> list[Any]:
    """Return the inputs as a list."""
    if isinstance(X, NodesAndEdges) or not hasattr(X, "__iter__"):
        raise ValueError(f"X is of type {type(X).__name__}; give a list of graphs.")
    return list(X)


def as_array(values: Any) -> np.ndarray | None:
    """Return an array; None where rows differ in length."""
    try:
        return np.asarray(values)
    except ValueError:
        return None


def in_arrays(graph: NodesAndEdges, where: str) -> NodesAndEdges:
    """Check what can be checked of a graph by itself, but for its edges."""
    nodes, edges = _matrix(graph.nodes, f"{where}: its nodes", "node"), as_array(graph.edges)
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
    matrix = block if issparse(block) else as_array(block)
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


def count_types(graph: NodesAndEdges) -> int:
    """Return the number of types of edges: one more than the largest."""
    return 1 if graph.edge_types is None else int(np.max(graph.edge_types, initial=0)) + 1


def stacked(blocks: list[Any], width: int, what: str) -> Any:
    """Put the matrices of all graphs into one."""
    for i, block in enumerate(blocks):
        if block.shape[1] != width:
            raise ValueError(f"X[{i}] has {block.shape[1]} {what} features but {width} are expected, as in training.")
    if any(issparse(block) for block in blocks):
        return csr_array(vstack([csr_array(block) for block in blocks], format="csr"), dtype=np.float64)
    return np.ascontiguousarray(np.vstack(blocks), dtype=np.float64)


def shape_of(graph: NodesAndEdges) -> tuple[int, ...]:
    """Return the shape that the labels of a graph have: that of a grid, or one for each node."""
    return graph.sides if isinstance(graph, Grid) else (len(graph),)


def flat_labels(Y: Any, shapes: Sequence[tuple[int, ...]], classes: Any = None) -> list[Any]:
    """Return the labels of all graphs one after the other, checked against their shapes, as `coded` does."""
    Y = list(Y)
    if len(Y) != len(shapes):
        raise ValueError(f"X has {len(shapes)} graphs but Y has {len(Y)}; each graph needs its labels.")
    flat: list[Any] = []
    for i, (y, own) in enumerate(zip(Y, shapes, strict=True)):
        n_nodes = prod(own)
        y = [None] * n_nodes if unknown(y) else y
        if not hasattr(y, "__iter__") or (isinstance(y, np.ndarray) and not y.ndim):
            raise ValueError(f"Y[{i}] is {y!r}; give a label for each of the {n_nodes} nodes (None where unknown).")
        labels = y.ravel().tolist() if isinstance(y, np.ndarray) else list(y)
        shape = np.shape(y) if isinstance(y, np.ndarray) else (len(labels),)
        if labels and isinstance(labels[0], (list, np.ndarray)):
            shape, labels = (len(labels), len(labels[0])), list(chain.from_iterable(labels))
        if len(shape) > 1 and len(own) > 1 and shape[:2] != own:
            raise ValueError(f"Y[{i}] has shape {shape} but X[{i}] is a grid of shape {own}; is it transposed?")
        if len(labels) != n_nodes:
            raise ValueError(
                f"Y[{i}] has {len(labels)} labels but X[{i}] has {n_nodes} nodes; each node needs one (None where "
                "unknown)."
            )
        flat += labels
    return coded(flat, classes)
