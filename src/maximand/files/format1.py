"""What files of format 1 (up to version 0.4.0) called things that have other names or other parts now."""

from __future__ import annotations

from typing import Any

ATTRIBUTES = {"meaning_": "guarantee_text_"}
FIELDS = {"ChainFeatures": {"pairs": "between", "start": "first", "end": "last"}}


def translated(header: dict[str, Any]) -> dict[str, Any]:
    """Return the header of a file of format 1 in present names; what is damaged stays for others to find."""
    steps = header.get("steps")
    if not isinstance(steps, list):
        return header
    return header | {"steps": [_step(step) for step in steps]}


def _step(step: Any) -> Any:
    match step:
        case [name, {"fitted": dict(fitted), "parameters": dict(parameters), **rest}]:
            fitted = {ATTRIBUTES.get(key, key): _value(tree) for key, tree in fitted.items()}
            return [name, rest | {"fitted": fitted, "parameters": _values(parameters)}]
    return step


def _value(tree: Any) -> Any:
    """Return the tree of a value: the nodes of graphs had one type, without a name; perceptrons had rules for steps."""
    match tree:
        case {"object": ["BoundGraphs", dict(fields)]}:
            return {"object": ["BoundGraphs", _values(fields) | {"types": {"tuple": []}}]}
        case {
            "object": [
                "GraphFeatures",
                {"node": node, "pattern": pattern, "n_tables": n, "n_table_features": d, **more},
            ]
        }:
            own = {"pattern": pattern, "n_tables": n, "n_features": d, "ends": {"tuple": [0, 0]}}
            tables = {"tuple": [{"object": ["TableWeights", own]}]}
            return {"object": ["GraphFeatures", {"nodes": {"tuple": [node]}, "tables": tables, **more}]}
        case {"object": ["Perceptron", {"steps": _, **more}]}:
            return {"object": ["Perceptron", _values(more)]}
        case {"object": [str(name), dict(fields)]}:
            names = FIELDS.get(name, {})
            return {"object": [name, {names.get(field, field): value for field, value in _values(fields).items()}]}
    return tree


def _values(fields: dict[Any, Any]) -> dict[Any, Any]:
    return {name: _value(tree) for name, tree in fields.items()}
