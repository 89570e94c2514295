"""A label for every position of a sequence, scored by position and by neighbouring pair."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from maximand.caching import cached_property
from maximand.capabilities import NOTHING, Can
from maximand.layout import Kind, Layout, take_runs
from maximand.numerics.chain import best_paths
from maximand.numerics.chain_sums import soft_paths
from maximand.numerics.max_marginals import max_marginals
from maximand.numerics.ranked_paths import ranked_paths
from maximand.spaces.hidden_chain import mixed_paths
from maximand.spaces.label_states import LabelStates
from maximand.spaces.labelled import LabelledSpace, joined_hidden
from maximand.spaces.labels import Labels
from maximand.spaces.margins import Doubts, by_columns
from maximand.spaces.paths import Paths, SoftPaths
from maximand.support import Array, Bools, Ints, Support


class Violation(NamedTuple):
    """A label where it may not be: at the first position, at the last, or after the label `before`."""

    position: int
    label: int
    before: int | None = None
    at_end: bool = False


@dataclass(frozen=True)
class Legality:
    """Which labels may start, follow one another and end: 0 where legal, -inf where not."""

    first: Array
    between: Array
    last: Array

    @classmethod
    def everything(cls, n_labels: int) -> Legality:
        """Return the legality that forbids nothing."""
        return cls(np.zeros(n_labels), np.zeros((n_labels, n_labels)), np.zeros(n_labels))

    @classmethod
    def of(cls, first: Bools, between: Bools, last: Bools) -> Legality:
        """Return the legality of three boolean masks."""
        return cls(*(np.where(mask, 0.0, -np.inf) for mask in (first, between, last)))

    @cached_property
    def free(self) -> bool:
        """Whether nothing is forbidden."""
        return not any(array.any() for array in (self.first, self.between, self.last))

    def check(self, n_labels: int) -> None:
        """Refuse shapes that do not fit the number of labels."""
        shapes = (self.first.shape, self.between.shape, self.last.shape)
        if shapes != ((n_labels,), (n_labels, n_labels), (n_labels,)):
            raise ValueError(f"A legality of {n_labels} labels has other shapes than {shapes}.")
        arrays = (self.first, self.between, self.last)
        if any(array.dtype != np.float64 or ((array != 0) & (array != -np.inf)).any() for array in arrays):
            raise ValueError("A legality holds floats, 0 or -inf.")

    def violation(self, codes: Ints) -> Violation | None:
        """Return what is illegal first in a sequence of known labels (-1 for unknown ones); None when nothing is."""
        labels = codes.tolist()
        if labels[0] >= 0 and np.isinf(self.first[labels[0]]):
            return Violation(0, labels[0])
        for t in range(1, len(labels)):
            if min(labels[t - 1], labels[t]) >= 0 and np.isinf(self.between[labels[t - 1], labels[t]]):
                return Violation(t, labels[t], labels[t - 1])
        if labels[-1] >= 0 and np.isinf(self.last[labels[-1]]):
            return Violation(len(labels) - 1, labels[-1], at_end=True)
        return None


class Chain(LabelledSpace):
    """Tag sequences. The parts are nodes (position, label), then one block (label, next label) per example.

    A transition part belongs to all positions of its example and counts how often the pair occurs, so memory is
    linear in the positions; scores of transitions may be given once for the batch. Those that belong to the first or
    last position are added to its nodes. `hidden` says of every position of the batch whether it is never annotated;
    `states` says what labels stand for where they are states of labels, or of hidden positions.
    """

    indicators = True

    def __init__(
        self,
        lengths: Ints,
        n_labels: int,
        legality: Legality | None = None,
        states: LabelStates | None = None,
        hidden: Bools | None = None,
    ):
        self.lengths = np.asarray(lengths, dtype=np.int64)
        self.n_labels = n_labels
        self.legality = legality or Legality.everything(n_labels)
        self.states, self.hidden = states, hidden
        self.offsets = np.concatenate([[0], np.cumsum(self.lengths)])
        self.n_examples = self.lengths.size

    @cached_property
    def layout(self) -> Layout:
        """Nodes, then transitions."""
        k = self.n_labels
        blocks = np.arange(self.n_examples + 1) * k**2
        return Layout((Kind("nodes", self.offsets * k, (k,)), Kind("transitions", blocks, (k, k), shared=True)))

    @property
    def can(self) -> Can:
        """Sums, also inside of maxima, and the best few; positions may always be hidden where the space has such."""
        never = self.hidden is None and (self.states is None or not self.states.several)
        return self._usual | Can.MARGINALS | Can.MIXED | Can.K_BEST | (NOTHING if never else Can.HIDDEN)

    @property
    def quick(self) -> bool:
        """Return True."""
        return True

    @property
    def slots(self) -> Ints:
        """The example that each position belongs to."""
        return np.repeat(np.arange(self.n_examples), self.lengths)

    def nodes(self, theta: Array) -> Array:
        """View the node parts as the matrix (position, label)."""
        return theta[: int(self.offsets[-1]) * self.n_labels].reshape(-1, self.n_labels)

    def transitions(self, theta: Array) -> Array:
        """View the transition parts as an array (example, label, next label), of one example where these share them."""
        return theta[int(self.offsets[-1]) * self.n_labels :].reshape(-1, self.n_labels, self.n_labels)

    def take(self, examples: Ints | slice) -> Chain:
        """Return the batch of some of the examples."""
        hidden = None if self.hidden is None else self.hidden[take_runs(self.offsets, examples)[0]]
        return Chain(self.lengths[examples], self.n_labels, self.legality, self.states, hidden)

    @cached_property
    def _forbidden(self) -> Bools | None:
        """Which states positions may not have, (position, state): those of labels where these always are hidden."""
        if self.states is None or not self.states.n_hidden:
            return None
        return ~self.states.allowed(joined_hidden(self, None))

    def allowed(self, annotation: Labels) -> Bools:
        """Return which states positions may have that agree with an annotation, (position, state)."""
        return annotation.allowed_nodes if self._forbidden is None else annotation.allowed_nodes & ~self._forbidden

    def _legal(self, theta: Array) -> Array:
        """Return scores that forbid those states."""
        if self._forbidden is None:
            return theta
        theta = theta.copy()
        self.nodes(theta)[self._forbidden] = -np.inf
        return theta

    def encode(self, annotation: Labels) -> Array:
        """Count the parts of known labels; a pair counts when both of its labels are known."""
        return self.counts(annotation).array()

    def counts(self, annotation: Labels) -> Paths:
        """Keep the labels, which take no psi to add up."""
        return Paths(self, annotation.codes)

    def decode(self, psi: Array) -> list[Ints]:
        """Return the label codes of every sequence."""
        return self.split(self.nodes(psi).argmax(axis=1))

    def split(self, rows: np.ndarray) -> list[np.ndarray]:
        """Cut an array with a row for each position into one array for each sequence."""
        bounds = self.offsets.tolist()
        return [rows[start:stop] for start, stop in pairwise(bounds)]

    @property
    def nonempty(self) -> Bools:
        """Whether there is a legal sequence of each length."""
        if self.legality.free:
            return super().nonempty
        if self.hidden is not None:
            return self.argmax(np.zeros(self.layout.n_scores)).value > -np.inf
        lengths, which = np.unique(self.lengths, return_inverse=True)
        one_each = Chain(lengths, self.n_labels, self.legality, self.states)
        return (one_each.argmax(np.zeros(one_each.layout.n_scores)).value > -np.inf)[which]

    def argmax(self, theta: Array, state: Any = None) -> Support:
        """Viterbi."""
        values, codes = np.empty(self.n_examples), np.empty(int(self.offsets[-1]), dtype=np.int64)
        theta = self._legal(theta)
        legal, transitions = self.legality, self.transitions(theta)
        best_paths(
            self.nodes(theta), transitions, self.offsets, self._order(transitions), legal.first, legal.between,
            legal.last, values, codes,
        )  # fmt: skip
        return Support(values, Paths(self, codes))

    def marginals(self, theta: Array, temperature: float = 1.0, state: Any = None) -> Support:
        """Forward-backward."""
        theta = self._legal(theta)
        legal, transitions = self.legality, self.transitions(theta)
        sums = soft_paths(
            self.nodes(theta), transitions, self.offsets, self._order(transitions), legal.first, legal.between,
            legal.last, float(temperature),
        )  # fmt: skip
        waiting = SoftPaths(self, sums)  # gains nothing where every example has its own table
        return Support(sums.values, waiting if len(transitions) == 1 else waiting.array())

    def mixed(
        self, theta: Array, temperatures: tuple[float, float], hidden: Bools | None = None, state: Any = None
    ) -> Support:
        """Sum out what is hidden first."""
        return mixed_paths(self, self._legal(theta), temperatures, joined_hidden(self, hidden))

    def _order(self, transitions: Array) -> Ints:
        """The order in which examples go side by side: the longest first where they can."""
        return self._by_length if len(transitions) == 1 else np.arange(self.n_examples)

    @cached_property
    def _by_length(self) -> Ints:
        return np.argsort(-self.lengths, kind="stable")

    def k_best(self, theta: Array, k: int) -> list[tuple[Array, Ints]]:
        """Return for every example the values and the label codes (rank, position) of its k best sequences."""
        theta, legal = self._legal(theta), self.legality
        nodes, transitions = self.nodes(theta), self.transitions(theta)
        return [
            ranked_paths(nodes[a:b], transitions[i % len(transitions)], legal.first, legal.between, legal.last, k)
            for i, (a, b) in enumerate(pairwise(self.offsets))
        ]

    def margins(self, theta: Array, annotation: Labels) -> Doubts:
        """Forward-backward with maxima."""
        theta, slots = self._legal(self.restricted(theta, annotation)), self.unknown_slots(annotation)
        nodes, tables, legal = self.nodes(theta), self.transitions(theta), self.legality
        codes = self.nodes(self.argmax(theta).mean).argmax(axis=1)
        best = max_marginals(nodes, tables, self.offsets, legal.first, legal.between, legal.last)
        return by_columns(slots, codes[slots], best[slots], self.label_of_codes)

    def argmax_other(self, theta: Array, annotation: Labels, state: Any = None) -> Support:
        """Viterbi over the sequences that contradict the annotation."""
        tripled, expanded = self._contradicting(theta, annotation)
        return self._fold(tripled, tripled.argmax(expanded))

    def marginals_other(self, theta: Array, annotation: Labels, temperature: float = 1.0) -> Support:
        """Forward-backward over the sequences that contradict the annotation."""
        tripled, expanded = self._contradicting(theta, annotation)
        return self._fold(tripled, tripled.marginals(expanded, temperature))

    def _contradicting(self, theta: Array, annotation: Labels) -> tuple[Chain, Array]:
        """Return a chain on (stage, label) whose paths are the sequences of Y°, each exactly once, and its theta.

        Stage 0: no contradiction so far; stage 1: the first one is here; stage 2: it lies behind. Stage 0 keeps the
        allowed labels, stage 1 the excluded ones, and a path moves 0 -> 0, 0 -> 1, 1 -> 2 or 2 -> 2.
        """
        k, legal = self.n_labels, self.legality
        never = np.full(k, -np.inf)
        between = np.full((3 * k, 3 * k), -np.inf)
        for stage, following in ((0, 0), (0, 1), (1, 2), (2, 2)):
            between[stage * k : stage * k + k, following * k : following * k + k] = legal.between
        legality = Legality(
            np.concatenate([legal.first, legal.first, never]),
            between,
            np.concatenate([never, legal.last, legal.last]),
        )
        tripled = Chain(self.lengths, 3 * k, legality)
        theta, allowed = self._legal(theta), annotation.allowed_nodes
        nodes, transitions = self.nodes(theta), self.transitions(theta)
        expanded = np.empty(3 * nodes.size + 9 * transitions.size)
        tripled.nodes(expanded)[:] = np.hstack(
            [np.where(allowed, nodes, -np.inf), np.where(allowed, -np.inf, nodes), nodes]
        )
        tripled.transitions(expanded)[:] = np.tile(transitions, (1, 3, 3))
        return tripled, expanded

    def _fold(self, tripled: Chain, support: Support) -> Support:
        """Add up the three stages of a mean."""
        k, mean = self.n_labels, np.empty(self.n_parts)
        self.nodes(mean)[:] = tripled.nodes(support.mean).reshape(-1, 3, k).sum(axis=1)
        blocks = tripled.transitions(support.mean).reshape(self.n_examples, 3, k, 3, k)
        self.transitions(mean)[:] = blocks.sum(axis=(1, 3))
        return Support(support.value, mean, support.guarantee)

    def outputs(self) -> Array:
        """Return psi of every legal sequence of a batch of one."""
        sequences = [
            np.array(codes)
            for codes in product(range(self.n_labels), repeat=int(self.lengths[0]))
            if self.legality.violation(np.array(codes)) is None
            and (self._forbidden is None or not self._forbidden[np.arange(len(codes)), codes].any())
        ]
        return np.array([self.encode(Labels(codes, self.offsets, self.n_labels)) for codes in sequences])

    def __repr__(self) -> str:
        return f"Chain({self.n_examples} sequences, {int(self.offsets[-1])} positions, {self.n_labels} labels)"
