"""The linear program of a graph: a bound on its best labelling, and often the labelling itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from highspy import HighsBasis, HighsBasisStatus, HighsModelStatus

from maximand.inference.base import Inference, labelled
from maximand.inference.highs import CHOOSE, DUAL
from maximand.inference.icm import own_best
from maximand.inference.local_polytope import Program, programs
from maximand.inference.structure import FactorGraphs
from maximand.states import Numbers
from maximand.support import Array, Guarantee, Ints, Support


@dataclass(frozen=True)
class LinearProgram(Inference):
    """Maximise theta @ mu over the local polytope of each graph, by the dual simplex method of HiGHS.

    Every labelling is a point of the polytope, so the value is never below the maximum; on a graph without cycles, and
    wherever the best point is a labelling, it is the maximum. Otherwise the mean is fractional. `integral` rounds every
    node to its largest marginal, the lowest state where several are equal: the value is then that of a labelling, -inf
    where the rounding meets a forbidden pair, and `bound` that of the program.

    `warm_start` returns the vertices found as a state, and begins from those of an earlier answer. The values are the
    same to the solver's tolerance (1e-7 of the scores); where several points are best, which of them is returned
    depends on the state. It pays where the same graphs come again with scores that changed little, as in training.
    """

    integral: bool = False
    warm_start: bool = False

    def argmax(self, graphs: FactorGraphs, theta: Array, state: Any = None) -> Support:
        """Best point of the local polytope, or the labelling nearest to it."""
        values, mean = np.full(graphs.n_examples, -np.inf), np.empty(graphs.n_parts)
        own_mean, ends = np.zeros(graphs.n_parts), np.cumsum(graphs.layout.work)  # example by example
        best_states, all_whole, vertices = own_best(graphs, theta), True, list[Ints]()
        for i, program, scores in programs(graphs, theta):
            own = slice(*graphs.node_offsets[i : i + 2])
            known = None if state is None or not self.warm_start else state.take(slice(i, i + 1)).values
            if known is None or not known.size:
                status = relax(program, i, scores, graphs.width, best_states[own])
            else:
                status = relax_from(program, i, scores, graphs.width, known)
            if self.warm_start:
                vertices.append(vertex_of(program))
            if status == HighsModelStatus.kInfeasible:
                continue
            values[i], parts, whole = program.answer()
            own_mean[ends[i] - parts.size : ends[i]] = parts
            all_whole &= whole
        mean[graphs.layout.places] = own_mean
        found = Numbers.of(vertices) if self.warm_start else None
        if not self.integral:
            return Support(values, mean, Guarantee.EXACT if all_whole else Guarantee.OVER, state=found)
        guarantee = Guarantee.EXACT if all_whole else Guarantee.UNDER
        rounded = labelled(graphs, theta, graphs.nodes(mean).round(9).argmax(axis=1), guarantee)
        return replace(rounded, bound=np.maximum(values, rounded.value), state=found)


def relax(program: Program, example: int, scores: Array, width: int, best_states: Ints) -> HighsModelStatus:
    """Look for the best point of the local polytope of an example, and say what was found.

    It starts from every node in its own best state: all variables have two bounds, so the dual method may.
    """
    program.pose(scores, width, best_states)
    program.set(solve_relaxation=True, simplex_strategy=DUAL)
    return program.run(example)


def relax_from(program: Program, example: int, scores: Array, width: int, vertex: Ints) -> HighsModelStatus:
    """Do the same from a vertex: it stays in the polytope when scores change, and HiGHS chooses the primal method."""
    n_nodes, n_columns = len(program.polytope.exists), program.polytope.columns.size
    program.pose(scores, width, vertex[:n_nodes])
    program.set(solve_relaxation=True, simplex_strategy=CHOOSE)
    basis = HighsBasis()
    basis.col_status = [HighsBasisStatus(status) for status in vertex[n_nodes : n_nodes + n_columns].tolist()]
    basis.row_status = [HighsBasisStatus(status) for status in vertex[n_nodes + n_columns :].tolist()]
    basis.valid = True
    program.solver.setBasis(basis)
    return program.run(example)


def vertex_of(program: Program) -> Ints:
    """Return the vertex that was found as numbers: the reference state of each node, and a basis."""
    basis = program.solver.getBasis()
    statuses = [int(status) for status in (*basis.col_status, *basis.row_status)]
    return np.concatenate([program.references, np.array(statuses, dtype=np.int64)])
