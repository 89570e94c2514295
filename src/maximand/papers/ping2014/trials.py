"""Accuracies of many random problems, and what pairs of methods differ by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t

from maximand.costs import Hamming
from maximand.inference import BeliefPropagation, Inference
from maximand.papers.outcome import Cell, Row, Table
from maximand.papers.ping2014.simulators import Lattice, Spread
from maximand.papers.ping2014.training import METHODS, Problem, fitted

CHAIN, LONG_CHAIN, GRID = "chain", "chain of 20 + 20", "grid"
LATTICES = {CHAIN: Lattice(20), LONG_CHAIN: Lattice(40), GRID: Lattice(6, 6)}
APPROXIMATE = BeliefPropagation(max_iterations=20, tolerance=1e-3)
CONFIDENCE = 0.95


class Paired(NamedTuple):
    """The mean of paired differences, and half the width of its confidence interval."""

    mean: float
    half: float

    @classmethod
    def of(cls, first: ArrayLike, second: ArrayLike) -> Paired:
        """Compare two methods on the same problems."""
        return cls(*mean_and_half(np.subtract(first, second)))

    @property
    def positive(self) -> bool:
        """Whether the interval lies above zero."""
        return self.mean - self.half > 0.0

    @property
    def negative(self) -> bool:
        """Whether it lies below."""
        return self.mean + self.half < 0.0

    def __str__(self) -> str:
        return f"{self.mean:+.2f} ± {self.half:.2f}"


def mean_and_half(values: Any) -> tuple[float, float]:
    """Return a mean and half the width of its confidence interval."""
    values = np.asarray(values, dtype=float)
    if values.size < 2:
        return float(values.mean()), float("inf")
    error = float(values.std(ddof=1) / np.sqrt(values.size))
    return float(values.mean()), float(t.ppf(0.5 + CONFIDENCE / 2.0, values.size - 1)) * error


def verdict(pairs: Sequence[Paired]) -> str:
    """Say yes where all intervals are above zero, no where one is below, else that it is not clearly so."""
    if all(pair.positive for pair in pairs):
        return "yes"
    return "no" if any(pair.negative for pair in pairs) else "no, not clearly"


def rng_of(seed: int, trial: int) -> np.random.Generator:
    """Return what the problem of a trial is drawn with."""
    return np.random.default_rng([seed, trial])


def drawn(
    graph: str,
    shared: bool,
    trial: int,
    seed: int,
    exact: bool = False,
    sigma_h: float = 0.1,
    sigma_xh: float | None = None,
    normalized: bool = False,
) -> Problem:
    """Return the problem of a trial; in grids the inference is belief propagation, unless it is to be exact."""
    inference: Inference | None = APPROXIMATE if graph == GRID and not exact else None
    spread, cost = Spread(h=sigma_h, xh=sigma_xh), Hamming(normalized=normalized)
    return Problem(LATTICES[graph], spread, shared, (20, 100), rng_of(seed, trial), inference, cost)


def accuracies(
    graph: str, shared: bool, start: str, algorithms: list[str], trials: list[int], seed: int, **settings: Any
) -> dict[str, Any]:
    """Return how many outputs each method predicts right by each algorithm, trial by trial, in per cent."""
    found: dict[str, list[float]] = {}
    for trial in trials:
        problem = drawn(graph, shared, trial, seed, **settings)
        for algorithm in algorithms:
            for name, method in METHODS.items():
                weights = fitted(problem, name, algorithm, start)
                found.setdefault(key(name, algorithm), []).append(problem.accuracy(weights, method.hidden))
    return {"accuracies": found}


def of_truth(graph: str, shared: bool, trials: list[int], seed: int, **settings: Any) -> dict[str, Any]:
    """Return how many outputs the field's own weights predict right, by marginal MAP and by joint MAP."""
    found: dict[str, list[float]] = {"marginal MAP": [], "joint MAP": []}
    for trial in trials:
        problem = drawn(graph, shared, trial, seed, exact=True, **settings)
        for name, hidden in (("marginal MAP", 1.0), ("joint MAP", 0.0)):
            found[name].append(problem.accuracy(problem.truth, hidden))
    return {"accuracies": found}


def key(name: str, algorithm: str) -> str:
    """Name a method and what it is trained by."""
    return f"{name}, {algorithm}"


def truth_row(name: str, values: Mapping[str, list[float]]) -> Row:
    """Return what the true weights predict by marginal MAP and by joint MAP, and the paired difference."""
    cells = [Cell(*mean_and_half(each)) for each in values.values()]
    return Row(name, [*cells, Cell(*Paired.of(values["marginal MAP"], values["joint MAP"]))])


def truth_table(rows: list[Row]) -> Table:
    """Return such rows as a table."""
    note = "What the weights that the data were drawn with predict: no method can be expected to do better."
    return Table("Accuracy (%) of the true weights", ["marginal MAP", "joint MAP", "difference"], rows, note, 2)


def blocks(count: int, size: int) -> list[list[int]]:
    """Return the numbers of trials, so many at a time."""
    return [list(range(first, min(first + size, count))) for first in range(0, count, size)]


def gathered(runs: Iterable[Mapping[str, Any]], setting: Mapping[str, Any]) -> dict[str, list[float]]:
    """Return the accuracies of all trials of a setting: of the runs whose cell is just that, but for the trials."""
    found: dict[str, list[float]] = {}
    for run in runs:
        if {name: value for name, value in run["cell"].items() if name != "trials"} == setting:
            for name, values in run["accuracies"].items():
                found.setdefault(name, []).extend(values)
    return found
