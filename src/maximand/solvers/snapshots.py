"""What it takes to go on with an interrupted run, as plain values and arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def snapshot(state: Any) -> dict[str, Any]:
    """Return the `saved` attributes of an object, those of objects among them likewise."""
    return {name: _plain(getattr(state, name)) for name in state.saved}


def _plain(value: Any) -> Any:
    if hasattr(value, "saved"):
        return snapshot(value)
    return value.bit_generator.state if isinstance(value, np.random.Generator) else value


def restore(state: Any, values: Mapping[str, Any]) -> None:
    """Set the `saved` attributes of an object that was made for the same problem."""
    for name in state.saved:
        present = getattr(state, name)
        if hasattr(present, "saved") and values[name] is not None:
            restore(present, values[name])
        elif isinstance(present, np.random.Generator):
            present.bit_generator.state = values[name]
        else:
            setattr(state, name, values[name])
