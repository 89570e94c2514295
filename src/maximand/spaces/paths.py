"""Means of chains that wait until they are read: those of pairs are many where labels are, and sums of them are few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from maximand.numerics.chain import count_parts, path_differences, path_scores
from maximand.numerics.chain_pairs import add_soft_pairs, soft_pair_scores
from maximand.support import Array, Bools, Ints, Waiting

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

    The fields are those of `numerics.chain_sums.soft_paths`; all examples have the same table of transitions.
    """

    space: Chain
    means: Array
    alpha: Array
    ahead: Array
    scaled: Bools
    factor: Array
    units: Array

    def array(self) -> Array:
        """Return the mean."""
        return self._summed(np.zeros(self.space.n_parts), np.ones(self.space.n_examples), self.means)

    def total(self, weight: Array) -> Array:
        """Return its weighted sum."""
        even = bool((weight == 1.0).all())
        nodes = self.means if even else self.means * weight[self.space.slots][:, None]
        return self._summed(np.zeros(self.space.layout.n_scores), weight, nodes)

    def _summed(self, out: Array, weight: Array, nodes: Array) -> Array:
        space = self.space
        space.nodes(out)[:] = nodes
        add_soft_pairs(
            self.factor, self.units, space.offsets, np.arange(space.n_examples), weight, self.means, self.alpha,
            self.ahead, self.scaled, space.transitions(out),
        )  # fmt: skip
        return out

    def dot(self, theta: Array) -> Array:
        """Return what scores the mean has."""
        space, nodes = self.space, self.space.nodes(theta)
        known = nodes if np.isfinite(nodes).all() else np.where(self.means > 0.0, nodes, 0.0)
        scores = space.slot_sums(np.einsum("tl,tl->t", known, self.means))
        soft_pair_scores(
            self.factor, self.units, space.offsets, self.means, self.alpha, self.ahead, self.scaled,
            space.transitions(theta), scores,
        )  # fmt: skip
        return scores

    def less(self, other: Array | Waiting, examples: Ints) -> tuple[Ints, Ints, Array]:
        """Return where the mean differs."""
        return self.space.layout.less(self.array(), other, examples)
