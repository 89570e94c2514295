"""How good a tracking is, beside the true one of the same detections.

Every function takes the true and the predicted `Lineage` of one table. `known` says which detections are annotated;
the others, and links that have one of them, do not count on either side.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import nan

import numpy as np

from maximand.lineage import Lineage
from maximand.support import Bools, Ints


@dataclass(frozen=True)
class Rates:
    """How many were found, of how many that are true, by how many that were predicted."""

    correct: int
    predicted: int
    true: int

    @property
    def precision(self) -> float:
        """The share of what was predicted that is true; nan where nothing was."""
        return self.correct / self.predicted if self.predicted else nan

    @property
    def recall(self) -> float:
        """The share of what is true that was predicted; nan where nothing is."""
        return self.correct / self.true if self.true else nan

    @property
    def f1(self) -> float:
        """The harmonic mean of both; nan where nothing was predicted and nothing is true."""
        return 2 * self.correct / (self.predicted + self.true) if self.predicted + self.true else nan


@dataclass(frozen=True)
class GraphErrors:
    """What it takes to make the true graph of the predicted one, as the Cell Tracking Challenge counts it.

    A false detection costs 1 and a missed one 10; a false link 1, a missed one 1.5, and one that moves in one graph
    but divides or merges in the other 1. Links of false detections vanish with these and cost nothing. (That a
    detection covers two cells would cost 5; here detections are the same on both sides.)
    """

    n_cells: int
    n_links: int
    false_cells: int
    missed_cells: int
    false_links: int
    missed_links: int
    wrong_kind: int

    @property
    def det(self) -> float:
        """1 - cost / cost of having nothing, of detections alone; 0 where that is worse than nothing."""
        return _score(self._cells, 10.0 * self.n_cells)

    @property
    def lnk(self) -> float:
        """1 - cost / cost of having nothing, of links alone; 0 where that is worse than nothing."""
        return _score(self._links, 1.5 * self.n_links)

    @property
    def tra(self) -> float:
        """1 - cost / cost of having nothing, of detections and links; 0 where that is worse than nothing."""
        return _score(self._cells + self._links, 10.0 * self.n_cells + 1.5 * self.n_links)

    @property
    def _cells(self) -> float:
        return self.false_cells + 10.0 * self.missed_cells

    @property
    def _links(self) -> float:
        return self.false_links + 1.5 * self.missed_links + self.wrong_kind


def link_rates(true: Lineage, predicted: Lineage, *, known: Bools | None = None) -> Rates:
    """Compare the links: one is correct if it is among the true ones."""
    true, predicted = _known(true, predicted, known)
    return Rates(int(_among(predicted, true).sum()), len(predicted.links), len(true.links))


def graph_errors(true: Lineage, predicted: Lineage, *, known: Bools | None = None) -> GraphErrors:
    """Compare the graphs as the Cell Tracking Challenge does, for LNK and TRA."""
    true, predicted = _known(true, predicted, known)
    correct, found = _among(predicted, true), _among(true, predicted)
    between_cells = ~true.false[predicted.links].any(axis=1)
    return GraphErrors(
        n_cells=int((~true.false).sum()),
        n_links=len(true.links),
        false_cells=int((true.false & ~predicted.false).sum()),
        missed_cells=int((predicted.false & ~true.false).sum()),
        false_links=int((between_cells & ~correct).sum()),
        missed_links=int((~found).sum()),
        wrong_kind=int((predicted.plain[correct] != true.plain[found]).sum()),
    )


def division_rates(true: Lineage, predicted: Lineage, *, tolerance: int = 0, known: Bools | None = None) -> Rates:
    """Compare the divisions: one is correct if the same cell has two of the same daughters in both lineages.

    With a tolerance it is also correct if it comes up to so many frames too early or too late, and nothing else is
    wrong: neither of the two detections that divide does so in the other lineage; the one that divides later comes
    from the earlier one, in its own lineage; and of both daughters of the earlier one, before they divide themselves,
    a detection comes from it in the other lineage as well. The closest are paired first, each with one at most.
    traccuracy counts in the same way, but finds no division into three correct.
    """
    true, predicted = _known(true, predicted, known)
    sides = _Graph(true), _Graph(predicted)
    common = np.intersect1d(true.divisions, predicted.divisions)
    correct = sum(len(sides[0].after[row] & sides[1].after[row]) > 1 for row in common.tolist())
    wrong, missed = (np.setdiff1d(lineage.divisions, common) for lineage in (predicted, true))
    apart = np.abs(np.subtract.outer(true.frames[wrong], true.frames[missed]))
    pairs = np.argwhere(apart <= tolerance)
    paired: set[int] = set()
    for i, j in pairs[np.argsort(apart[*pairs.T], kind="stable")]:
        pair = int(missed[j]), int(wrong[i])
        if paired.isdisjoint(pair) and _shifted(*pair, *sides):
            paired.update(pair)
            correct += 1
    return Rates(correct, len(predicted.divisions), len(true.divisions))


def _shifted(row: int, other: int, graph: _Graph, its: _Graph) -> bool:
    """Say whether two rows that divide, each in its own graph, are the same division at different times."""
    if graph.frames[row] > graph.frames[other]:
        row, other, graph, its = other, row, its, graph
    daughters = [graph.until_division(daughter) for daughter in graph.after[row]]
    return its.descends(other, row) and sum(any(its.descends(r, row) for r in rows) for rows in daughters) > 1


class _Graph:
    """The links of a lineage by row."""

    def __init__(self, lineage: Lineage) -> None:
        self.frames = lineage.frames
        self.after: defaultdict[int, set[int]] = defaultdict(set)
        self.before: defaultdict[int, set[int]] = defaultdict(set)
        for earlier, later in lineage.links.tolist():
            self.after[earlier].add(later)
            self.before[later].add(earlier)

    def descends(self, row: int, ancestor: int) -> bool:
        """Say whether a row comes from another one."""
        rows = {row}
        while rows and ancestor not in rows:
            rows = {b for r in rows for b in self.before.get(r, ()) if self.frames[b] >= self.frames[ancestor]}
        return bool(rows)

    def until_division(self, row: int) -> list[int]:
        """Return a row and those that it becomes, as long as it is one."""
        rows = [row]
        while len(after := self.after.get(rows[-1], ())) == 1:
            rows += after
        return rows


def _known(true: Lineage, predicted: Lineage, known: Bools | None) -> tuple[Lineage, Lineage]:
    """Return both lineages where only what is known counts."""
    if not np.array_equal(true.frames, predicted.frames):
        raise ValueError("The two lineages have different frames; compare lineages of the same detections.")
    return (true, predicted) if known is None else (true.without(~known), predicted.without(~known))


def _among(some: Lineage, others: Lineage) -> Bools:
    """Say which links of a lineage another one has."""
    return np.isin(_codes(some), _codes(others))


def _codes(lineage: Lineage) -> Ints:
    return lineage.links[:, 0] * len(lineage.frames) + lineage.links[:, 1]


def _score(cost: float, most: float) -> float:
    return 1.0 - min(cost, most) / most if most else nan
