"""A file may import only from its own layer or lower ones."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "maximand"
LAYERS = {
    "lazy": 0, "version": 0, "compiling": 0,
    "support": 0, "numerics": 0, "layout": 0, "formats": 1, "files": 1, "inference": 1, "spaces": 2, "costs": 3,
    "oracles": 3, "sets": 3, "features": 3, "losses": 4, "decoding": 4,
    "engine": 4, "batch": 5, "objective": 5, "solvers": 6, "callbacks": 7, "tasks": 7,
    "estimators": 8, "checks": 8, "datasets": 8, "cards": 9, "models": 10, "__init__": 10, "papers": 11, "plots": 11,
    "report": 11, "cli": 12, "__main__": 12,
}  # fmt: skip


def layer(parts):
    """Return the layer of a module; in the folder of an estimator, all but the estimator belongs to its card."""
    of_card = parts[0] == "estimators" and len(parts) > 2 and parts[2] not in ("estimator", "__init__")
    return LAYERS["cards" if of_card else parts[0]]


def test_imports_point_downwards():
    found = 0
    for path in [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.pyi")]:
        own = layer(path.relative_to(SOURCE).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("maximand."):
                found += 1
                assert layer(node.module.split(".")[1:]) <= own, f"{path} imports {node.module}"
    assert found > 50
