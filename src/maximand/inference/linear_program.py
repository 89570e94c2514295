"""The linear program of a graph: a bound on its best labelling, and often the labelling itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from highspy import HighsModelStatus

from maximand.inference.base import Inference, labelled
from maximand.inference.icm import own_best
from maximand.inference.local_polytope import CHOOSE, DUAL, Program, programs
from maximand.inference.structure import FactorGraphs, Structure
from maximand.support import Array, Guarantee, Ints, Singles, Support


@dataclass(frozen=True)
class LinearProgram(Inference):
    """Maximise theta @ mu over the local polytope of each graph, by the dual simplex method of HiGHS.

    Every labelling is a point of the polytope, so the value is never below the maximum; on a graph without cycles, and
    wherever the best point is a labelling, it is the maximum. Otherwise the mean is fractional. `integral` rounds every
    node to its largest marginal, the lowest state where several are equal: the value is then that of a labelling, -inf
    where the rounding meets a forbidden pair, and `bound` that of the program.

    `warm_start` starts from the solution of the most similar scores that this structure was solved with lately, in this
    call or before, and keeps these solutions. The values are the same to the solver's tolerance (1e-7 of the scores);
    where several points are best, which of them is returned depends on what was solved before. It pays where the same
    graphs come again with scores that changed little, as in training.
    """

    integral: bool = False
    warm_start: bool = False

    def argmax(self, graphs: FactorGraphs, theta: Array) -> Support:
        """Best point of the local polytope, or the labelling nearest to it."""
        values, mean = np.full(graphs.n_examples, -np.inf), np.empty(graphs.n_parts)
        own_mean, ends = np.zeros(graphs.n_parts), np.cumsum(graphs.layout.work)  # example by example
        best_states, all_whole = own_best(graphs, theta), True
        for i, program, scores in programs(graphs, theta):
            own = slice(*graphs.node_offsets[i : i + 2])
            structure = graphs.structures.graphs[graphs.which[i]]
            search = _memory_of(structure, scores.size).relax if self.warm_start else relax
            if search(program, i, scores, graphs.width, best_states[own]) == HighsModelStatus.kInfeasible:
                continue
            values[i], parts, whole = program.answer()
            own_mean[ends[i] - parts.size : ends[i]] = parts
            all_whole &= whole
        mean[graphs.layout.places] = own_mean
        if not self.integral:
            return Support(values, mean, Guarantee.EXACT if all_whole else Guarantee.OVER)
        guarantee = Guarantee.EXACT if all_whole else Guarantee.UNDER
        rounded = labelled(graphs, theta, graphs.nodes(mean).round(9).argmax(axis=1), guarantee)
        return replace(rounded, bound=np.maximum(values, rounded.value))


def relax(program: Program, example: int, scores: Array, width: int, best_states: Ints) -> HighsModelStatus:
    """Look for the best point of the local polytope of an example, and say what was found.

    It starts from every node in its own best state: all variables have two bounds, so the dual method may.
    """
    program.pose(scores, width, best_states)
    program.set(solve_relaxation=True, simplex_strategy=DUAL)
    return program.run(example)


class Solution(NamedTuple):
    """A vertex of a local polytope: the reference state of each node, and the basis in their coordinates."""

    references: Ints
    basis: Any


class Memory:
    """The last solutions of a structure, found again by the direction of their scores. Threads may share it."""

    MOST = 1024
    SIMILAR = 0.95  # the cosine from which on a solution is a better start than none, as measured

    def __init__(self, n_parts: int):
        self._lock = Lock()
        self._directions: Singles = np.empty((1, n_parts), dtype=np.float32)
        self._solutions: list[Solution] = []
        self._oldest = 0

    def relax(self, program: Program, example: int, scores: Array, width: int, best_states: Ints) -> HighsModelStatus:
        """Do the same as `relax`, from the solution for the most similar scores where some are similar."""
        finite = np.where(np.isfinite(scores), scores, 0.0)
        direction = (finite / max(float(np.linalg.norm(finite)), np.finfo(float).tiny)).astype(np.float32)
        place = self._nearest(direction)
        if place is None:
            status = relax(program, example, scores, width, best_states)
        else:
            # A solution stays in the polytope when scores change; HiGHS then chooses the primal method.
            start = self._solutions[place]
            program.pose(scores, width, start.references)
            program.set(solve_relaxation=True, simplex_strategy=CHOOSE)
            program.solver.setBasis(start.basis)
            status = program.run(example)
        if status == HighsModelStatus.kOptimal:
            self._keep(direction, Solution(program.references.copy(), program.solver.getBasis()), place)
        return status

    def _nearest(self, direction: Singles) -> int | None:
        with self._lock:
            if not self._solutions:
                return None
            cosines = self._directions[: len(self._solutions)] @ direction
            place = int(np.argmax(cosines))
            return place if cosines[place] >= self.SIMILAR else None

    def _keep(self, direction: Singles, solution: Solution, place: int | None) -> None:
        with self._lock:
            if place is None and len(self._solutions) < self.MOST:
                place = len(self._solutions)
                self._solutions.append(solution)
                if place == len(self._directions):
                    self._directions = np.concatenate([self._directions, np.empty_like(self._directions)])
            elif place is None:
                place, self._oldest = self._oldest, (self._oldest + 1) % self.MOST
            self._directions[place], self._solutions[place] = direction, solution


_memories: WeakKeyDictionary[Structure, dict[int, Memory]] = WeakKeyDictionary()
_lock = Lock()


def _memory_of(structure: Structure, n_parts: int) -> Memory:
    with _lock:
        by_size = _memories.setdefault(structure, {})
        if n_parts not in by_size:
            by_size[n_parts] = Memory(n_parts)
        return by_size[n_parts]
