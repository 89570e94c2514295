"""Chains of which some positions are hidden: maxima over the others of sums over these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from maximand.numerics.chain_mixture_means import add_mixed_means
from maximand.numerics.chain_mixtures import Chains, mixed_fronts
from maximand.support import Array, Bools, Ints, Support, Waiting

if TYPE_CHECKING:
    from maximand.spaces.chain import Chain


def mixed_paths(chain: Chain, theta: Array, temperatures: tuple[float, float], hidden: Bools) -> Support:
    """Sum out the hidden positions, then the others: exact at all temperatures, with 0 for a maximum.

    Where labels have several states, summing these out leaves labels that all depend on each other: exact for short
    sequences alone.
    """
    if chain.states is not None and chain.states.several:
        return _mixed_labels(chain, theta, temperatures, hidden)
    outer, inside = map(float, temperatures)
    if outer == inside:
        return chain.marginals(theta, outer) if outer > 0.0 else chain.argmax(theta)
    legal, nodes = chain.legality, chain.nodes(theta)
    chains = Chains(nodes, chain.transitions(theta), chain.offsets, legal.first, legal.between, legal.last, hidden)
    fronts, values = np.empty(nodes.shape), np.empty(chain.n_examples)
    mixed_fronts(chains, outer, inside, fronts, values)
    waiting = MixedPaths(chain, chains, outer, inside, fronts, values)
    return Support(values, waiting if len(chains.transitions) == 1 else waiting.array())


def _mixed_labels(chain: Chain, theta: Array, temperatures: tuple[float, float], hidden: Bools) -> Support:
    from maximand.inference import BeliefPropagation, Tree  # graphs are slow to import, and few chains need them
    from maximand.spaces.summed_states import as_graphs, mixed_states

    assert chain.states is not None
    graphs, scores = as_graphs(chain, theta)
    return mixed_states(chain.states, Tree(wide=BeliefPropagation()), graphs, scores, temperatures, hidden)


@dataclass(frozen=True, eq=False)
class MixedPaths(Waiting):
    """The means of a soft maximum over visible positions of that over hidden ones, and what they are made of."""

    space: Chain
    chains: Chains
    outer: float
    inside: float
    fronts: Array
    values: Array

    def array(self) -> Array:
        """Return the mean."""
        return self._summed(np.zeros(self.space.n_parts), np.ones(self.space.n_examples))

    def view(self, name: str) -> Array:
        """Return the parts of a kind."""
        return self.space.layout.view(self.array(), name)

    def total(self, weight: Array) -> Array:
        """Return its weighted sum."""
        out = self._summed(np.zeros(self.space.layout.n_scores), weight)
        if not bool((weight == 1.0).all()):
            self.space.nodes(out)[:] *= weight[self.space.slots][:, None]
        return out

    def _summed(self, out: Array, weight: Array) -> Array:
        nodes, pairs = self.space.nodes(out), self.space.transitions(out)
        add_mixed_means(self.chains, self.outer, self.inside, self.fronts, self.values, weight, nodes, pairs)
        return out

    def dot(self, theta: Array) -> Array:
        """Return what scores the mean has."""
        return self.space.layout.dot(theta, self.array())

    def less(self, other: Array | Waiting, examples: Ints) -> tuple[Ints, Ints, Array]:
        """Return where the mean differs."""
        return self.space.layout.less(self.array(), other, examples)
