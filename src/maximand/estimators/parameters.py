"""The parameters that all estimators share: declared, checked and made options of the command line once."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np

from maximand.solvers import Solver


def _optional(default: Any, flag: str, kind: type, help: str | None = None) -> Any:
    """Return a field with a default that is also an option of the command line."""
    return field(default=default, metadata={"flag": flag, "kind": kind, "help": help})


@dataclass(kw_only=True, eq=False, repr=False)
class TrainingParameters:
    """How to minimise the objective; `StructuredPredictor` says what each parameter means.

    An estimator declares its own parameters as fields of a dataclass, `@dataclass(kw_only=True, eq=False, repr=False)`:
    its constructor then takes these and the shared ones by keyword, and keeps them as they are.
    """

    solver: str | Solver = "auto"
    regularization: float = _optional(1e-4, "--regularization", float, "next to the mean loss of a row, token or node")
    tolerance: float | None = _optional(None, "--tolerance", float, "of the gap, as a share of the objective")
    max_iterations: int = _optional(1000, "--max-iterations", int)
    max_seconds: float = _optional(np.inf, "--max-seconds", float)
    n_threads: int | None = _optional(
        None, "--threads", int, "default: one for each core; the model does not depend on it"
    )

    def _check_training(self) -> None:
        if not (_number(self.regularization, Real) and 0 < self.regularization < np.inf):
            raise ValueError(f"regularization is {self.regularization!r}; it must be positive.")
        if not (isinstance(self.solver, Solver) or (isinstance(self.solver, str) and self.solver == "auto")):
            raise ValueError(f"solver is {self.solver!r}; give 'auto' or a Solver such as OneSlack().")
        if self.tolerance is not None and not (_number(self.tolerance, Real) and self.tolerance >= 0):
            raise ValueError(f"tolerance is {self.tolerance!r}; give a number that is not negative, or None.")
        if not (_number(self.max_iterations, Integral) and self.max_iterations >= 1):
            raise ValueError(f"max_iterations is {self.max_iterations!r}; give a whole number, at least 1.")
        if not (_number(self.max_seconds, Real) and self.max_seconds > 0):
            raise ValueError(f"max_seconds is {self.max_seconds!r}; give a positive number, numpy.inf for no limit.")
        if self.n_threads is not None and not (_number(self.n_threads, Integral) and self.n_threads >= 1):
            raise ValueError(
                f"n_threads is {self.n_threads!r}; give a whole number, at least 1, or None for one per core."
            )


def _number(value: Any, kind: type) -> bool:
    """Whether this is a number of a kind; True and False are none."""
    return isinstance(value, kind) and not isinstance(value, bool)


def check_target(estimator: Any, Y: Any, name: str) -> None:
    """Refuse to learn from inputs alone."""
    if Y is None:
        raise ValueError(f"{type(estimator).__name__} requires {name} to be passed, but the target {name} is None.")
