"""Labelled graphs as JSON lines: `{"nodes": [[0.5, 1], [2, 0]], "edges": [[0, 1]], "labels": ["a", null]}` on each.

`nodes` and `edge_features` are lists of rows, or `{"n_features": 9, "indices": [[0, 8], []], "values": [[1, 0.5], []]}`
with the columns that are not zero. `edge_types` are whole numbers from 0. A label is text or a whole number, null where
it is not known, or a list of candidates. `"grid": [height, width]` takes the place of edges: nodes come row by row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from maximand.formats.fields import LARGEST
from maximand.formats.json_values import lists, matrix_value, read_matrix, read_object, shown, wholes
from maximand.formats.records import Matrix, Record
from maximand.formats.sources import MAX_BYTES, Lines, Source, Target, open_lines, open_writer
from maximand.support import Ints

MAX_TYPES = 10_000
OF_EDGES = ("edges", "edge_features", "edge_types")
NAMES = "labels are text, or whole numbers but -1"
PARTS = ("nodes", *OF_EDGES, "labels", "grid")


@dataclass(frozen=True, eq=False)
class LabelledGraph(Record):
    """A graph: features of nodes, pairs of nodes, features or types of these, and labels; or a grid's height and width.

    A label is None where it is not known, and a frozenset of candidates where it is one of them; labels is None where
    there are none. A grid has no edges here: they follow from its sides.
    """

    nodes: Matrix
    edges: Ints
    edge_features: Matrix | None = None
    edge_types: Ints | None = None
    labels: tuple[Any, ...] | None = None
    grid: tuple[int, int] | None = None


def read_graphs(source: Source, *, max_bytes: int = MAX_BYTES) -> Iterator[LabelledGraph]:
    """Iterate over graphs; nodes have as many features in all of them, and so have edges."""
    widths: dict[str, int] = {}
    with open_lines(source, max_bytes=max_bytes) as lines:
        for row in lines.rows():
            graph = _graph(lines, read_object(lines, row, PARTS))
            for name, matrix in (("nodes", graph.nodes), ("edge_features", graph.edge_features)):
                if matrix is not None and widths.setdefault(name, matrix.shape[1]) != matrix.shape[1]:
                    raise lines.error(
                        f"{name} with {matrix.shape[1]} features where graphs above have {widths[name]}; give as many."
                    )
            yield graph
            lines.forget()


def write_graphs(graphs: Iterable[LabelledGraph], target: Target) -> None:
    """Write a line for each graph."""
    with open_writer(target) as file:
        for graph in graphs:
            file.write(json.dumps(_parts(graph), ensure_ascii=False, allow_nan=False) + "\n")


def _graph(lines: Lines, parts: dict[str, Any]) -> LabelledGraph:
    if "nodes" not in parts:
        raise lines.error('no nodes; a graph is an object such as {"nodes": [[1, 0], [0, 1]], "edges": [[0, 1]]}.')
    nodes = read_matrix(lines, parts["nodes"], "node", "nodes")
    n_nodes = nodes.shape[0]
    if not n_nodes:
        raise lines.error("a graph without nodes; delete the line.")
    labels = _labels(lines, parts["labels"], n_nodes) if "labels" in parts else None
    if "grid" in parts:
        return LabelledGraph(nodes, _pairs([]), labels=labels, grid=_grid(lines, parts, nodes))
    edges = _edges(lines, parts.get("edges", []), n_nodes)
    features, types = None, None
    if "edge_features" in parts and "edge_types" in parts:
        raise lines.error("edge_features and edge_types; add the types to the features, as columns of 0 and 1.")
    if "edge_features" in parts:
        features = read_matrix(lines, parts["edge_features"], "edge", "edge_features")
        if features.shape[0] != len(edges):
            raise lines.error(f"{len(edges)} edges but edge_features for {features.shape[0]}; give a row each.")
        if len(edges) and not features.shape[1]:
            raise lines.error("edge_features without columns; leave them out.")
    if "edge_types" in parts:
        types = np.array(wholes(lines, parts["edge_types"], "edge_types", MAX_TYPES - 1), dtype=np.int64)
        if types.size != len(edges):
            raise lines.error(f"{len(edges)} edges but {types.size} edge_types; give one for each.")
    return LabelledGraph(nodes, edges, features if len(edges) else None, types, labels)


def _grid(lines: Lines, parts: dict[str, Any], nodes: Matrix) -> tuple[int, int]:
    sides = wholes(lines, parts["grid"], "grid")
    if len(sides) != 2 or sides[0] * sides[1] != nodes.shape[0]:
        raise lines.error(f"the grid {shown(sides)} does not have {nodes.shape[0]} nodes; give [height, width].")
    given = next((name for name in OF_EDGES if name in parts), None)
    if given is not None:
        raise lines.error(f"a grid with {given}; the edges of a grid follow from it: leave one of the two out.")
    if issparse(nodes):
        raise lines.error("a grid whose nodes have indices and values; give rows of numbers.")
    return sides[0], sides[1]


def _edges(lines: Lines, value: Any, n_nodes: int) -> Ints:
    seen: dict[tuple[int, int], int] = {}
    for i, pair in enumerate(lists(lines, value, "edge", "edges")):
        ends = wholes(lines, pair, f"edge {i}", n_nodes - 1)
        if len(ends) != 2 or ends[0] == ends[1]:
            raise lines.error(f"edge {i} is {shown(ends)}; an edge joins two different nodes.")
        before = seen.setdefault((min(ends), max(ends)), i)
        if before != i:
            raise lines.error(f"edge {i} joins {ends} like edge {before}; keep one of them.")
    return _pairs(value)


def _pairs(value: list[list[int]]) -> Ints:
    return np.array(value, dtype=np.int64).reshape(-1, 2)


def _labels(lines: Lines, value: Any, n_nodes: int) -> tuple[Any, ...]:
    if not isinstance(value, list) or len(value) != n_nodes:
        found = f"{len(value)} labels" if isinstance(value, list) else f"labels {shown(value)}"
        raise lines.error(f"{found} but {n_nodes} nodes; list one for each (null where unknown).")
    return tuple(_label(lines, label, i) for i, label in enumerate(value))


def _label(lines: Lines, label: Any, i: int) -> Any:
    if label is None:
        return None
    if not isinstance(label, list):
        return _name(lines, label, i)
    if not label:
        raise lines.error(f"node {i} has an empty list of candidates; say null where nothing is known.")
    return frozenset(_name(lines, candidate, i) for candidate in label)


def _name(lines: Lines, label: Any, i: int) -> str | int:
    if not _is_name(label):
        raise lines.error(f"node {i} has the label {shown(label)}; {NAMES}, and null where unknown.")
    return label


def _is_name(label: Any) -> bool:
    """Say whether this can be a label; -1 would be taken for one that is not known."""
    if isinstance(label, str):
        return not any("\ud800" <= character <= "\udfff" for character in label)
    return type(label) is int and -LARGEST <= label <= LARGEST and label != -1


def _parts(graph: LabelledGraph) -> dict[str, Any]:
    """Return the parts of a graph that are there, as JSON has them."""
    parts: dict[str, Any] = {"nodes": matrix_value(graph.nodes)}
    if graph.grid is not None:
        parts["grid"] = list(graph.grid)
    else:
        parts["edges"] = graph.edges.tolist()
    if graph.edge_features is not None:
        parts["edge_features"] = matrix_value(graph.edge_features)
    if graph.edge_types is not None:
        parts["edge_types"] = graph.edge_types.tolist()
    if graph.labels is not None:
        parts["labels"] = [_label_value(label) for label in graph.labels]
    return parts


def _label_value(label: Any) -> Any:
    names = sorted(label, key=repr) if isinstance(label, frozenset) else [label]
    if label is not None and not (names and all(map(_is_name, names))):
        raise ValueError(f"The label {label!r} cannot be written in this format: {NAMES}; replace it.")
    return names if isinstance(label, frozenset) else label
