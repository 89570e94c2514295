"""Law: a run that was interrupted and resumed ends like one that was not, bit by bit."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from cases import CASES, HIDDEN_CASES, SOLVERS

from maximand.callbacks.checkpoint import CLASSES
from maximand.files.container import from_bytes, to_bytes
from maximand.files.packing import Packer, Unpacker
from maximand.losses import CRF, EUCLIDEAN, HINGE, RAMP, marginal
from maximand.solvers import CCCP, LBFGS, NSlack, Perceptron, Subgradient
from maximand.solvers.restarts import Restarts
from maximand.solvers.snapshots import snapshot
from thinning import EVERYTHING, cover

LOSSES = [HINGE, RAMP, EUCLIDEAN, *([CRF] if EVERYTHING else [])]
ASKED = [*product(CASES, LOSSES), *product(HIDDEN_CASES, [HINGE, CRF, marginal(), marginal(0.3, 0.7)])]
ALL_SOLVERS = {
    **SOLVERS,
    "Perceptron": Perceptron(batch_size=2),
    "CCCP, NSlack": CCCP(inner=NSlack(), max_iterations=10),
    "CCCP, LBFGS": CCCP(inner=LBFGS(), max_iterations=10),
    "Restarts": Restarts(inner=Subgradient(), n_attempts=3),
    "Restarts, CCCP": Restarts(inner=CCCP(), n_attempts=2),
}


def through_a_file(run):
    packer = Packer(CLASSES)
    header, arrays = from_bytes(
        to_bytes("checkpoint", {"run": packer.pack(snapshot(run), "run")}, packer.arrays), "checkpoint"
    )
    return Unpacker(CLASSES, arrays).unpack(header["run"])


def fits(solver, objective):
    try:
        solver.check(objective)
        if isinstance(solver, CCCP) and solver.inner is not None:
            solver.inner.check(objective.annotated())
    except ValueError:
        return False
    return True


def runs():
    """Every case with every loss and each solver that is valid for it; thinned, every kind of case with each solver."""
    found = [
        (case, loss, name)
        for case, loss in ASKED
        if case.answers(loss)
        for objective in [case.objective(loss)]
        for name, solver in ALL_SOLVERS.items()
        if fits(solver, objective)
    ]
    for case, loss, name in cover(found, lambda run: {run[0].name, (run[0].kind, run[2]), (run[1].name, run[2])}):
        yield pytest.param(case, loss, ALL_SOLVERS[name], id=f"{case.name}, {loss.name}, {name}")


@pytest.mark.parametrize(("case", "loss", "solver"), list(runs()))
def test_resumed_runs_end_in_the_same_bits(case, loss, solver):
    solver = replace(solver, max_iterations=6, tolerance=1e-9)
    objective = case.objective(loss)
    snapshots = []
    whole = solver.minimize(objective, callback=lambda record, run: snapshots.append(through_a_file(run)))
    assert snapshots
    for taken in snapshots[:-1]:
        fresh = case.objective(loss)
        resumed = solver.minimize(fresh, resume=taken)
        np.testing.assert_array_equal(resumed.weights, whole.weights)
        assert resumed.value == whole.value
        assert resumed.gap == whole.gap
        assert [r.value for r in resumed.history] == [r.value for r in whole.history]
        assert [r.oracle_calls for r in resumed.history] == [r.oracle_calls for r in whole.history]
