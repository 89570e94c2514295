"""Model files that older versions wrote, with what they were given and what they answered then."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from maximand import NodesAndEdges

FOLDER = Path(__file__).parent / "data" / "models-0.4.0"
NAMES = sorted(path.stem for path in FOLDER.glob("*.maximand"))


@dataclass(frozen=True)
class Stored:
    """A file, and what its model said of itself and answered for the inputs X."""

    path: Path
    X: Any
    answers: dict[str, Any]
    steps: list[str]
    parameters: dict[str, str]
    stop_reason: str
    iterations: int
    objective: float
    history: int
    shortfall: list[float] | None


def stored(name: str) -> Stored:
    content = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    answers = {method: restored(answer) for method, answer in content.pop("answers").items()}
    return Stored(FOLDER / f"{name}.maximand", restored(content.pop("X")), answers, **content)


def restored(value: Any) -> Any:
    """Return the inputs or answers that write.py made plain."""
    match value:
        case {"graph": parts}:
            return NodesAndEdges(**{name: restored(part) for name, part in parts.items()})
        case {"sparse": [data, indices, indptr, shape]}:
            return csr_array((data, indices, indptr), shape=tuple(shape))
        case {"array": items}:
            return np.array(items)
        case {"objects": items}:
            return np.array(items, dtype=object)
        case {"set": items}:
            return set(items)
        case {"dict": items}:
            return items
        case {"tuple": items}:
            return tuple(map(restored, items))
        case list():
            return [restored(item) for item in value]
    return value
