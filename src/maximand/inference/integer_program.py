"""The integer program of a graph: its best labelling, or how far from it a labelling can be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from highspy import HighsModelStatus, SolutionStatus

from maximand.inference.base import Inference, labelled
from maximand.inference.icm import own_best
from maximand.inference.linear_program import relax
from maximand.inference.local_polytope import Program, programs
from maximand.inference.structure import FactorGraphs
from maximand.numerics.local_search import sweep_nodes
from maximand.support import Array, Guarantee, Ints, Support


@dataclass(frozen=True)
class IntegerProgram(Inference):
    """Maximise theta @ mu over the labellings in the local polytope of each graph, by branch and cut (HiGHS).

    The linear program comes first; where its best point is a labelling, that is the answer. Otherwise branching starts
    from a labelling that no change of one node improves. It ends where bound - value <= relative_gap * |value|, or
    after `max_seconds` for a graph: then the best labelling so far is returned, improved by changes of one node, and
    `bound` says how good a labelling can be at most. Where a graph was solved, its bound is its value.
    """

    max_seconds: float = np.inf
    relative_gap: float = 0.0

    def argmax(self, graphs: FactorGraphs, theta: Array, state: Any = None) -> Support:
        """Best labelling of every graph, as far as time and gap allow."""
        best_states = own_best(graphs, theta)
        codes = best_states.copy()
        sweep_nodes(graphs.factors, theta, codes)
        bound, solved = np.empty(graphs.n_examples), np.empty(graphs.n_examples, dtype=bool)
        for i, program, scores in programs(graphs, theta):
            own = slice(*graphs.node_offsets[i : i + 2])
            codes[own], bound[i], solved[i] = self._solve(
                i, program, scores, graphs.width, best_states[own], codes[own]
            )
        sweep_nodes(graphs.factors, theta, codes)
        support = labelled(graphs, theta, codes, Guarantee.EXACT if solved.all() else Guarantee.UNDER)
        return replace(support, bound=np.where(solved, support.value, np.maximum(bound, support.value)))

    def _solve(
        self, example: int, program: Program, scores: Array, width: int, best_states: Ints, start: Ints
    ) -> tuple[Ints, float, bool]:
        """Return the best labelling found, a bound, and whether no labelling is better."""
        began = perf_counter()
        # The clock of HiGHS runs on from one linear program to the next, but anew for every integer program.
        program.set(time_limit=program.solver.getRunTime() + self.max_seconds, mip_rel_gap=self.relative_gap)
        status = relax(program, example, scores, width, best_states)
        if status == HighsModelStatus.kInfeasible:
            return start, -np.inf, True
        bound = program.ceiling()
        if status == HighsModelStatus.kOptimal:
            bound, mean, whole = program.answer()
            if whole:
                return _states(mean, width, start.size), bound, True
        program.pose(scores, width, start)
        program.set(time_limit=max(self.max_seconds - (perf_counter() - began), 0.0))
        status = program.branch(example)
        if status == HighsModelStatus.kInfeasible:
            return start, -np.inf, True
        info = program.solver.getInfo()
        bound = min(bound, info.mip_dual_bound / program.scale)
        if info.primal_solution_status != int(SolutionStatus.kSolutionStatusFeasible):
            return start, bound, False
        within = status == HighsModelStatus.kOptimal and (self.relative_gap == 0.0 or info.mip_gap == 0.0)
        return _states(program.answer()[1], width, start.size), bound, within


def _states(mean: Array, width: int, n_nodes: int) -> Ints:
    return mean[: n_nodes * width].reshape(n_nodes, width).argmax(axis=1)
