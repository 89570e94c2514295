"""What a run takes over from an earlier one."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from maximand.objective import PENALTY, Objective
from maximand.solvers.base import Result
from maximand.support import Array


def start_weights(objective: Objective, start: Result | None) -> Array:
    """Return a copy of the weights to start from; zeros by default."""
    return np.zeros(objective.n_weights) if start is None else start.weights.copy()


Earlier = TypeVar("Earlier")


def recycled(objective: Objective, start: Result | None, name: str, kind: type[Earlier]) -> Earlier | None:
    """Return the planes that an earlier run has by a name, if they are of the same penalty on the same data."""
    earlier = getattr(getattr(start, "state", None), name, None)
    if isinstance(earlier, kind) and getattr(earlier, "origin", None) == origin(objective):
        return earlier
    return None


def origin(objective: Objective) -> tuple[str, str]:
    """Say what the planes of an objective belong to: its data and its penalty, but not its reward."""
    return objective.token, objective.loss.identities[PENALTY]
