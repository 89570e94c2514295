"""Law: a time limit strikes between chunks, wherever a solver is, and leaves the best iterate so far."""

from dataclasses import replace

import numpy as np
import pytest
from cases import CASES, NAMES, SOLVERS, valid

from maximand.engine import Threads
from maximand.losses import CRF, HINGE, RAMP
from maximand.oracles import Soft
from maximand.passes import OutOfTime, limited, unlimited
from maximand.solvers import CCCP, LBFGS, NSlack, Perceptron, Subgradient

EVERY_SOLVER = {
    **SOLVERS,
    "Perceptron": Perceptron(batch_size=2),
    "CCCP, NSlack": CCCP(inner=NSlack()),
    "CCCP, LBFGS": CCCP(inner=LBFGS()),
}


@pytest.fixture
def clock(monkeypatch):
    """A clock that an oracle's answer on a chunk moves on by one second, and nothing else."""
    now = [0.0]
    for module in ("passes", "solvers.base", "solvers.cccp", "solvers.race", "solvers.smoothing"):
        monkeypatch.setattr(f"maximand.{module}.working_seconds", lambda: now[0])
    answer = Soft.__call__

    def ticking(oracle, *arguments):
        now[0] += 1.0
        return answer(oracle, *arguments)

    monkeypatch.setattr(Soft, "__call__", ticking)
    monkeypatch.setattr("maximand.batch.SMALLEST_CHUNK", 4)
    monkeypatch.setattr("maximand.batch.QUICK", 1)
    monkeypatch.setattr("maximand.batch.CHUNK_PARTS", 16)
    return now


@pytest.mark.parametrize("name", EVERY_SOLVER)
@pytest.mark.parametrize("case", [CASES[NAMES.index(name)] for name in ("choice", "chain")], ids=lambda case: case.name)
def test_a_limit_strikes_between_chunks_and_leaves_the_best_iterate(clock, case, name):
    solver = replace(EVERY_SOLVER[name], tolerance=0.0, max_iterations=10**6)
    tried = 0
    for loss, annotation in ((HINGE, case.full), (CRF, case.full), (RAMP, case.full), (HINGE, case.partial)):
        objective = case.objective(loss, annotation, engine=Threads(1))
        if not valid(solver, objective):
            continue
        tried += 1
        n_chunks = sum(len(lane) for lane in objective.placed[0].lanes)
        assert n_chunks >= 3
        start = objective.value(np.zeros(objective.n_weights))
        began = clock[0]
        replace(solver, max_iterations=1).minimize(objective)
        to_begin = min(clock[0] - began, 8.0 * n_chunks)  # on partial annotations an easier loss comes first
        for limit in (0.5, 1.5 * n_chunks, 4.3 * n_chunks, 200.0 * n_chunks):
            began = clock[0]
            result = replace(solver, max_seconds=limit).minimize(objective)
            closing = to_begin if isinstance(solver, (Subgradient, Perceptron)) else 0.0  # the last epoch is evaluated
            assert clock[0] - began <= max(to_begin, limit + 1.0) + closing
            assert result.converged or result.stop_reason == f"max_seconds={limit:g} was reached"
            assert limit > n_chunks or not result.converged
            assert result.value == pytest.approx(objective.value(result.weights), rel=1e-12)
            assert result.value <= start * (1.0 + 1e-12) or solver.keeps_last
        assert result.value < start or solver.keeps_last  # the last limit left time to learn
    assert tried


def test_limits_are_nested(clock):
    case = CASES[NAMES.index("choice")]
    objective = case.objective(HINGE, engine=Threads(1))
    weights = np.zeros(objective.n_weights)
    with limited(objective, 1.0), limited(objective, 100.0):
        with pytest.raises(OutOfTime):
            objective.value(weights)
        with unlimited(objective):
            objective.value(weights)
        with pytest.raises(OutOfTime):
            objective.value(weights)
    objective.value(weights)
