"""Set partitioning: the best choice of columns that covers every row exactly once."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from highspy import HighsBasis, HighsBasisStatus, HighsModelStatus, HighsVarType, SolutionStatus

from maximand.inference.highs import CHOOSE, DUAL, MAXIMIZE, MOST, run, scale_of, set_options
from maximand.layout import take_runs
from maximand.support import Array, Bools, Ints

WHOLE = 1e-6  # a share so near to 0 or 1 is that number
MOST_NODES = 100  # of the search before an integer program takes over
ROUNDING = 1e-9  # of the scores added up: what the arithmetic may add to a bound
_LOWER, _BASIC = HighsBasisStatus.kLower, HighsBasisStatus.kBasic


class Cut(NamedTuple):
    """A row of its own: coefficients @ chosen >= least."""

    coefficients: Array
    least: float


class Partition(NamedTuple):
    """What was chosen: shares of columns, their score, a bound on every choice, and where the simplex method stood.

    `whole`: the shares are a choice. `best`: no other choice is better. The value is -inf where there is no choice.
    """

    shares: Array
    value: float
    bound: float
    whole: bool
    best: bool
    basis: Ints


@dataclass(frozen=True)
class Rows:
    """Column j covers the rows rows[pointers[j]:pointers[j+1]] of n_rows, at least one; it is chosen or not."""

    n_rows: int
    pointers: Ints
    rows: Ints

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return self.pointers.size - 1

    @property
    def lengths(self) -> Ints:
        """The number of rows of each column."""
        return np.diff(self.pointers)

    def sums(self, values: Array) -> Array:
        """Return for each column the sum of the values of its rows."""
        return np.add.reduceat(values[self.rows], self.pointers[:-1]) if self.n_columns else np.empty(0)

    def covered(self, shares: Array) -> Array:
        """Return for each row the sum of the shares of the columns that cover it."""
        return np.asarray(np.bincount(self.rows, np.repeat(shares, self.lengths), self.n_rows), dtype=float)

    def of(self, columns: Ints) -> Rows:
        """Return some of the columns alone."""
        places, pointers = take_runs(self.pointers, columns)
        return Rows(self.n_rows, pointers, self.rows[places])


class Program:
    """The maximum of scores @ x over x >= 0 with each row covered once: a linear program, or an integer one."""

    def __init__(self, solver: Any, rows: Rows, scores: Array, cut: Cut | None = None):
        self.solver, self.rows, self.cut, self.scores = solver, rows, cut, scores
        self.forbidden: Bools = np.isneginf(scores)
        self.finite = np.where(self.forbidden, 0.0, scores)
        self.scale = scale_of(self.finite, MOST)
        set_options(solver, presolve="off", time_limit=np.inf)
        n, ones = rows.n_columns, np.ones(rows.n_rows)
        self.solver.passModel(
            n, rows.n_rows, rows.rows.size, 1, MAXIMIZE, 0.0, self.finite * self.scale, np.zeros(n),
            np.where(self.forbidden, 0.0, np.inf), ones, ones, rows.pointers.astype(np.int32),
            rows.rows.astype(np.int32), np.ones(rows.rows.size), np.zeros(n, dtype=np.int32),
        )  # fmt: skip
        if cut is not None:
            used = np.flatnonzero(cut.coefficients).astype(np.int32)
            self.solver.addRow(cut.least, np.inf, used.size, used, cut.coefficients[used])
        self.n_rows = rows.n_rows + (cut is not None)

    def relax(self, example: int, basis: Ints | None) -> bool:
        """Solve the linear program, from a basis where there is one; return whether there is a solution."""
        if basis is None:
            set_options(self.solver, simplex_strategy=DUAL)
        else:  # it still covers the rows, whatever the scores
            set_options(self.solver, simplex_strategy=CHOOSE)
            status = [_LOWER] * (self.rows.n_columns + self.n_rows)
            for place in basis.tolist():
                status[place] = _BASIC
            known = HighsBasis()
            known.col_status, known.row_status = status[: self.rows.n_columns], status[self.rows.n_columns :]
            known.valid = True
            self.solver.setBasis(known)
        return run(self.solver, example) == HighsModelStatus.kOptimal

    def fix(self, column: int, low: float, high: float) -> None:
        """Put bounds on a column."""
        self.solver.changeColBounds(column, low, high)

    @property
    def value(self) -> float:
        """The value of the solution, as the solver has it."""
        return float(self.solver.getInfo().objective_function_value) / self.scale

    @property
    def basis(self) -> Ints:
        """Which columns are basic, and which rows, counted behind the columns."""
        found = np.asarray(self.solver.getBasicVariables()[1], dtype=np.int64)
        return np.sort(np.where(found >= 0, found, self.rows.n_columns - found - 1))

    def shares(self) -> Array:
        """Return the solution, free of noise."""
        x = np.clip(np.array(self.solver.getSolution().col_value), 0.0, 1.0)
        x[(x < WHOLE) | self.forbidden] = 0.0
        x[x > 1.0 - WHOLE] = 1.0
        return x

    def bound(self) -> tuple[float, Array]:
        """Return a bound on all choices and the slack of each column: those that use it are that much below.

        With prices u of the rows, scores @ x = sum u + sum_j (scores_j - sum of u over the rows of j) x_j for every
        choice x; a cut has a price, too. So the bound holds for any u, however exactly they were found.
        """
        prices = np.array(self.solver.getSolution().row_dual) / self.scale
        reduced = self.finite - self.rows.sums(prices[: self.rows.n_rows])
        total = float(prices[: self.rows.n_rows].sum())
        if self.cut is not None:
            price = min(float(prices[-1]), 0.0)  # choices are on one side of the cut
            reduced -= price * self.cut.coefficients
            total += price * self.cut.least
        reduced[self.forbidden] = -np.inf
        return total + float(np.maximum(reduced, 0.0).sum()), np.maximum(-reduced, 0.0)


@dataclass(frozen=True)
class Partitioning:
    """The best choice of columns.

    The linear program comes first, from a basis of an earlier answer where there is one. Where its shares are a choice,
    that is the best. Otherwise a choice near the shares is made, and an integer program looks for better ones among the
    columns whose slack is smaller than what lies between the choice and the bound: no other can be part of one.
    `max_seconds` limits that; `relaxed` keeps the shares instead.
    """

    relaxed: bool = False
    max_seconds: float = np.inf

    def __call__(
        self,
        solver: Any,
        rows: Rows,
        scores: Array,
        basis: Ints | None = None,
        cut: Cut | None = None,
        example: int = 0,
    ) -> Partition:
        """Return what is best; -inf forbids a column. The solver may have solved other programs before."""
        began = perf_counter()
        program = Program(solver, rows, scores, cut)
        if not program.relax(example, basis):
            behind = rows.n_columns + np.arange(program.n_rows)
            return Partition(np.zeros(rows.n_columns), -np.inf, -np.inf, True, True, behind)
        shares, basis = program.shares(), program.basis
        value = float(program.finite @ shares)
        if _is_choice(rows, shares, cut):
            return Partition(shares, value, value, True, True, basis)
        bound, slack = program.bound()
        if self.relaxed:
            return Partition(shares, value, max(value, bound), False, False, basis)
        guess = _near(rows, shares, slack)
        value = -np.inf if guess is None or not _obeys(guess, cut) else float(program.finite @ guess)
        left = self.max_seconds - (perf_counter() - began)
        searched = _search(program, guess if value > -np.inf else None, value, bound, left, example)
        found, bound, best = searched or _branched(program, slack, value, bound, left, example)
        if found is None:
            found = guess if value > -np.inf else None
        if found is None:
            return Partition(np.zeros(rows.n_columns), -np.inf, -np.inf if best else bound, True, best, basis)
        value = float(program.finite @ found)
        return Partition(found, value, value if best else max(bound, value), True, best, basis)


def _obeys(shares: Array, cut: Cut | None) -> bool:
    return cut is None or bool(cut.coefficients @ shares >= cut.least)


def _is_choice(rows: Rows, shares: Array, cut: Cut | None) -> bool:
    """Whether all shares are 0 or 1 and cover each row once."""
    if ((shares != 0.0) & (shares != 1.0)).any():
        return False
    return bool((rows.covered(shares) == 1.0).all()) and _obeys(shares, cut)


def _near(rows: Rows, shares: Array, slack: Array) -> Array | None:
    """Return a choice: columns with the largest shares first, then with the least slack; None where that fails."""
    free, chosen = np.ones(rows.n_rows, dtype=bool), np.zeros(rows.n_columns)

    def take(columns: Ints) -> None:
        for j in columns.tolist():
            own = rows.rows[rows.pointers[j] : rows.pointers[j + 1]]
            if free[own].all():
                free[own], chosen[j] = False, 1.0

    used = np.flatnonzero(shares)
    take(used[np.argsort(-shares[used], kind="stable")])
    if free.any():
        inside = rows.sums(free.astype(float)) == rows.lengths
        fit = np.flatnonzero(inside & np.isfinite(slack))
        take(fit[np.argsort(slack[fit], kind="stable")])
    return None if free.any() else chosen


def _search(
    program: Program, guess: Array | None, value: float, bound: float, max_seconds: float, example: int
) -> tuple[Array | None, float, bool] | None:
    """Return the best choice that is better than a value, if any, a bound, and True; None where that takes long.

    Columns with shares are chosen or left out in turn, and the linear program is solved again from where it is: for the
    few that this mostly takes it is sooner done than the integer program begins.
    """
    best, rounding = guess, ROUNDING * (1.0 + abs(bound))
    end, nodes = perf_counter() + max_seconds, 0

    def explore() -> bool:
        nonlocal best, value, nodes
        nodes += 1
        if nodes > MOST_NODES or perf_counter() > end:
            return False
        if run(program.solver, example) != HighsModelStatus.kOptimal or program.value <= value + rounding:
            return True
        shares = program.shares()
        if _is_choice(program.rows, shares, program.cut):
            best, value = shares, float(program.finite @ shares)
            return True
        doubtful = np.flatnonzero((shares > 0.0) & (shares < 1.0))
        if not doubtful.size:
            return False
        column = int(doubtful[np.argmin(np.abs(shares[doubtful] - 0.5))])
        for low, high in ((1.0, np.inf), (0.0, 0.0)):
            program.fix(column, low, high)
            done = explore()
            program.fix(column, 0.0, np.inf)
            if not done:
                return False
        return True

    return (best, value, True) if explore() else None


def _branched(
    program: Program, slack: Array, value: float, bound: float, max_seconds: float, example: int
) -> tuple[Array | None, float, bool]:
    """Return the best choice that is better than a value, if any, a bound on all, and whether none is better."""
    rounding = ROUNDING * (1.0 + float(np.abs(program.finite).max(initial=0.0)) * program.rows.n_rows)
    columns = np.flatnonzero(slack <= bound - value + rounding)
    cut = program.cut and Cut(program.cut.coefficients[columns], program.cut.least)
    part = Program(program.solver, program.rows.of(columns), program.scores[columns], cut)
    kinds = np.full(columns.size, int(HighsVarType.kInteger), dtype=np.uint8)
    part.solver.changeColsIntegrality(columns.size, np.arange(columns.size, dtype=np.int32), kinds)
    set_options(part.solver, presolve="on", mip_rel_gap=0.0, time_limit=max(max_seconds, 0.0))
    status = run(part.solver, example)
    if status == HighsModelStatus.kInfeasible:
        return None, value, True
    info: Any = part.solver.getInfo()
    if info.primal_solution_status != int(SolutionStatus.kSolutionStatusFeasible):
        return None, bound, False
    found = np.zeros(program.rows.n_columns)
    found[columns] = np.round(np.array(part.solver.getSolution().col_value))
    best = status == HighsModelStatus.kOptimal
    if float(program.finite @ found) < value:
        return None, bound, best
    return found, min(bound, info.mip_dual_bound / part.scale), best
