"""A label for every token of a sequence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from sklearn.base import clone

from maximand.costs import Cost, Hamming
from maximand.features import ChainFeatures, Examples, PerLabel, Rows
from maximand.spaces import Chain, Labels, Legality
from maximand.spaces.chain import Violation
from maximand.support import Array, Ints
from maximand.tasks.base import BoundTask, Task, checked_pairs, place_of
from maximand.tasks.label_names import LabelNames, coded, given_classes, named_labels, ordered, unknown
from maximand.tasks.quick import QuickTags
from maximand.tasks.sequences import lay_out


@dataclass(frozen=True)
class TaggingTask(Task):
    """Tag sequences; a tag that is not known is None, NaN or -1.

    legality: a function of the labels such as `bio`.
    pairs: "all" or "seen" weights; "auto" is seen for sparse inputs. boundaries: weights for the start and the end.
    """

    bias: bool = True
    cost: Cost | None = None
    classes: Any = None
    pairs: str = "auto"
    boundaries: bool = True
    legality: Callable[[Any], Legality] | None = None
    vectorizer: Any = None

    def bind(self, X: Any, Y: Any) -> tuple[BoundTagging, Examples, Labels]:
        """Find the features and the labels."""
        vectorizer = None if self.vectorizer is None else clone(self.vectorizer)
        inputs, vectorizer = lay_out(X, vectorizer, fitting=True)
        tags = flat_tags(Y, inputs.offsets, self.classes)
        names = LabelNames(ordered(named_labels(tags)) if self.classes is None else given_classes(self.classes))
        if names.count < 2:
            raise ValueError(f"The tags hold {names.count} class; tagging needs at least 2 classes.")
        legality = None if self.legality is None else self.legality(names.classes.tolist())
        bound = BoundTagging(names, self.cost or Hamming(), vectorizer, legality)
        annotation = bound.annotate(tags, inputs.offsets)
        emission, transitions = PerLabel(inputs.matrix.shape[1], names.count, self.bias), None
        pairs = checked_pairs(self.pairs, "auto", "all", "seen")
        if pairs == "seen" or (pairs == "auto" and inputs.sparse):
            emission = PerLabel.seen(inputs.csr, annotation.allowed_nodes, self.bias)
            transitions = _seen_transitions(annotation)
        bound.features = ChainFeatures(emission, transitions, self.boundaries, self.boundaries)
        return bound, bound.examples(inputs), annotation


def _seen_transitions(annotation: Labels) -> Ints:
    """Return the transitions between known labels that occur, as label * n_labels + next label."""
    before, after = annotation.codes[:-1], annotation.codes[1:]
    both = (before >= 0) & (after >= 0)
    both[annotation.offsets[1:-1] - 1] = False
    return np.unique(before[both] * annotation.n_labels + after[both])


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
        rows, _ = lay_out(X, self.vectorizer, fitting=False)
        n_features = self.features.emission.n_features
        if rows.matrix.shape[0] and rows.matrix.shape[1] != n_features:
            raise ValueError(f"X has {rows.matrix.shape[1]} features but the model was trained with {n_features}.")
        return self.examples(rows)

    def examples(self, rows: Rows) -> Examples:
        """Return sequences with their tag sequences."""
        return Examples(Chain(np.diff(rows.offsets), self.names.count, self.legality), rows)

    def quick(self, weights: Array) -> QuickTags:
        """Return one for sparse features."""
        return QuickTags.of(self, weights)

    def annotation(self, examples: Examples, Y: Any) -> Labels:
        """Encode tags."""
        offsets = _chain(examples).offsets
        return self.annotate(flat_tags(Y, offsets, self.names.classes), offsets)

    def annotate(self, tags: list[Any], offsets: Ints) -> Labels:
        """Encode the tags of all sequences and check them against the scheme."""
        codes, candidates = self.names.encode(tags, lambda row: place_of("Y", row, offsets, "token"))
        if self.legality is not None:
            for i, (start, stop) in enumerate(pairwise(offsets)):
                problem = self.legality.violation(codes[start:stop])
                if problem is not None:
                    raise ValueError(f"Y[{i}] breaks the tagging scheme: {self._said(problem)}; mend it or drop it.")
        return Labels(codes, offsets, self.names.count, candidates)

    def _said(self, problem: Violation) -> str:
        names = self.names.classes.tolist()
        label = f"label {names[problem.label]!r}"
        if problem.before is not None:
            return f"{label} at position {problem.position} may not follow label {names[problem.before]!r}"
        where = "the last position" if problem.at_end else f"position {problem.position}"
        return f"{where} may not have {label}"

    def outputs(self, examples: Examples, psi: Array) -> list[np.ndarray]:
        """Return tag names for each sequence."""
        space = _chain(examples)
        return space.split(self.names.classes[np.concatenate(space.decode(psi))])

    def parts(self, examples: Examples, values: Array) -> list[Array]:
        """Return the matrix (token, label) of each sequence."""
        space = _chain(examples)
        return space.split(space.nodes(values).copy())  # without the transitions, which need not be kept


def _chain(examples: Examples) -> Chain:
    assert isinstance(examples.space, Chain)
    return examples.space
