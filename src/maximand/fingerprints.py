"""What tells problems apart, part by part."""

from __future__ import annotations

from typing import Any

from maximand.identity import Identifier, own_values
from maximand.objective import Objective


def fingerprint(objective: Objective, solver: Any, start: Any = None) -> dict[str, str]:
    """Return a hash of each part of a problem, by what it is called; functions of the user's are parts of their own.

    The weights that training starts from are a part where the objective is not convex. A part that cannot be identified
    has the name of the type that prevents it after a question mark.
    """
    batches = objective.batches
    outputs = [own_values(type(batch.space), vars(batch.space)) for batch in batches]
    functions = sorted({name for held in outputs for name, value in held.items() if callable(value)})
    parts = {
        "inputs": [batch.examples.inputs for batch in batches],
        "annotations": [batch.annotation for batch in batches],
        "cost": [batch.cost for batch in batches],
        "sample_weight": [batch.weight for batch in batches],
        "features": objective.features,
        "loss": objective.loss,
        "regularization": objective.regularization,
        "solver": solver,
        **({} if start is None or objective.convex else {"start": start.weights}),
        **{name.strip("_"): [held.get(name) for held in outputs] for name in functions},
        "space of outputs": [
            (type(batch.space), {name: value for name, value in held.items() if name not in functions})
            for batch, held in zip(batches, outputs, strict=True)
        ],
    }
    return {name: _hash(part) for name, part in parts.items()}


def _hash(part: Any) -> str:
    found = Identifier()
    known = found.identity(part)
    return f"?{found.unknown[0]}" if found.unknown else known
