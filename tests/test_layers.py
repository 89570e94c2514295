"""A file may import only from its own layer or lower ones."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "maximand"
LAYERS = {
    "support": 0, "numerics": 0, "layout": 0, "formats": 1, "files": 1, "inference": 1, "spaces": 2, "costs": 3,
    "oracles": 3, "sets": 3, "features": 3, "losses": 4, "decoding": 4,
    "engine": 4, "batch": 5, "objective": 5, "solvers": 6, "callbacks": 7, "tasks": 7,
    "estimators": 8, "checks": 8, "datasets": 8, "models": 9, "__init__": 9, "papers": 10, "plots": 10, "report": 10,
    "cli": 11, "__main__": 11,
}  # fmt: skip


def module_of(path):
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def test_imports_point_downwards():
    found = 0
    for path in SOURCE.rglob("*.py"):
        own = LAYERS[module_of(path)]
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("maximand."):
                found += 1
                assert LAYERS[node.module.split(".")[1]] <= own, f"{path} imports {node.module}"
    assert found > 50
