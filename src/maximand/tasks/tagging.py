"""A label for every token of a sequence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from sklearn.base import clone

from maximand.caching import cached_property
from maximand.costs import Cost, Hamming
from maximand.features import ChainFeatures, Examples, PerLabel, Rows
from maximand.spaces import Chain, Labels, Legality
from maximand.spaces.chain import Violation
from maximand.support import Array, Bools, Ints, Waiting
from maximand.tasks.base import BoundTask, Task, checked_pairs, place_of
from maximand.tasks.label_names import LabelNames, coded, given_classes, named_labels, ordered, unknown
from maximand.tasks.quick import QuickTags
from maximand.tasks.sequences import flat_mask, lay_out, parted
from maximand.tasks.state_names import StateNames, started_with, with_states


@dataclass(frozen=True)
class TaggingTask(Task):
    """Tag sequences; a tag that is not known is None, NaN or -1.

    legality: a function of the labels such as `bio`. n_states_per_label: how many hidden states labels have, a number
    or a dict; n_hidden_states: how many the positions have that `HiddenPositions` says are hidden.
    pairs: "all" or "seen" weights; "auto" is seen for sparse inputs. boundaries: weights for the start and the end.
    """

    bias: bool = True
    cost: Cost | None = None
    classes: Any = None
    pairs: str = "auto"
    boundaries: bool = True
    legality: Callable[[Any], Legality] | None = None
    vectorizer: Any = None
    n_states_per_label: Any = 1
    n_hidden_states: int = 0

    def bind(self, X: Any, Y: Any) -> tuple[BoundTagging, Examples, Labels]:
        """Find the features and the labels."""
        vectorizer = None if self.vectorizer is None else clone(self.vectorizer)
        X, hidden = parted(X)
        inputs, vectorizer = lay_out(X, vectorizer, fitting=True)
        tags = flat_tags(Y, inputs.offsets, self.classes)
        names = LabelNames(ordered(named_labels(tags)) if self.classes is None else given_classes(self.classes))
        if names.count < 2:
            raise ValueError(f"The tags hold {names.count or 'no'} class; tagging needs at least 2 classes.")
        legality = None if self.legality is None else self.legality(names.classes.tolist())
        names = with_states(names, self.n_states_per_label, self.n_hidden_states)
        bound = BoundTagging(names, self.cost or Hamming(), vectorizer, legality)
        examples = bound.examples(inputs, hidden)
        mask = _chain(examples).hidden
        if self.n_hidden_states and (mask is None or not mask.any()):
            raise ValueError(
                f"n_hidden_states is {self.n_hidden_states}, but no position is hidden; mark those by hidden=, or "
                "leave n_hidden_states at 0."
            )
        if mask is not None and mask.all():
            raise ValueError("All positions are hidden, so there is nothing to learn; hide those alone without tags.")
        annotation = bound.annotate(tags, examples)
        emission, transitions = PerLabel(inputs.matrix.shape[1], names.n_states, self.bias), None
        pairs = checked_pairs(self.pairs, "auto", "all", "seen")
        if pairs == "seen" or (pairs == "auto" and inputs.sparse):
            emission = PerLabel.seen(inputs.csr, _chain(examples).allowed(annotation), self.bias)
            transitions = _seen_transitions(names, annotation, mask)
        bound.features = ChainFeatures(emission, transitions, self.boundaries, self.boundaries)
        return bound, examples, annotation


def _stranded(legality: Legality) -> Bools:
    """Return which labels no legal sequence has."""
    between = np.isfinite(legality.between)
    ahead, back = np.isfinite(legality.first), np.isfinite(legality.last)
    for _ in legality.first:
        ahead, back = ahead | between[ahead].any(axis=0), back | between[:, back].any(axis=1)
    return ~(ahead & back)


def _seen_transitions(names: LabelNames, annotation: Labels, hidden: Bools | None) -> Ints:
    """Return the transitions between known labels that occur, as label * n_labels + next label.

    Those between the states of two labels, or of hidden positions, are seen where these are.
    """
    codes = names.label_codes(annotation)
    if hidden is not None:
        codes = np.where(hidden, names.count, codes)
    before, after = codes[:-1], codes[1:]
    both = (before >= 0) & (after >= 0)
    both[annotation.offsets[1:-1] - 1] = False
    k = names.count + 1
    pairs = np.unique(before[both] * k + after[both])
    if names.states is None:
        return pairs // k * names.count + pairs % k
    seen = np.zeros((k, k), dtype=bool)
    seen.ravel()[pairs] = True
    return np.flatnonzero(seen[np.ix_(names.states.label_of, names.states.label_of)])


def flat_tags(Y: Any, offsets: Ints, classes: Any = None) -> list[Any]:
    """Return the tags of all sequences one after the other, checked against the number of tokens, as `coded` does."""
    Y = list(Y)
    n = offsets.size - 1
    if len(Y) == offsets[-1] and len(Y) != n:
        return coded(Y, classes)
    if len(Y) != n:
        raise ValueError(f"X has {n} sequences but Y has {len(Y)}; each sequence needs its tags.")
    lengths = np.diff(offsets).tolist()
    Y = [[None] * length if unknown(y) else y for y, length in zip(Y, lengths, strict=True)]
    for i, (y, length) in enumerate(zip(Y, lengths, strict=True)):
        if len(y) != length:
            raise ValueError(
                f"Y[{i}] has {len(y)} tags but X[{i}] has {length} tokens; each token needs a tag (None where unknown)."
            )
    return coded(chain.from_iterable(y.tolist() if isinstance(y, np.ndarray) else y for y in Y), classes)


class BoundTagging(BoundTask):
    """A tagging task with known features and labels."""

    features: ChainFeatures
    packed = ("names", "cost", "vectorizer", "legality", "features")

    def __init__(self, names: LabelNames, cost: Cost, vectorizer: Any, legality: Legality | None, features: Any = None):
        self.names, self.cost, self.vectorizer, self.legality = names, cost, vectorizer, legality
        self.features = features

    def small_input(self) -> Any:
        """Return a sequence of two tokens."""
        if self.vectorizer is not None:
            return [[{"": 1.0}, {}]]
        return [np.zeros((2, self.features.emission.n_features))]

    def encode(self, X: Any) -> Examples:
        """Check sequences and lay them side by side."""
        X, hidden = parted(X)
        rows, _ = lay_out(X, self.vectorizer, fitting=False)
        n_features = self.features.emission.n_features
        if rows.matrix.shape[0] and rows.matrix.shape[1] != n_features:
            raise ValueError(f"X has {rows.matrix.shape[1]} features but the model was trained with {n_features}.")
        return self.examples(rows, hidden)

    def examples(self, rows: Rows, hidden: Any = None) -> Examples:
        """Return sequences with their tag sequences; `hidden` says which positions are."""
        mask = flat_mask(hidden, rows.offsets)
        if mask is not None and not (self.names.states and self.names.states.n_hidden):
            raise ValueError("hidden marks positions, but n_hidden_states is 0; say how many states these have.")
        return Examples(self.chain(np.diff(rows.offsets), mask), rows)

    def chain(self, lengths: Ints, hidden: Bools | None = None) -> Chain:
        """Return the tag sequences of sequences so long."""
        return Chain(lengths, self.names.n_states, self._state_legality, self.names.states, hidden)

    @cached_property
    def _state_legality(self) -> Legality | None:
        states = self.names.states
        return self.legality if states is None or self.legality is None else states.legality(self.legality)

    def quick(self, weights: Array) -> QuickTags | None:
        """Return one for sparse features."""
        return QuickTags.of(self, weights) if self.names.states is None else None

    def annotation(self, examples: Examples, Y: Any) -> Labels:
        """Encode tags."""
        return self.annotate(flat_tags(Y, _chain(examples).offsets, self.names.classes), examples)

    def annotate(self, tags: list[Any], examples: Examples) -> Labels:
        """Encode the tags of all sequences and check them against the scheme."""
        offsets, hidden = _chain(examples).offsets, _chain(examples).hidden
        codes, candidates = self.names.encode(tags, lambda row: place_of("Y", row, offsets, "token"))
        if hidden is not None and (known := np.flatnonzero(hidden & (codes != -1))).size:
            place = place_of("Y", int(known[0]), offsets, "token")
            raise ValueError(f"{place} has the label {tags[known[0]]!r} but is hidden; give None there.")
        if self.legality is not None:
            for i, (start, stop) in enumerate(pairwise(offsets)):
                problem = self.legality.violation(codes[start:stop])
                if problem is not None:
                    raise ValueError(f"Y[{i}] breaks the tagging scheme: {self._said(problem)}; mend it or drop it.")
            stranded = np.flatnonzero((codes >= 0) & _stranded(self.legality)[codes])
            if stranded.size:
                place = place_of("Y", int(stranded[0]), offsets, "token")
                raise ValueError(
                    f"{place} has the label {tags[stranded[0]]!r}, and no label that is known anywhere may lead "
                    "to it or on from it; name all labels by classes=."
                )
        return self.names.annotation(codes, offsets, candidates)

    def _said(self, problem: Violation) -> str:
        names = self.names.classes.tolist()
        label = f"label {names[problem.label]!r}"
        if problem.before is not None:
            return f"{label} at position {problem.position} may not follow label {names[problem.before]!r}"
        where = "the last position" if problem.at_end else f"position {problem.position}"
        return f"{where} may not have {label}"

    def outputs(self, examples: Examples, psi: Array) -> list[np.ndarray]:
        """Return tag names for each sequence, None for hidden positions."""
        space = _chain(examples)
        return space.split(self.names.named(np.concatenate(space.decode(psi))))

    def parts(self, examples: Examples, values: Array) -> list[Array]:
        """Return the matrix (token, label) of each sequence."""
        space = _chain(examples)  # without the transitions, which need not be kept
        return space.split(self.names.scores(space.nodes(values).copy(), space.hidden))

    def means(self, examples: Examples, mean: Array | Waiting) -> list[Array]:
        """Return the matrix (token, label) of each sequence."""
        space = _chain(examples)
        return space.split(self.names.chances(space.layout.view(mean, "nodes").copy(), space.hidden))

    @property
    def has_hidden(self) -> bool:
        """Whether labels have several states, or positions may be hidden."""
        return self.names.states is not None

    def latent(self, examples: Examples, psi: Array) -> list[Ints]:
        """Return the number of the state of each token among those of its label, or of hidden positions."""
        space = _chain(examples)
        assert space.states is not None
        return space.split(space.states.numbers[np.concatenate(space.decode(psi))])

    def latent_chances(self, examples: Examples, mean: Array) -> list[Array]:
        """Return the matrix (token, state) of each sequence."""
        space = _chain(examples)
        return space.split(space.nodes(mean).copy())

    def completed(self, examples: Examples, Y: Any, states: Any) -> Labels:
        """Encode tags together with numbers of states."""
        space = _chain(examples)
        assert isinstance(self.names, StateNames)
        states = started_with(states, space.n_examples, "sequences")
        for i, (own, length) in enumerate(zip(states, space.lengths.tolist(), strict=True)):
            if np.shape(own) != (length,):
                raise ValueError(f"latent_start[{i}] has shape {np.shape(own)} but X[{i}] has {length} tokens.")
        return self.names.started(self.annotation(examples, Y), space.hidden, states, "token")


def _chain(examples: Examples) -> Chain:
    assert isinstance(examples.space, Chain)
    return examples.space
