"""Graphs laid side by side: their structures, and their features type by type."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from maximand.features import GraphFeatures, Rows, TableWeights
from maximand.inference import Structure
from maximand.inference.structure_checks import checked_edges
from maximand.tasks.base import finite_rows
from maximand.tasks.graph_inputs import EdgeArrays, GraphArrays, between, stacked


def noun_of(what: str, *types: Any) -> str:
    """Call a node or an edge by its types, where there are such."""
    return what if types[0] is None else f"{'-'.join(types)} {what}"


def side_by_side(blocks: list[Any], width: int, what: str) -> Rows:
    """Return the rows of all graphs."""
    matrix, offsets = stacked(blocks, width, what), np.concatenate([[0], np.cumsum([b.shape[0] for b in blocks])])
    finite_rows(matrix, offsets, what)
    return Rows(matrix, offsets)


def check_graph(graph: GraphArrays, names: list[Any], features: GraphFeatures, where: str) -> None:
    """Refuse a graph whose nodes and edges are not described as those in training were."""
    other = next((name for name in graph.nodes if name not in names), names[0])
    if other not in names:
        had = "had no types of nodes" if names[0] is None else f"had {', '.join(map(repr, names))}"
        found = "has nodes without types" if other is None else f"has nodes of type {other!r}"
        raise ValueError(f"{where} {found} but training {had}; describe nodes as in training.")
    known = {(names[a], names[b]): tables for tables in features.tables for a, b in [tables.ends]}
    for ends, edges in graph.edges.items():
        if ends in known:
            _check_edges(edges, known[ends], between(where, ends))
        elif len(edges.pairs):
            raise ValueError(f"{where} joins {ends} but no edges in training do; train with all kinds of edges.")


def _check_edges(edges: EdgeArrays, tables: TableWeights, where: str) -> None:
    if not tables.n_columns:
        return
    if tables.n_features and edges.features is None and len(edges.pairs):
        raise ValueError(f"{where} has no edge features but graphs in training have; every edge needs them.")
    if tables.n_tables and edges.features is not None:
        raise ValueError(f"{where} has edge features but the model was trained without; leave them out.")
    if tables.n_tables and edges.n_types > tables.n_tables:
        edge = int(np.argmax(np.asarray(edges.types)))
        raise ValueError(
            f"{where}: edge {edge} is of type {edges.n_types - 1} but training had types up to {tables.n_tables - 1}; "
            "train with all types."
        )


def structure_of(graph: GraphArrays, names: list[Any], features: GraphFeatures, where: str) -> Structure:
    """Return the graph whose nodes come type by type; edges without weights are left out."""
    sizes = [prod(graph.sides)] if graph.sides else list(graph.shape(names))
    if not sum(sizes):
        raise ValueError(f"{where} has no nodes; drop it.")
    states = np.repeat([own.n_labels for own in features.nodes], sizes)
    first = np.cumsum([0, *sizes])
    none = np.zeros((0, 2), dtype=np.int64)
    pairs, numbers, of_types, n_tables = [none], [none[:, 0]], [none], 0
    for tables in features.tables:
        a, b = tables.ends
        edges = graph.edges.get((names[a], names[b]))
        if not tables.n_columns:
            continue
        own = (
            none
            if edges is None
            else checked_edges(edges.pairs, (sizes[a], sizes[b]), between(where, (names[a], names[b])), a != b)
        )
        count, used = tables.n_tables, np.zeros(len(own), dtype=np.int64)
        if tables.n_features:
            count, used = len(own), np.arange(len(own))
        elif edges is not None and edges.types is not None:
            used = edges.types
        pairs.append(own + first[[a, b]])
        numbers.append(used + n_tables)
        of_types.append(np.tile([a, b], (count, 1)))
        n_tables += count
    typed = (np.repeat(np.arange(len(names)), sizes), np.concatenate(of_types)) if names[0] is not None else ()
    return Structure(states, np.concatenate(pairs), np.concatenate(numbers), n_tables, *typed)
