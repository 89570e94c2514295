"""Where the parts of a batch are in a vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from maximand.caching import cached_property
from maximand.numerics import layout as kernels
from maximand.support import Array, Bools, Ints, Waiting


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of parts: example i has the parts offsets[i]:offsets[i+1] of it.

    `shape` is that of parts that belong together, such as (label, next label). Scores of a `shared` kind may be given
    once for the whole batch: then every example has as many parts of it.
    """

    name: str
    offsets: Ints
    shape: tuple[int, ...] = ()
    shared: bool = False

    @property
    def n_parts(self) -> int:
        """The number of parts of all examples."""
        return int(self.offsets[-1])

    @property
    def n_scores(self) -> int:
        """The number of scores, where those of shared kinds are given once."""
        return int(self.offsets[1]) if self.shared and self.offsets.size > 1 else self.n_parts


@dataclass(frozen=True, eq=False)
class Layout:
    """Named kinds of parts, one after the other: all node parts of a batch, then all transition parts.

    A vector of means has a place for each part of each example. So has one of scores, or it has those of shared kinds
    only once, which its length tells; `expand` copies them. A sum over the examples has them once, too; `total` adds
    them up.
    """

    kinds: tuple[Kind, ...]

    @classmethod
    def equal(cls, n_examples: int, width: int, shape: tuple[int, ...] = ()) -> Layout:
        """Return the layout of examples with equally many parts, all of one kind."""
        return cls((Kind("parts", np.arange(n_examples + 1) * width, shape or (width,)),))

    @classmethod
    def product(cls, factors: Sequence[Layout]) -> Layout:
        """Return the layout of several outputs for each example: the vectors of the factors, one after the other."""
        return cls(
            tuple(replace(kind, name=f"{f}.{kind.name}") for f, factor in enumerate(factors) for kind in factor.kinds)
        )

    @cached_property
    def n_examples(self) -> int:
        """The number of examples."""
        return self.kinds[0].offsets.size - 1

    @cached_property
    def n_parts(self) -> int:
        """The length of a vector of means."""
        return sum(kind.n_parts for kind in self.kinds)

    @cached_property
    def n_scores(self) -> int:
        """The length of a vector of scores that has those of shared kinds only once."""
        return sum(kind.n_scores for kind in self.kinds)

    @cached_property
    def sizes(self) -> Ints:
        """The number of parts, (kind, example)."""
        return np.array([kind.offsets[1:] - kind.offsets[:-1] for kind in self.kinds])

    @cached_property
    def begins(self) -> Ints:
        """Where the parts of each kind and example begin in a vector of means."""
        starts = np.cumsum([0] + [kind.n_parts for kind in self.kinds])
        return np.stack([start + kind.offsets[:-1] for start, kind in zip(starts[:-1], self.kinds, strict=True)])

    @cached_property
    def _score_begins(self) -> Ints:
        """Where they begin in a vector that has the scores of shared kinds only once."""
        starts = np.cumsum([0] + [kind.n_scores for kind in self.kinds])[:-1]
        return np.stack(
            [
                start + (0 * kind.offsets[:-1] if kind.shared else kind.offsets[:-1])
                for start, kind in zip(starts, self.kinds, strict=True)
            ]
        )

    def _begins_of(self, theta: Array) -> Ints:
        return self.begins if theta.size == self.n_parts else self._score_begins

    @property
    def work(self) -> Ints:
        """Parts per example."""
        return self.sizes[0] if len(self.kinds) == 1 else np.asarray(self.sizes.sum(axis=0))

    @cached_property
    def n_shared(self) -> int:
        """The number of scores that all examples share."""
        return sum(kind.n_scores for kind in self.kinds if kind.shared)

    @property
    def load(self) -> Ints:
        """Parts per example, where those that are shared count no more than the others: a measure of its cost."""
        shared = sum(kind.offsets[1:] - kind.offsets[:-1] for kind in self.kinds if kind.shared)
        return self.work if self.n_shared == 0 else self.work - np.maximum(2 * shared - self.work, 0)

    @cached_property
    def places(self) -> Ints:
        """The place of each part in a vector of means, example by example."""
        return kernels.places(self.begins, self.sizes)

    def view(self, theta: Array | Waiting, name: str) -> Array:
        """View the parts of a kind, by their shape: an array (item of the batch, *shape).

        Shared ones that are there only once are an array of the items of a single example.
        """
        if isinstance(theta, Waiting):
            return theta.view(name)
        full, start = theta.size == self.n_parts, 0
        for kind in self.kinds:
            length = kind.n_parts if full else kind.n_scores
            if kind.name == name:
                return theta[start : start + length].reshape(-1, *kind.shape)
            start += length
        raise KeyError(f"There are no parts called {name!r}; there are {', '.join(kind.name for kind in self.kinds)}.")

    def expand(self, theta: Array) -> Array:
        """Return scores with a copy of the shared ones for each example."""
        if theta.size == self.n_parts:
            return theta
        out, everyone = np.empty(self.n_parts), np.arange(self.n_examples)
        kernels.copy(theta, everyone, self._score_begins, self.sizes, out, everyone, self.begins)
        return out

    def split(self, theta: Array, lengths: Sequence[int]) -> list[Array]:
        """Cut a vector of a product into those of its factors, which have so many kinds each."""
        full = theta.size == self.n_parts
        ends = np.cumsum([kind.n_parts if full else kind.n_scores for kind in self.kinds])
        return np.split(theta, ends[np.cumsum(lengths)[:-1] - 1])

    def total(self, mean: Array | Waiting, weight: Array | None = None) -> Array:
        """Return weight_i * mean_i, added up over the examples where kinds are shared: of length `n_scores`.

        This is the transpose of `expand`. Without weights these are ones.
        """
        if isinstance(mean, Waiting):
            return mean.total(np.ones(self.n_examples) if weight is None else weight)
        mean = mean if weight is None else self.scale(mean, weight)
        if not any(kind.shared for kind in self.kinds):
            return mean
        views = [self.view(mean, kind.name) for kind in self.kinds]
        sums = [
            view.reshape(-1, kind.n_scores).sum(axis=0) if kind.shared else view.ravel()
            for kind, view in zip(self.kinds, views, strict=True)
        ]
        return np.concatenate(sums)

    def dot(self, theta: Array, mean: Array | Waiting) -> Array:
        """Return theta_i @ mean_i for every example i."""
        if isinstance(mean, Waiting):
            return mean.dot(theta)
        products = np.empty(self.n_examples)
        kernels.dots(theta, self._begins_of(theta), mean, self.begins, self.sizes, products)
        return products

    def scale(self, mean: Array, factors: Array) -> Array:
        """Return mean with the parts of example i multiplied by factors[i]."""
        scaled = np.empty(self.n_parts)
        kernels.scale(mean, factors, self.begins, self.sizes, scaled)
        return scaled

    def nonzeros(self, vector: Array, examples: Ints) -> tuple[Ints, Ints, Array]:
        """Return the nonzero entries of some examples as CSR rows (pointers, parts, values) over their own parts."""
        return kernels.nonzeros(vector, self.begins, self.sizes, examples)

    def less(self, mean: Array | Waiting, other: Array | Waiting, examples: Ints) -> tuple[Ints, Ints, Array]:
        """Return the nonzero entries of mean less other, for some examples."""
        if isinstance(mean, Waiting):
            return mean.less(other, examples)
        other = other.array() if isinstance(other, Waiting) else other
        return self.nonzeros(mean - other, examples)

    def choose(self, one: Array, other: Array, takes_other: Bools) -> Array:
        """Return the parts of `other` for the examples that take it, else those of `one`."""
        chosen = np.empty(self.n_parts)
        kernels.choose(one, other, takes_other, self.begins, self.sizes, chosen)
        return chosen

    def take(self, examples: Ints | slice) -> Layout:
        """Return the layout of some of the examples."""
        return Layout(
            tuple(
                replace(kind, offsets=np.concatenate([[0], np.cumsum(np.diff(kind.offsets)[examples])]))
                for kind in self.kinds
            )
        )

    def pick(self, vector: Array, examples: Ints, taken: Layout) -> Array:
        """Return the parts of some examples, laid out as `taken`, their own layout."""
        out = np.empty(taken.n_parts)
        kernels.copy(vector, examples, self._begins_of(vector), self.sizes, out, np.arange(examples.size), taken.begins)
        return out

    def put(self, vector: Array, examples: Ints, values: Array, taken: Layout) -> None:
        """Write the parts of some examples, laid out as `taken`, their own layout, into a vector of means."""
        kernels.copy(values, np.arange(examples.size), taken.begins, taken.sizes, vector, examples, self.begins)


def take_runs(offsets: Ints, examples: Ints | slice) -> tuple[Ints | slice, Ints]:
    """Return what some examples own (a slice when the examples are one) and their new offsets."""
    if isinstance(examples, slice):
        part = offsets[examples.start : examples.stop + 1]
        return slice(int(part[0]), int(part[-1])), part - part[0]
    lengths = offsets[examples + 1] - offsets[examples]
    new = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(new[-1]) + np.repeat(offsets[examples] - new[:-1], lengths)
    return places, new
