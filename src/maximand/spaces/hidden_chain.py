"""Chains of which some positions are hidden: maxima over the others of sums over these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maximand.inference import FactorGraphs, Structure, Structures, Tree
from maximand.support import Array, Bools, Support

if TYPE_CHECKING:
    from maximand.spaces.chain import Chain


def mixed_paths(chain: Chain, theta: Array, temperatures: tuple[float, float], hidden: Bools) -> Support:
    """Eliminate the hidden positions, then the others: exact at all temperatures, with 0 for a maximum."""
    return Tree().mixed(*as_graphs(chain, theta), temperatures, hidden)


def as_graphs(chain: Chain, theta: Array) -> tuple[FactorGraphs, Array]:
    """Return sequences as graphs, whose parts are those of the chain, and their scores."""
    lengths, which = np.unique(chain.lengths, return_inverse=True)
    graphs = FactorGraphs(Structures([_path(length, chain.n_labels) for length in lengths], chain.n_labels), which)
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
