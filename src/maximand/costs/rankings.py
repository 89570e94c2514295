"""Costs of rankings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.costs.base import Cost, LabelCost, check_top
from maximand.spaces import Matching, OutputSpace, Ranking
from maximand.support import Array


class RankingCost(LabelCost):
    """A cost of rankings: slots are items, their labels positions."""

    def _check(self, space: Any) -> None:
        if not isinstance(space, (Matching, Ranking)):
            raise ValueError(
                f"{type(self).__name__} compares rankings, and the outputs are of a {type(space).__name__}."
            )


@dataclass(frozen=True)
class MissedTop(RankingCost):
    """The share of the first `top` items that are not among the first `top` of the prediction."""

    top: int

    def __post_init__(self) -> None:
        check_top(self.top)

    def matrix(self, n_labels: int) -> Array:
        """Return 1 / top where a true position is among the first and the predicted one is not."""
        first = np.arange(n_labels) < self.top
        return np.outer(first, ~first) / min(self.top, n_labels)


@dataclass(frozen=True)
class DiscountedGain(RankingCost):
    """1 - NDCG: an item gains by its true position, discounted by the position that it is given.

    gains and discounts: numbers that do not increase from the first position to the last, shorter ones continued with
    zeros. None: k - 1, ..., 0 and 1 / log2(1 + position). Beyond the first `top` positions, where that is given, all
    discounts are zero, as in NDCG@top; gains stay.
    """

    gains: Any = None
    discounts: Any = None
    top: int | None = None

    def __post_init__(self) -> None:
        if self.top is not None:
            check_top(self.top)

    def matrix(self, n_labels: int) -> Array:
        """Return terms that are not negative and sum over items to 1 - NDCG.

        With discounts d and gains g, both descending, there is a convex h(d) with slopes g; the term of an item is
        h(d(b)) - h(d(a)) - g(a) (d(b) - d(a)) >= 0, and h sums to the same over all items in any order.
        """
        gains = self._descending("gains", self.gains, np.arange(n_labels)[::-1].astype(float), n_labels)
        discounts = self._descending("discounts", self.discounts, 1.0 / np.log2(2.0 + np.arange(n_labels)), n_labels)
        discounts[n_labels if self.top is None else self.top :] = 0.0
        ideal = float(gains @ discounts)
        if ideal <= 0:
            raise ValueError("The best ranking gains nothing; some position must have both a gain and a discount.")
        steps = np.diff(discounts)
        heights = np.concatenate([[0.0], np.cumsum(steps * gains[1:])])
        terms = heights - heights[:, None] - gains[:, None] * (discounts - discounts[:, None])
        return np.maximum(terms, 0.0) / ideal

    @staticmethod
    def _descending(name: str, given: Any, default: Array, n_labels: int) -> Array:
        if given is None:
            return default
        numbers = np.zeros(n_labels)
        given = np.asarray(given, dtype=float).ravel()[:n_labels]
        numbers[: given.size] = given
        if not np.isfinite(numbers).all() or (numbers < 0).any() or (np.diff(numbers) > 0).any():
            raise ValueError(
                f"The {name} are {given}; they must not be negative nor increase from position to position."
            )
        return numbers


@dataclass(frozen=True)
class Kendall(Cost):
    """The number of pairs of items in the wrong order (normalized: their share), to compare rankings with.

    It is no sum over the parts of a Matching or a Ranking, so it cannot be trained for or decoded.
    """

    normalized: bool = False

    def __call__(self, y_true: Any, y: Any) -> float:
        """Compare the positions of the items of one example."""
        first, second = (np.subtract.outer(np.asarray(a), np.asarray(a)) for a in (y_true, y))
        wrong = float((first * second < 0).sum()) / 2.0
        n = len(first)
        return wrong / max(n * (n - 1) / 2.0, 1.0) if self.normalized else wrong

    def linear(self, space: OutputSpace, mean: Array) -> tuple[Array, Array]:
        """Refuse."""
        raise ValueError(
            f"Kendall's distance is not affine in the parts of a {type(space).__name__}; use Squared(), which ranks "
            "alike, Absolute() or Hamming(), and compare the predictions by Kendall()."
        )
