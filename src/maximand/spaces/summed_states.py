"""Graphs and chains whose labels have hidden states: maxima over labels of sums over states."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from maximand.inference import FactorGraphs, Inference, Structure, Structures
from maximand.states import again
from maximand.support import Array, Bools, Support

if TYPE_CHECKING:
    from maximand.spaces.chain import Chain
    from maximand.spaces.label_states import LabelStates

_graphs: WeakKeyDictionary[Chain, FactorGraphs] = WeakKeyDictionary()
_larger: WeakKeyDictionary[Structures, dict[int, Structures]] = WeakKeyDictionary()


def mixed_states(
    states: LabelStates,
    inference: Inference,
    graphs: FactorGraphs,
    theta: Array,
    temperatures: tuple[float, float],
    hidden: Bools,
    state: Any = None,
) -> Support:
    """Return the soft maximum over the labels of visible nodes of that over states, at temperatures for each.

    Graphs get a node more for the label of each node. Those of states come first, all of them hidden then.
    """
    larger, places = _with_labels(graphs, states.n_labels)
    covered = np.ones(2 * hidden.size, dtype=bool)
    covered[~places] = hidden
    scores = np.zeros(larger.n_parts)
    larger.nodes(scores)[places] = graphs.nodes(theta)
    of_states = np.ones(int(larger.table_offsets[-1]), dtype=bool)
    of_states[larger.table_offsets[1:] - 1] = False
    tables = larger.tables(scores)
    tables[of_states] = graphs.tables(theta)
    its_label = np.maximum(states.label_of, 0)[:, None] == np.arange(graphs.width)
    tables[~of_states] = np.where(its_label, 0.0, -np.inf)
    found = inference.mixed(larger, scores, temperatures, covered, **again(state))
    mean = np.empty(graphs.n_parts)
    graphs.nodes(mean)[:] = larger.nodes(found.mean)[places]
    graphs.tables(mean)[:] = larger.tables(found.mean)[of_states]
    return replace(found, mean=mean)


def _with_labels(graphs: FactorGraphs, n_labels: int) -> tuple[FactorGraphs, Bools]:
    """Return graphs with a node for each label, and which of their nodes are those of states."""
    known = _larger.setdefault(graphs.structures, {})
    if n_labels not in known:
        own = [_with_label_nodes(graph, n_labels) for graph in graphs.structures.graphs]
        known[n_labels] = Structures(own, graphs.width)
    counts = np.diff(graphs.node_offsets)
    turns = np.repeat(np.tile([True, False], counts.size), np.repeat(counts, 2))
    return FactorGraphs(known[n_labels], graphs.which), turns


def _with_label_nodes(graph: Structure, n_labels: int) -> Structure:
    """Return a graph with another node for each, joined to it by a table that all these edges share."""
    nodes, n = np.arange(graph.n_nodes), graph.n_nodes
    edges = np.concatenate([graph.edges, np.stack([nodes, n + nodes], axis=1)])
    tables = np.append(graph.tables, np.full(n, graph.n_tables))
    return Structure.of(np.append(graph.states, np.full(n, n_labels)), edges, tables, graph.n_tables + 1)


def as_graphs(chain: Chain, theta: Array) -> tuple[FactorGraphs, Array]:
    """Return sequences as graphs, whose parts are those of the chain, and their scores."""
    if chain not in _graphs:
        lengths, which = np.unique(chain.lengths, return_inverse=True)
        paths = Structures([_path(length, chain.n_labels) for length in lengths], chain.n_labels)
        _graphs[chain] = FactorGraphs(paths, which)
    graphs = _graphs[chain]
    scores = np.empty(graphs.n_parts)
    legal, nodes = chain.legality, graphs.nodes(scores)
    nodes[:] = chain.nodes(theta)
    nodes[chain.offsets[:-1]] += legal.first
    nodes[chain.offsets[1:] - 1] += legal.last
    graphs.tables(scores)[:] = chain.transitions(theta) + legal.between
    return graphs, scores


def _path(length: int, n_labels: int) -> Structure:
    """Return a path whose edges share a table."""
    edges = np.stack([np.arange(length - 1), np.arange(1, length)], axis=1)
    return Structure.of(np.full(length, n_labels), edges, np.zeros(length - 1, dtype=np.int64), 1)
