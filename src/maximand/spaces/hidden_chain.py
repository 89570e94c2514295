"""Chains of which some positions are hidden: maxima over the others of sums over these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maximand.inference import BeliefPropagation, Tree
from maximand.spaces.summed_states import as_graphs, mixed_states
from maximand.support import Array, Bools, Support

if TYPE_CHECKING:
    from maximand.spaces.chain import Chain


def mixed_paths(chain: Chain, theta: Array, temperatures: tuple[float, float], hidden: Bools) -> Support:
    """Eliminate the hidden positions, then the others: exact at all temperatures, with 0 for a maximum.

    Where labels have several states, summing these out leaves labels that all depend on each other: exact for short
    sequences alone.
    """
    graphs, scores = as_graphs(chain, theta)
    if chain.states is None or not chain.states.several:
        return Tree().mixed(graphs, scores, temperatures, hidden)
    return mixed_states(chain.states, Tree(wide=BeliefPropagation()), graphs, scores, temperatures, hidden)
