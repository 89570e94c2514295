"""Labelled graphs in files."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from maximand.cards.data import Dataset, Format, Known, Unlabelled
from maximand.cards.options import Options
from maximand.formats import FormatError, LabelledGraph, read_graphs
from maximand.tasks import NodesAndEdges

BATCH = 1000  # graphs that are held at a time


def read(source: str, known: Known, options: Options) -> Dataset:
    """Read graphs; labels that a graph lacks are not known."""
    graphs = list(read_graphs(source))
    if not graphs:
        raise FormatError(source, None, "no graphs; the file is empty.")
    y = [[None] * graph.nodes.shape[0] if graph.labels is None else list(graph.labels) for graph in graphs]
    return Dataset(source, [_input(graph) for graph in graphs], y)


def unlabelled(source: str, known: Known, options: Options) -> Iterator[Unlabelled]:
    """Read graphs without their labels, some at a time."""
    graphs = read_graphs(source)
    while batch := list(itertools.islice(graphs, BATCH)):
        yield Unlabelled([_input(graph) for graph in batch])


def _input(graph: LabelledGraph) -> Any:
    """Return a graph as the estimator takes it: a grid is an array (height, width, feature)."""
    if graph.grid is not None:
        return graph.nodes.reshape(*graph.grid, -1)
    return NodesAndEdges(graph.nodes, graph.edges, graph.edge_features, graph.edge_types)


FORMATS = (Format("graphs", "graphs with a label for each node", read, (".jsonl",), unlabelled),)
