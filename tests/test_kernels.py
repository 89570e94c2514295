"""Functions without an entry for Python are called by kernels alone: anything else would end the process."""

import ast
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[1]
NUMERICS = ROOT / "src" / "maximand" / "numerics"
COMPILED = {"njit", "jit", "inner"}


def decorators(function):
    """Return the names of what decorates a function."""
    calls = (decorator.func if isinstance(decorator, ast.Call) else decorator for decorator in function.decorator_list)
    return {getattr(call, "attr", getattr(call, "id", None)) for call in calls}


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


INNER = {
    (f"maximand.numerics.{path.stem}", function.name)
    for path in NUMERICS.glob("*.py")
    for function in functions(ast.parse(path.read_text(encoding="utf-8")))
    if "inner" in decorators(function)
}


def misused(source, module=""):
    """Return the uses of such functions outside of compiled ones."""
    tree = ast.parse(source)
    known = {name for where, name in INNER if where == module}
    modules = {where.rpartition(".")[2] for where, _ in INNER}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            known |= {alias.asname or alias.name for alias in node.names if (node.module, alias.name) in INNER}
    inside = {
        id(part) for function in functions(tree) if COMPILED & decorators(function) for part in ast.walk(function)
    }
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if id(node) not in inside
        and (
            (isinstance(node, ast.Name) and node.id in known)
            or (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in modules
                and (f"maximand.numerics.{node.value.id}", node.attr) in INNER
            )
        )
    ]


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks"])
def test_kernels_alone_call_what_python_cannot(folder):
    assert len(INNER) > 20
    for path in sorted((ROOT / folder).rglob("*.py")):
        module = f"maximand.numerics.{path.stem}" if path.parent == NUMERICS else ""
        assert misused(path.read_text(encoding="utf-8"), module) == [], path


def test_other_calls_are_seen():
    source = """
        from maximand.numerics import stencils
        from maximand.numerics.stencils import add_stencils as add

        @njit(cache=True)
        def fine(a):
            add(a)

        def wrong(a):
            add(a)
            stencils.write_stencils(a)
    """
    assert misused(dedent(source)) == ["add", "stencils.write_stencils"]
    assert misused("_reduce(1)", "maximand.numerics.transport_euclidean") == ["_reduce"]
