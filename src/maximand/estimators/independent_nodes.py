"""What training that may run out of time returns at the least: nodes labelled without regard to their edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from maximand.compiling import working_seconds
from maximand.features import Examples, GraphFeatures
from maximand.objective import Objective
from maximand.oracles import Larger, Soft
from maximand.solvers import Result, Solver, automatic
from maximand.spaces import Graph

SHARE = 0.2  # of the time


def without_edges(objective: Objective) -> Objective | None:
    """Return the objective of the same graphs without edges; None where there are none, or where it is another.

    With tables of zeros the maxima and soft maxima over labellings are those of single nodes, so that both objectives
    have the same value there, and every inference is exact. Projections take edges into account all the same.
    """
    features, loss = objective.features, objective.loss
    if not isinstance(features, GraphFeatures) or not features.n_columns or loss.homogeneous:
        return None
    if not isinstance(loss.penalty, Soft | Larger):
        return None
    batches = []
    for batch in objective.batches:
        assert isinstance(batch.space, Graph)
        space = batch.space.without_edges()
        if loss.needs & ~space.can:
            return None
        batches.append(replace(batch, examples=Examples(space, batch.examples.inputs)))
    nodes = replace(
        features, pattern=np.full_like(features.pattern, -1), n_tables=0, n_table_features=0, associative=False
    )
    return Objective.of(batches, nodes, loss, objective.regularization, objective.engine, objective.share)


def no_worse(objective: Objective, solver: Solver, minimize: Callable[[Solver], Result]) -> Result:
    """Minimise; where the time is limited, train nodes alone first, in a share of it, and return nothing worse.

    What nodes alone reach is a value of the whole objective, but no bound on its minimum. They are no start, so that a
    limit that is not met changes nothing: approximate inference ends elsewhere when it begins elsewhere.
    """
    nodes = without_edges(objective) if solver.max_seconds < np.inf else None
    if nodes is None:
        return minimize(solver)
    began = working_seconds()
    found = automatic(nodes, tolerance=1e-2, max_seconds=SHARE * solver.max_seconds).minimize(nodes)
    left = replace(solver, max_seconds=max(0.0, solver.max_seconds - (working_seconds() - began)))
    result = minimize(left)
    reason = result.stop_reason.replace(f"max_seconds={left.max_seconds:g}", f"max_seconds={solver.max_seconds:g}")
    result = replace(result, stop_reason=reason)
    if result.converged or result.value <= found.value:
        return result
    weights = np.concatenate([found.weights, np.zeros(objective.n_weights - found.weights.size)])
    gap = None if result.gap is None else max(0.0, found.value - (result.value - result.gap))
    return replace(result, weights=weights, value=found.value, gap=gap)
