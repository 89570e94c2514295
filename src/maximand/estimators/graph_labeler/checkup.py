"""A look at labelled graphs before training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import coo_array, issparse
from scipy.sparse.csgraph import connected_components

from maximand.cards.checkup import Checkup, Finding, of_timed_parts
from maximand.cards.data import Dataset
from maximand.cards.findings import of_labels
from maximand.cards.options import Options
from maximand.estimators.graph_labeler.estimator import GraphLabeler
from maximand.inference import Structure
from maximand.support import Ints
from maximand.tasks import NodesAndEdges
from maximand.tasks.graph_inputs import stacked
from maximand.tasks.label_names import named_labels


def nodes_of(x: Any) -> Any:
    """Return the features of the nodes of a graph or grid."""
    return x.nodes if isinstance(x, NodesAndEdges) else x.reshape(-1, x.shape[2])


def edges_of(x: Any) -> Ints:
    """Return the edges of a graph, or of a grid those to the right and down."""
    return x.edges if isinstance(x, NodesAndEdges) else Structure.grid(*x.shape[:2]).edges


def counts(data: Dataset) -> Counter[Any]:
    """Count how often each label occurs for sure; those that are mere candidates are there with 0."""
    labels = [label for graph in data.y for label in graph]
    named = Counter(dict.fromkeys(named_labels(labels), 0))
    named.update(label for label in labels if isinstance(label, (str, int)))
    return named


def sizes(data: Dataset, counts: Counter[Any]) -> dict[str, Any]:
    """Say how many nodes and edges there are."""
    return {"nodes": sum(map(len, data.y)), "edges": sum(len(edges_of(x)) for x in data.X)}


def facts(data: Dataset, counts: Counter[Any]) -> dict[str, Any]:
    """Say how the nodes hang together, and how many are without a label."""
    return {
        "components": sum(_components(x) for x in data.X),
        "isolated nodes": sum(_isolated(x) for x in data.X),
        "graphs without edges": sum(not len(edges_of(x)) for x in data.X),
        "unlabelled nodes": sum(label is None for graph in data.y for label in graph),
    }


def _components(x: Any) -> int:
    edges, n = edges_of(x), nodes_of(x).shape[0]
    joined = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    return int(connected_components(joined, directed=False, return_labels=False))


def _isolated(x: Any) -> int:
    """Return the number of nodes at no edge, of graphs that have edges."""
    edges = edges_of(x)
    return nodes_of(x).shape[0] - np.unique(edges).size if len(edges) else 0


def findings(data: Dataset, counts: Counter[Any], options: Options) -> Iterator[Finding]:
    """Look at labels, and at what is joined to nothing."""
    weighed = GraphLabeler(loss=options["loss"], class_weight=options["class_weight"])
    yield from of_labels(counts, weighed)
    n_graphs, n_nodes = len(data.y), sum(map(len, data.y))
    empty = [i for i, x in enumerate(data.X, 1) if not len(edges_of(x))]
    if empty:
        yield Finding(
            f"{len(empty)} of {n_graphs} graphs have no edges, first number {empty[0]}.",
            "Their nodes are labelled one by one; write their edges if some belong together.",
        )
    isolated = {i: n for i, x in enumerate(data.X, 1) if (n := _isolated(x))}
    if isolated:
        yield Finding(
            f"{sum(isolated.values())} of {n_nodes} nodes are at no edge, the first in graph {next(iter(isolated))}.",
            "They are labelled by their own features alone; join them to others if these tell something.",
        )
    unlabelled = [i for i, graph in enumerate(data.y, 1) if all(label is None for label in graph)]
    if unlabelled:
        yield Finding(
            f"{len(unlabelled)} of {n_graphs} graphs have no label at all, first number {unlabelled[0]}.",
            "They teach next to nothing; leave them out to save time.",
        )
    partly = [i for i, graph in enumerate(data.y, 1) if None in graph and i not in set(unlabelled)]
    if partly:
        yield Finding(
            f"{len(partly)} of {n_graphs} graphs have nodes without a label, first number {partly[0]}.",
            "Training completes them, and its objective is not convex; label them where you can.",
        )


def rows(model: Any, data: Dataset) -> tuple[Any, Any]:
    """Return the graphs as they are, and the features of all nodes."""
    blocks = [nodes_of(x) for x in data.X]
    return data.X, stacked(blocks, blocks[0].shape[1], "node")


def digests(data: Dataset) -> Iterator[int]:
    """Yield a number for each graph."""
    for x in data.X:
        grid = not isinstance(x, NodesAndEdges)
        parts = (x.shape, x) if grid else (x.nodes, x.edges, x.edge_features, x.edge_types)
        yield hash(tuple(map(_bytes, parts)))


def _bytes(part: Any) -> bytes:
    if issparse(part):
        return part.indptr.tobytes() + part.indices.tobytes() + part.data.tobytes()
    return np.asarray(0 if part is None else part).tobytes()


CHECKUP = Checkup(counts, findings, sizes, facts, rows, digests, of_timed_parts)
