"""What files of format 1 (up to version 0.4.0) called things that have other names now."""

from __future__ import annotations

from typing import Any

ATTRIBUTES = {"meaning_": "guarantee_text_"}


def translated(header: dict[str, Any]) -> dict[str, Any]:
    """Return the header of a file of format 1 in present names; what is damaged stays for others to find."""
    steps = header.get("steps")
    if not isinstance(steps, list):
        return header
    return header | {"steps": [_step(step) for step in steps]}


def _step(step: Any) -> Any:
    match step:
        case [name, {"fitted": dict(fitted), **rest}]:
            return [name, rest | {"fitted": {ATTRIBUTES.get(key, key): value for key, value in fitted.items()}}]
    return step
