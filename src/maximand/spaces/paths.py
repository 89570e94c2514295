"""Means of chains that wait until they are read: those of pairs are many where labels are, and sums of them are few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from maximand.numerics.chain import count_parts, path_differences, path_scores
from maximand.numerics.chain_pairs import add_soft_pairs, soft_pair_scores
from maximand.numerics.chain_sums import SoftSums
from maximand.support import Array, Ints, Waiting

if TYPE_CHECKING:
    from maximand.spaces.chain import Chain


@dataclass(frozen=True, eq=False)
class Paths(Waiting):
    """Psi of a label at each position; labels below 0 count nothing."""

    space: Chain
    codes: Ints

    def array(self) -> Array:
        """Return psi."""
        return self._counted(np.zeros(self.space.n_parts), np.ones(self.space.n_examples))

    def view(self, name: str) -> Array:
        """Return the parts of a kind."""
        return self.space.layout.view(self.array(), name)

    def total(self, weight: Array) -> Array:
        """Return its weighted sum."""
        return self._counted(np.zeros(self.space.layout.n_scores), weight)

    def _counted(self, out: Array, weight: Array) -> Array:
        count_parts(self.codes, self.space.offsets, weight, self.space.nodes(out), self.space.transitions(out))
        return out

    def dot(self, theta: Array) -> Array:
        """Return the scores."""
        scores, space = np.empty(self.space.n_examples), self.space
        path_scores(space.nodes(theta), space.transitions(theta), space.offsets, self.codes, scores)
        return scores

    def less(self, other: Array | Waiting, examples: Ints) -> tuple[Ints, Ints, Array]:
        """Return where psi differs."""
        if not isinstance(other, Paths):
            return self.space.layout.less(self.array(), other, examples)
        return path_differences(self.codes, other.codes, self.space.offsets, self.space.n_labels, examples)


@dataclass(frozen=True, eq=False)
class SoftPaths(Waiting):
    """The means of a soft maximum: of nodes, and what forward-backward left to make those of pairs of.

    All examples have the same table of transitions.
    """

    space: Chain
    sums: SoftSums

    def array(self) -> Array:
        """Return the mean."""
        return self._summed(np.zeros(self.space.n_parts), np.ones(self.space.n_examples), self.sums.means)

    def view(self, name: str) -> Array:
        """Return the parts of a kind: those of nodes are there already."""
        return self.sums.means if name == "nodes" else self.space.layout.view(self.array(), name)

    def total(self, weight: Array) -> Array:
        """Return its weighted sum."""
        means = self.sums.means
        nodes = means if bool((weight == 1.0).all()) else means * weight[self.space.slots][:, None]
        return self._summed(np.zeros(self.space.layout.n_scores), weight, nodes)

    def _summed(self, out: Array, weight: Array, nodes: Array) -> Array:
        self.space.nodes(out)[:] = nodes
        add_soft_pairs(self.sums, self.space.offsets, weight, self.space.transitions(out))
        return out

    def dot(self, theta: Array) -> Array:
        """Return what scores the mean has."""
        space, nodes, means = self.space, self.space.nodes(theta), self.sums.means
        known = nodes if np.isfinite(nodes).all() else np.where(means > 0.0, nodes, 0.0)
        scores = space.slot_sums(np.einsum("tl,tl->t", known, means))
        (table,) = space.transitions(theta)
        return scores + soft_pair_scores(self.sums, space.offsets, table)

    def less(self, other: Array | Waiting, examples: Ints) -> tuple[Ints, Ints, Array]:
        """Return where the mean differs."""
        return self.space.layout.less(self.array(), other, examples)
