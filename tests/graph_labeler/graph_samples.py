"""Small graphs and grids, and what a model makes of them, worked out by hand."""

from itertools import product

import numpy as np

from maximand import (
    NodesAndEdges,
)


def smooth_grid(rng, height=4, width=5, n_labels=2):
    """A grid cut into two areas of one label each, seen through noise."""
    labels = np.full((height, width), rng.integers(n_labels))
    labels[:, int(rng.integers(1, width)) :] = rng.integers(n_labels)
    return np.eye(n_labels)[labels] + rng.normal(size=(height, width, n_labels)), labels


def random_graphs(rng, count, n_labels=3, n_features=2, forest=False):
    """Graphs of one to five nodes whose neighbours tend to agree."""
    X, Y = [], []
    for _ in range(count):
        n = int(rng.integers(1, 6))
        edges = [(int(rng.integers(v)), v) for v in range(1, n)]
        if not forest:
            edges += [(u, v) for v in range(2, n) for u in range(v) if (u, v) not in edges and rng.random() < 0.4]
        labels = rng.integers(0, n_labels, n)
        for u, v in edges:
            if rng.random() < 0.6:
                labels[v] = labels[u]
        nodes = np.eye(n_labels)[labels][:, :n_features] + 0.7 * rng.normal(size=(n, n_features))
        X.append(NodesAndEdges(nodes, edges))
        Y.append(labels)
    return X, Y


def scores_of_all(model, graph):
    """Return all labellings of a graph and their scores, worked out by hand from the weights."""
    k = model.classes_.size
    nodes = graph.nodes.toarray() if hasattr(graph.nodes, "toarray") else np.asarray(graph.nodes)
    node = model.task_.features.nodes[0]
    scores = nodes @ node.coefficients(model.weights_) + node.biases(model.weights_)
    labellings = np.array(list(product(range(k), repeat=len(nodes))))
    total = scores[np.arange(len(nodes)), labellings].sum(axis=1)
    tables = model.table_weights_
    for e, (u, v) in enumerate(graph.edges if tables.size else []):
        if graph.edge_features is not None:
            table = np.tensordot(np.asarray(graph.edge_features)[e], tables, 1)
        else:
            table = tables[0 if graph.edge_types is None else graph.edge_types[e]]
        total = total + table[labellings[:, u], labellings[:, v]]
    return labellings, total


def hinge_by_enumeration(model, X, Y):
    """Return the objective at the weights of the model."""
    losses = []
    for x, y in zip(X, Y, strict=True):
        labellings, scores = scores_of_all(model, x)
        costs = (labellings != np.asarray(y)).sum(axis=1)
        losses.append((scores + costs).max() - scores[costs == 0][0])
    return 0.5 * model.regularization * model.weights_ @ model.weights_ + np.sum(losses) / sum(map(len, Y))


def share_right(model, X, Y):
    predicted = model.predict(X)
    return np.concatenate([np.ravel(p) == np.ravel(y) for p, y in zip(predicted, Y, strict=True)]).mean()
