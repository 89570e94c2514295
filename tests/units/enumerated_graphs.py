"""Small graphs and all their labellings."""

import itertools

import numpy as np
from scipy.special import logsumexp

from maximand.inference.structure import Structure


def random_forest(rng, n_nodes, width, tied=False, p_root=0.2):
    """Return a forest with ragged states, nodes in no order and edges in any direction."""
    names = rng.permutation(n_nodes)
    edges = [(v, rng.integers(v)) for v in range(1, n_nodes) if rng.random() > p_root]
    edges = [(names[u], names[v]) if rng.random() < 0.5 else (names[v], names[u]) for u, v in edges]
    states = rng.integers(1, width + 1, n_nodes)
    tables = rng.integers(0, 2, len(edges)) if tied else None
    return Structure.of(states, np.array(edges).reshape(-1, 2), tables)


def random_scores(rng, graphs, kind="normal", scale=1.0):
    theta = rng.normal(size=graphs.n_parts) * scale
    if kind == "whole":
        theta = rng.integers(-1, 2, graphs.n_parts).astype(float)
    if kind == "forbidden":
        theta[rng.random(graphs.n_parts) < 0.25] = -np.inf
    return theta


def labellings(graph, theta, width):
    """Return all labellings of one graph, their scores and their parts."""
    n, tables = graph.n_nodes, graph.n_tables
    found = np.array(list(itertools.product(*[range(s) for s in graph.states])))
    psi = np.zeros((len(found), (n + tables * width) * width))
    rows = np.arange(len(found))
    for v in range(n):
        psi[rows, v * width + found[:, v]] = 1.0
    for (u, v), t in zip(graph.edges, graph.tables, strict=True):
        psi[rows, n * width + (t * width + found[:, u]) * width + found[:, v]] += 1.0
    legal = psi[:, np.isneginf(theta)].sum(axis=1) == 0.0
    scores = psi @ np.where(np.isneginf(theta), 0.0, theta)
    return found, np.where(legal, scores, -np.inf), psi


def softened(scores, psi, temperature):
    if np.isneginf(scores).all():
        return -np.inf, np.zeros(psi.shape[1])
    value = temperature * logsumexp(scores / temperature)
    return value, np.exp((scores - value) / temperature) @ psi
