"""A ranking of labels for each row of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.costs import Cost, Hamming, Squared
from maximand.features import Examples, PerLabel
from maximand.orders import Order
from maximand.spaces import Matching, Orders, Ranking
from maximand.support import Array, Bools, Ints
from maximand.tasks.base import Task
from maximand.tasks.label_names import LabelNames, given_classes, ordered
from maximand.tasks.ranking_targets import Ranked, read_orders
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
        rankings = read_orders(Y, self.classes)
        if self.classes is not None:
            classes = given_classes(self.classes)
        elif isinstance(Y, Ranked):
            classes = Y.labels
        else:
            classes = ordered(label for ranking in rankings for tied in ranking for label in tied)
        if classes.size < 2:
            raise ValueError(
                f"The rankings hold {classes.size or 'no'} label; ordering needs at least 2. Name all with classes=."
            )
        k = classes.size
        width = k * k if self.encoding == "matrix" else k
        cost = self.cost or (Hamming() if self.encoding == "matrix" else Squared())
        names, features = LabelNames(classes), PerLabel(X.shape[1], width, self.bias)
        bound = BoundRanking(names, cost, features, self.encoding, self.unlisted)
        return bound, bound.encode(X), bound.orders(rankings, X.shape[0])


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
        return self.orders(read_orders(Y, self.names.classes), examples.n_examples)

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

    def slot_labels(self, codes: Ints) -> np.ndarray:
        """Return positions, 0 for the first."""
        return codes

    def parts(self, examples: Examples, values: Array) -> Array:
        """Return (row, label, position) or (row, label)."""
        n, k = examples.n_examples, self.names.count
        return values.reshape((n, k, k) if self.encoding == "matrix" else (n, k))

    def concordance(self, positions: Ints, Y: Any) -> tuple[Array, Bools]:
        """Return for every row Kendall's tau of positions over the pairs whose order is known, and where there are any.

        A pair is known when both labels are listed and do not tie, or when one is listed and the other below all.
        """
        rankings = read_orders(Y, self.names.classes)
        if len(rankings) != len(positions):
            raise ValueError(f"X has {len(positions)} rows but y has {len(rankings)} rankings; each row needs one.")
        taus, known = np.zeros(len(positions)), np.zeros(len(positions), dtype=bool)
        for i, (groups, own) in enumerate(zip(self._groups(rankings), positions, strict=True)):
            listed = groups >= 0
            agree = np.sign(np.subtract.outer(groups[listed], groups[listed]))
            agree = agree * np.sign(np.subtract.outer(own[listed], own[listed]))
            known[i] = agree.any()
            taus[i] = agree.sum() / max(np.abs(agree).sum(), 1)
        return taus, known
