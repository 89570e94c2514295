"""What training that may run out of time returns at the least: nodes labelled without regard to their edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from maximand.compiling import working_seconds
from maximand.objective import Objective
from maximand.oracles import Larger, Soft
from maximand.solvers import Result, Solver, automatic

SHARE = 0.2  # of the time


def without_edges(objective: Objective) -> Objective | None:
    """Return the objective of the same graphs without edges; None where there are none, or where it is another.

    With tables of zeros the maxima and soft maxima over labellings are those of single nodes, so that both objectives
    have the same value there, and every inference is exact. Projections take edges into account all the same.
    """
    loss, batches, features = objective.loss, [], objective.features
    if loss.homogeneous or not isinstance(loss.penalty, Soft | Larger):
        return None
    for batch in objective.batches:
        alone = objective.features.without_edges(batch.examples)
        if alone is None or loss.needs & ~alone[1].space.can:
            return None
        features = alone[0]
        batches.append(replace(batch, examples=alone[1]))
    return Objective.of(batches, features, loss, objective.regularization, objective.engine, objective.share)


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
