"""A ranking of labels for each row of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.costs import Cost, Hamming, Squared
from maximand.features import Examples, PerLabel
from maximand.spaces import Matching, Orders, Ranking
from maximand.support import Array, Bools, Ints
from maximand.tasks.base import Task
from maximand.tasks.label_names import Candidates, LabelNames, coded, given_classes, ordered, unknown
from maximand.tasks.table import BoundTable

ENCODINGS = ("matrix", "vector")
UNLISTED = ("anywhere", "below")


@dataclass(frozen=True)
class RankingTask(Task):
    """Order all labels for each row. An annotation lists labels, the best first: a sequence, or text such as "b>a=d>c".

    A set within the sequence (= in text) holds labels that tie: their order is not known. Labels that are not listed
    may be anywhere, or below the listed ones; None, or an empty list, says nothing, and None, NaN or -1 within a
    sequence is skipped. encoding: "matrix" scores every (label, position), "vector" every label.
    """

    encoding: str = "matrix"
    unlisted: str = "anywhere"
    bias: bool = True
    cost: Cost | None = None
    classes: Any = None

    def bind(self, X: Any, Y: Any) -> tuple[BoundRanking, Examples, Orders]:
        """Find the labels."""
        if self.encoding not in ENCODINGS:
            raise ValueError(f"encoding is {self.encoding!r}; choose one of {', '.join(map(repr, ENCODINGS))}.")
        if self.unlisted not in UNLISTED:
            raise ValueError(f"unlisted is {self.unlisted!r}; choose one of {', '.join(map(repr, UNLISTED))}.")
        rankings = read(Y, self.classes)
        found = (label for ranking in rankings for tied in ranking for label in tied)
        classes = ordered(found) if self.classes is None else given_classes(self.classes)
        if classes.size < 2:
            raise ValueError(
                f"The rankings hold {classes.size} label; ordering needs at least 2. Name all with classes=."
            )
        k = classes.size
        width = k * k if self.encoding == "matrix" else k
        cost = self.cost or (Hamming(normalized=True) if self.encoding == "matrix" else Squared(normalized=True))
        names, features = LabelNames(classes), PerLabel(X.shape[1], width, self.bias)
        bound = BoundRanking(names, cost, features, self.encoding, self.unlisted)
        return bound, bound.encode(X), bound.orders(rankings, X.shape[0])


Order = list[tuple[Any, ...]]  # labels that tie, the best first


def read(Y: Any, classes: Any = None) -> list[Order]:
    """Return every ranking as a list of tuples of labels that tie."""
    if isinstance(Y, str) or not hasattr(Y, "__iter__"):
        raise ValueError(f"y is {Y!r}; give a ranking for each row, such as ['b', 'a', 'c'], the best first.")
    rows = [_order(ranking, i, classes) for i, ranking in enumerate(Y.tolist() if isinstance(Y, np.ndarray) else Y)]
    for i, row in enumerate(rows):
        listed = [label for tied in row for label in tied]
        if len(set(listed)) < len(listed):
            twice = next(label for label in listed if listed.count(label) > 1)
            raise ValueError(f"y[{i}] lists the label {twice!r} twice; a label has one place in a ranking.")
    return rows


def _order(ranking: Any, i: int, classes: Any) -> Order:
    if unknown(ranking):
        return []
    if isinstance(ranking, str):
        return _from_text(ranking, i)
    if isinstance(ranking, (dict, bytes, *Candidates)) or not hasattr(ranking, "__iter__"):
        raise ValueError(f"y[{i}] is {ranking!r}; list the labels in order, such as ['b', 'a', 'c'], the best first.")
    try:
        return [
            tied
            for label in coded(ranking, classes)
            if (tied := _known(label if isinstance(label, Candidates) else [label], classes))
        ]
    except TypeError:
        raise ValueError(f"y[{i}] is {ranking!r}; labels are strings, numbers or tuples.") from None


def _from_text(ranking: str, i: int) -> Order:
    order = [tuple(label.strip() for label in tied.split("=")) for tied in ranking.split(">")]
    if not all(label for tied in order for label in tied):
        raise ValueError(
            f"y[{i}] is {ranking!r}, in which a label is empty; write 'b>a=d>c', or None where nothing is known."
        )
    return order


def _known(tied: Iterable[Any], classes: Any) -> tuple[Any, ...]:
    """Return the labels that tie, without those that are not known; what cannot be a label is a TypeError."""
    known = tuple(label for label in coded(tied, classes) if label is not None)
    hash(known)
    return known


class BoundRanking(BoundTable):
    """A ranking task with known labels."""

    packed = ("names", "cost", "features", "encoding", "unlisted")

    def __init__(self, names: LabelNames, cost: Cost, features: PerLabel, encoding: str, unlisted: str):
        self.names, self.cost, self.features = names, cost, features
        self.encoding, self.unlisted = encoding, unlisted

    @property
    def n_columns(self) -> int:
        """Scores per row."""
        return self.names.count**2 if self.encoding == "matrix" else self.names.count

    def space(self, n_examples: int) -> Matching | Ranking:
        """Return a permutation for each row."""
        return (Matching if self.encoding == "matrix" else Ranking)(n_examples, self.names.count)

    def annotation(self, examples: Examples, Y: Any) -> Orders:
        """Return which labels come before which."""
        return self.orders(read(Y, self.names.classes), examples.n_examples)

    def orders(self, rankings: list[Order], n: int) -> Orders:
        """Return the same for rankings that were read."""
        if len(rankings) != n:
            raise ValueError(
                f"X has {n} rows but y has {len(rankings)} rankings; each row needs one (None if unknown)."
            )
        return Orders.of(self._groups(rankings))

    def _groups(self, rankings: list[Order]) -> Ints:
        """Return the place of each label among those that tie, (row, label); -1 where it may be anywhere."""
        groups = np.full((len(rankings), self.names.count), -1)
        for i, ranking in enumerate(rankings):
            for place, tied in enumerate(ranking):
                for label in tied:
                    groups[i, self.names.code(label, i)] = place
            if self.unlisted == "below" and ranking:
                groups[i, groups[i] < 0] = len(ranking)
        return groups

    def positions(self, examples: Examples, psi: Array) -> Ints:
        """Return the position of every label, (row, label)."""
        return np.array(examples.space.decode(psi), dtype=np.int64).reshape(examples.n_examples, self.names.count)

    def outputs(self, examples: Examples, psi: Array) -> np.ndarray:
        """Return the labels of every row, the best first."""
        return self.names.classes[np.argsort(self.positions(examples, psi), axis=1, kind="stable")]

    def parts(self, examples: Examples, values: Array) -> Array:
        """Return (row, label, position) or (row, label)."""
        n, k = examples.n_examples, self.names.count
        return values.reshape((n, k, k) if self.encoding == "matrix" else (n, k))

    def concordance(self, positions: Ints, Y: Any) -> tuple[Array, Bools]:
        """Return for every row Kendall's tau of positions over the pairs whose order is known, and where there are any.

        A pair is known when both labels are listed and do not tie, or when one is listed and the other below all.
        """
        taus, known = np.zeros(len(positions)), np.zeros(len(positions), dtype=bool)
        for i, (groups, own) in enumerate(zip(self._groups(read(Y, self.names.classes)), positions, strict=True)):
            listed = groups >= 0
            agree = np.sign(np.subtract.outer(groups[listed], groups[listed]))
            agree = agree * np.sign(np.subtract.outer(own[listed], own[listed]))
            known[i] = agree.any()
            taus[i] = agree.sum() / max(np.abs(agree).sum(), 1)
        return taus, known
