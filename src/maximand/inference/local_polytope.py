"""The local polytope of a graph, and the best point of it."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import highspy
import numpy as np
from highspy import HighsModelStatus
from scipy import sparse

from maximand.inference.highs import DUAL, MAXIMIZE, new_solver, run, scale_of, set_options
from maximand.inference.structure import FactorGraphs, Structure
from maximand.support import Array, Bools, Ints

SNAP = 1e-9  # a marginal so near to 0 or 1 is that number


class LocalPolytope:
    """All marginals of nodes and edges that agree with each other.

    The local polytope of a graph holds the mu >= 0 with, for each node v and edge e = (u, v),

        sum_x mu_v(x) = 1,   sum_y mu_e(x, y) = mu_u(x),   sum_x mu_e(x, y) = mu_v(y).

    The marginals without state 0 determine the others, and can be chosen freely as far as the equations go:

        mu_v(0) = 1 - sum_x mu_v(x),   mu_e(x, 0) = mu_u(x) - sum_y mu_e(x, y),   mu_e(0, y) likewise,
        mu_e(0, 0) = 1 - sum_x mu_u(x) - sum_y mu_v(y) + sum_xy mu_e(x, y),   all sums from state 1 on.

    So mu = base + lift @ z, with the coordinates z = mu[columns], and the polytope is what 0 <= mu leaves: a bound for
    every coordinate, and a row of inequalities for each other pair of states. A node without edges needs a row too.

    A node's states may be swapped so that any of them, its reference, takes the place of state 0. At z = 0 every node
    is in its reference.
    """

    def __init__(self, structure: Structure):
        n, k = structure.n_nodes, int(structure.states.max())
        self.left, self.right = structure.edges.T
        self.tables = structure.tables
        self.exists: Bools = np.arange(k) < structure.states[:, None]
        pairs = self.exists[self.left][:, :, None] & self.exists[self.right][:, None, :]
        node_entries = np.arange(n * k).reshape(n, k)
        pair_entries = n * k + np.arange(pairs.size).reshape(pairs.shape)

        # The coordinates: existing parts without state 0.
        free = np.concatenate([self.exists.ravel(), pairs.ravel()])
        free[node_entries[:, 0]] = free[pair_entries[:, 0, :]] = free[pair_entries[:, :, 0]] = False
        self.missing = np.flatnonzero(~np.concatenate([self.exists.ravel(), pairs.ravel()]))
        self.columns = np.flatnonzero(free)
        self.is_node = self.columns < n * k
        column = np.cumsum(free) - 1

        v, x = np.nonzero(self.exists[:, 1:])
        e, a, b = np.nonzero(pairs[:, 1:, 1:])
        el, xl = np.nonzero(self.exists[self.left][:, 1:])
        er, yr = np.nonzero(self.exists[self.right][:, 1:])
        x, a, b, xl, yr = x + 1, a + 1, b + 1, xl + 1, yr + 1
        of_left, of_right = node_entries[self.left[el], xl], node_entries[self.right[er], yr]
        terms = [
            (self.columns, self.columns, 1.0),
            (node_entries[v, 0], node_entries[v, x], -1.0),
            (pair_entries[el, xl, 0], of_left, 1.0), (pair_entries[e, a, 0], pair_entries[e, a, b], -1.0),
            (pair_entries[er, 0, yr], of_right, 1.0), (pair_entries[e, 0, b], pair_entries[e, a, b], -1.0),
            (pair_entries[el, 0, 0], of_left, -1.0), (pair_entries[er, 0, 0], of_right, -1.0),
            (pair_entries[e, 0, 0], pair_entries[e, a, b], 1.0),
        ]  # fmt: skip
        size = n * k + pairs.size
        self.lift = sparse.csr_array(
            (
                np.concatenate([np.full(len(entry), sign) for entry, _, sign in terms]),
                (np.concatenate([t[0] for t in terms]), column[np.concatenate([t[1] for t in terms])]),
            ),
            shape=(size, self.columns.size),
        )
        self.fold = self.lift.T.tocsr()
        self.base = np.zeros(size)
        self.base[node_entries[:, 0]] = self.base[pair_entries[:, 0, 0]] = 1.0

        alone = np.bincount(structure.edges.ravel(), minlength=n) == 0
        others = pairs.copy()
        others[:, 1:, 1:] = False
        self.rows = np.concatenate([node_entries[alone, 0], pair_entries[others]])

    def split(self, mu: Ints) -> tuple[Ints, Ints]:
        """View mu, or an array like it, as a matrix (node, state) and an array (edge, left state, right state)."""
        n, k = self.exists.shape
        return mu[: n * k].reshape(n, k), mu[n * k :].reshape(-1, k, k)

    def places(self, references: Ints, width: int) -> Ints:
        """Return the part of a graph that each entry of mu stands for, among its rows of nodes and its tables.

        So theta[places] are scores laid out like mu, and the sums of mu by places are the mean.
        """
        n, k = self.exists.shape
        nodes, swap = np.arange(n), np.empty((n, k), dtype=np.int64)
        swap[:] = np.arange(k)
        swap[nodes, references] = 0
        swap[:, 0] = references
        left, right = swap[self.left, :, None], swap[self.right, None, :]
        of_edges = (n + self.tables * width)[:, None, None] * width + left * width + right
        return np.concatenate([(nodes[:, None] * width + swap).ravel(), of_edges.ravel()])


_polytopes: WeakKeyDictionary[Structure, LocalPolytope] = WeakKeyDictionary()
_lock = Lock()


def polytope_of(structure: Structure) -> LocalPolytope:
    """Return the polytope of a structure, built once."""
    with _lock:
        found = _polytopes.get(structure)
        if found is None:
            found = _polytopes[structure] = LocalPolytope(structure)
    return found


class Program:
    """The maximum of scores @ mu over a local polytope, by HiGHS: one model, whose scores change; for one thread."""

    def __init__(self, polytope: LocalPolytope):
        self.polytope = polytope
        self.solver = new_solver()
        n, rows = polytope.columns.size, polytope.lift[polytope.rows]
        zeros, ones, base = np.zeros(n), np.ones(n), polytope.base[polytope.rows]
        self.solver.passModel(
            n, rows.shape[0], rows.nnz, int(highspy.MatrixFormat.kRowwise), MAXIMIZE, 0.0,
            zeros, zeros, ones, -base, 1.0 - base, rows.indptr, rows.indices, rows.data, polytope.is_node.astype(int),
        )  # fmt: skip
        self._all_columns = np.arange(n, dtype=np.int32)
        self._all_rows = np.arange(base.size, dtype=np.int32)
        self._zeros, self._base = zeros, base
        self._forbidden = np.zeros(polytope.base.size, dtype=bool)

    def set(self, **options: Any) -> None:
        """Set options of the solver."""
        set_options(self.solver, **options)

    def pose(self, theta: Array, width: int, references: Ints) -> None:
        """Take the scores of a graph; -inf forbids. The solver forgets the graph before.

        Scores are scaled by a power of two where they are small or huge beside the solver's tolerances.
        """
        polytope, solver = self.polytope, self.solver
        self.references, self._places, self._n_parts = references, polytope.places(references, width), theta.size
        scores = theta[self._places]
        scores[polytope.missing] = 0.0
        forbidden = np.isneginf(scores)
        if forbidden.any():
            nodes, edges = polytope.split(forbidden)
            edges |= nodes[polytope.left][:, :, None] | nodes[polytope.right][:, None, :]
        self.scores = np.where(forbidden, 0.0, scores)
        costs = polytope.fold @ self.scores
        self.scale = scale_of(costs)
        solver.clearSolver()
        solver.changeColsCost(costs.size, self._all_columns, costs * self.scale)
        solver.changeObjectiveOffset(float(polytope.base @ self.scores) * self.scale)
        if (forbidden != self._forbidden).any():
            upper = 1.0 - forbidden
            solver.changeColsBounds(costs.size, self._all_columns, self._zeros, upper[polytope.columns])
            solver.changeRowsBounds(self._base.size, self._all_rows, -self._base, upper[polytope.rows] - self._base)
            self._forbidden = forbidden

    def run(self, example: int) -> HighsModelStatus:
        """Solve; the example is named where that fails."""
        status = run(self.solver, example)
        if status == HighsModelStatus.kModelEmpty:  # every node has one state
            nothing_left = bool((self._forbidden & (self.polytope.base == 1.0)).any())
            return HighsModelStatus.kInfeasible if nothing_left else HighsModelStatus.kOptimal
        return status

    def branch(self, example: int) -> HighsModelStatus:
        """Look for the best labelling, from that of the references."""
        start = highspy.HighsSolution()
        start.col_value = self._zeros.tolist()
        self.solver.setSolution(start)
        self.set(solve_relaxation=False, simplex_strategy=DUAL)
        return self.run(example)

    def ceiling(self) -> float:
        """Return a bound that needs no solver: the best scores of all nodes and edges, added up."""
        allowed = np.where(self._forbidden, -np.inf, self.scores)
        allowed[self.polytope.missing] = -np.inf
        nodes, edges = self.polytope.split(allowed)
        return float(nodes.max(axis=1).sum() + edges.max(axis=(1, 2)).sum())

    def answer(self) -> tuple[float, Array, bool]:
        """Return the value and the mean of the mu that was found, free of noise, and whether it is a labelling."""
        polytope = self.polytope
        mu = polytope.base + polytope.lift @ np.array(self.solver.getSolution().col_value)
        mu[(mu < SNAP) | self._forbidden] = 0.0
        mu[mu > 1.0 - SNAP] = 1.0
        nodes, edges = polytope.split(mu)
        whole = bool(((nodes == 0.0) | (nodes == 1.0)).all())
        if whole:
            edges[:] = nodes[polytope.left][:, :, None] * nodes[polytope.right][:, None, :]
        mean: Array = np.bincount(self._places, mu, self._n_parts).astype(np.float64, copy=False)
        return float(self.scores @ mu), mean, whole


def programs(graphs: FactorGraphs, theta: Array) -> Iterator[tuple[int, Program, Array]]:
    """Yield every example, the program of its structure, and its scores: the rows of its nodes, then its tables."""
    own = theta[graphs.layout.places]  # example by example
    ends = np.cumsum(graphs.layout.work)
    built: dict[int, Program] = {}
    for i, s in enumerate(graphs.which.tolist()):
        if s not in built:
            built[s] = Program(polytope_of(graphs.structures.graphs[s]))
        yield i, built[s], own[ends[i] - graphs.layout.work[i] : ends[i]]
