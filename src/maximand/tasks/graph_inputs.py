"""The forms in which graphs and their labels come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from maximand.support import Ints
from maximand.tasks.label_names import coded, unknown
from maximand.tasks.table_patterns import Ends


@dataclass(frozen=True)
class NodesAndEdges:
    """A graph as an input: a row of features for each node, and pairs of nodes.

    edge_features, a row for each edge, lets tables depend on them; edge_types, a number from 0 for each edge, gives
    each type a table of its own.

    Nodes of several types come as a dict, {"word": rows, "sentence": rows}. Then edges, and what describes them, are
    dicts too: {("word", "sentence"): [(0, 0), (1, 0)]} joins words, numbered among words, with sentences.
    """

    nodes: Any
    edges: Any
    edge_features: Any = None
    edge_types: Any = None

    def __len__(self) -> int:
        blocks = self.nodes.values() if isinstance(self.nodes, Mapping) else [self.nodes]
        return sum(int(block.shape[0]) for block in blocks)


@dataclass(frozen=True)
class EdgeArrays:
    """Pairs of nodes, not checked yet, with their features or types."""

    pairs: np.ndarray
    features: Any = None
    types: Ints | None = None

    @property
    def n_types(self) -> int:
        """The number of types of edges: one more than the largest."""
        return 1 if self.types is None else int(np.max(self.types, initial=0)) + 1


@dataclass(frozen=True)
class GraphArrays:
    """A graph in arrays: the rows of each type of nodes and the edges of each two types, by name.

    The name of the type is None where there is but one; `sides` are those of a grid.
    """

    nodes: dict[Any, Any]
    edges: dict[Ends, EdgeArrays]
    sides: tuple[int, int] | None = None

    def shape(self, types: Sequence[Any]) -> tuple[int, ...]:
        """Return the shape that labels have: that of a grid, or the number of nodes of each type."""
        sizes = {name: int(rows.shape[0]) for name, rows in self.nodes.items()}
        return self.sides or tuple(sizes.get(name, 0) for name in types)


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


def in_arrays(graph: NodesAndEdges, where: str) -> GraphArrays:
    """Check what can be checked of a graph by itself, but for its edges."""
    if not isinstance(graph.nodes, Mapping):
        own = _edges(graph.edges, graph.edge_features, graph.edge_types, where)
        return GraphArrays({None: _matrix(graph.nodes, f"{where}: its nodes", "node")}, {(None, None): own})
    wrong = next((name for name in graph.nodes if not isinstance(name, str)), None)
    if wrong is not None:
        raise ValueError(f"{where}: its nodes are of type {wrong!r}; name types of nodes by strings.")
    nodes = {name: _matrix(rows, f"{where}: its nodes {name!r}", "node") for name, rows in graph.nodes.items()}
    given = [_by_ends(getattr(graph, part), part, where) for part in ("edges", "edge_features", "edge_types")]
    for part in given:
        for ends in part:
            _check_ends(ends, nodes, given[0], where)
    joined, features, types = given
    edges = {
        ends: _edges(pairs, features.get(ends), types.get(ends), between(where, ends)) for ends, pairs in joined.items()
    }
    return GraphArrays(nodes, edges)


def between(where: str, ends: Ends) -> str:
    """Say of which edges of a graph something is said, where they are between types of nodes."""
    return where if ends[0] is None else f"{where} between {ends[0]!r} and {ends[1]!r}"


def _by_ends(part: Any, name: str, where: str) -> Mapping[Ends, Any]:
    if not isinstance(part, Mapping | None):
        raise ValueError(
            f"{where}: its nodes have types and its {name} do not say which these join; give a dict such as "
            "{('word', 'sentence'): ...}."
        )
    return {} if part is None else part


def _check_ends(ends: Any, nodes: Mapping[Any, Any], edges: Mapping[Ends, Any], where: str) -> None:
    if not isinstance(ends, tuple) or len(ends) != 2 or not all(name in nodes for name in ends):
        known = ", ".join(map(repr, nodes))
        raise ValueError(f"{where}: edges join {ends!r}; give pairs of the types that its nodes have: {known}.")
    if ends not in edges:
        raise ValueError(f"{where}: something is said of edges {ends}, and there are none; leave it out.")
    if ends[0] != ends[1] and ends[::-1] in edges:
        raise ValueError(f"{where}: edges join {ends} and {ends[::-1]}; keep one of the two orders.")


def _edges(pairs: Any, features: Any, types: Any, where: str) -> EdgeArrays:
    """Check what belongs to edges."""
    edges = as_array(pairs)
    if edges is None:
        raise ValueError(f"{where}: its edges differ in length; each is a pair of nodes.")
    if issparse(pairs) or edges.ndim == 0:
        raise ValueError(
            f"{where}: its edges are of type {type(pairs).__name__}; give a list or array of pairs of nodes, [] for "
            "none."
        )
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
    return EdgeArrays(edges, features, types)


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


def stacked(blocks: list[Any], width: int, what: str) -> Any:
    """Put the matrices of all graphs into one."""
    for i, block in enumerate(blocks):
        if block.shape[1] != width:
            raise ValueError(f"X[{i}] has {block.shape[1]} {what} features but {width} are expected, as in training.")
    if any(issparse(block) for block in blocks):
        return csr_array(vstack([csr_array(block) for block in blocks], format="csr"), dtype=np.float64)
    return np.ascontiguousarray(np.vstack(blocks), dtype=np.float64)


def flat_labels(
    Y: Any, shapes: Sequence[tuple[int, ...]], types: Sequence[Any] = (None,), classes: Any = None
) -> list[Any]:
    """Return the labels of all graphs one after the other, type by type, checked against their shapes, as `coded`."""
    Y = list(Y)
    if len(Y) != len(shapes):
        raise ValueError(f"X has {len(shapes)} graphs but Y has {len(Y)}; each graph needs its labels.")
    flat: list[Any] = []
    for i, (y, own) in enumerate(zip(Y, shapes, strict=True)):
        if types[0] is None:
            flat += _labels(y, own, f"Y[{i}]", f"X[{i}]", "nodes")
            continue
        y = {} if unknown(y) else y
        if not isinstance(y, Mapping) or not set(y) <= set(types):
            found = f"names {next(iter(set(y) - set(types)))!r}" if isinstance(y, Mapping) else f"is {y!r}"
            known = ", ".join(map(repr, types))
            raise ValueError(f"Y[{i}] {found}; give a dict with the labels of each type of nodes: {known}.")
        for name, n in zip(types, own, strict=True):
            flat += _labels(y.get(name), (n,), f"Y[{i}][{name!r}]", f"X[{i}]", f"nodes {name!r}")
    return coded(flat, list(chain.from_iterable(classes.values())) if isinstance(classes, Mapping) else classes)


def _labels(y: Any, own: tuple[int, ...], labels_of: str, graph: str, nodes: str) -> list[Any]:
    """Return the labels of nodes of such a shape."""
    n_nodes = prod(own)
    y = [None] * n_nodes if unknown(y) else y
    if not hasattr(y, "__iter__") or (isinstance(y, np.ndarray) and not y.ndim):
        raise ValueError(f"{labels_of} is {y!r}; give a label for each of the {n_nodes} {nodes} (None where unknown).")
    labels = y.ravel().tolist() if isinstance(y, np.ndarray) else list(y)
    shape = np.shape(y) if isinstance(y, np.ndarray) else (len(labels),)
    if labels and isinstance(labels[0], (list, np.ndarray)):
        shape, labels = (len(labels), len(labels[0])), list(chain.from_iterable(labels))
    if len(shape) > 1 and len(own) > 1 and shape[:2] != own:
        raise ValueError(f"{labels_of} has shape {shape} but {graph} is a grid of shape {own}; is it transposed?")
    if len(labels) != n_nodes:
        raise ValueError(
            f"{labels_of} has {len(labels)} labels but {graph} has {n_nodes} {nodes}; each node needs one (None where "
            "unknown)."
        )
    return labels
