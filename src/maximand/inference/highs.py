"""What every use of HiGHS here has in common."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
from highspy import HighsModelStatus, HighsStatus

from maximand.support import Array

DUAL, CHOOSE = 1, 0  # simplex strategies
MAXIMIZE = int(highspy.ObjSense.kMaximize)
# Searches inside the search of integer programs, which took more time than they saved.
_WITHOUT = {f"mip_heuristic_run_{name}": False for name in ("rens", "rins", "root_reduced_cost")}
_ANSWERS = (HighsModelStatus.kOptimal, HighsModelStatus.kInfeasible, HighsModelStatus.kTimeLimit)
MOST = 20  # scores are at most 2 ** MOST where they are large, at least 1/2 where they are small


def new_solver() -> Any:
    """Return a solver for one thread, which prints nothing."""
    solver: Any = highspy.Highs()
    set_options(solver, output_flag=False, threads=1, presolve="off", mip_abs_gap=1e-9, **_WITHOUT)
    return solver


def set_options(solver: Any, **options: Any) -> None:
    """Set options of a solver."""
    for name, setting in options.items():
        solver.setOptionValue(name, setting)


def scale_of(scores: Array, least: int = 0) -> float:
    """Return a power of two that brings scores that are small or huge near the tolerances of the solver.

    The largest is at least about 2 ** least then: the larger scores are, the less the tolerances matter.
    """
    exponent = int(np.frexp(np.abs(scores).max(initial=0.0))[1])
    return float(np.ldexp(1.0, min(max(exponent, least), MOST) - exponent))


def run(solver: Any, example: int) -> HighsModelStatus:
    """Solve, and return how that ended; the example is named where it fails."""
    done = solver.run()
    if done == HighsStatus.kError and solver.getModelStatus() == HighsModelStatus.kNotset:
        # HiGHS refuses where this thread ran it with another number of threads before, unless it forgets that.
        solver.resetGlobalScheduler(True)
        done = solver.run()
    status = solver.getModelStatus()
    if status == HighsModelStatus.kUnboundedOrInfeasible:
        return HighsModelStatus.kInfeasible
    if status != HighsModelStatus.kModelEmpty and (done == HighsStatus.kError or status not in _ANSWERS):
        raise RuntimeError(f"HiGHS stopped on example {example}: {solver.modelStatusToString(status)}.")
    return status
