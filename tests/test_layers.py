"""A file may import only from its own layer or lower ones, in whatever form and wherever in the file."""

import ast
import re
from pathlib import Path
from textwrap import dedent

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "maximand"
LAYERS = {
    "lazy": 0, "caching": 0, "version": 0, "compiling": 0, "identity": 0, "orders": 0,
    "support": 0, "numerics": 0, "layout": 0, "capabilities": 0, "states": 0, "lineage": 0,
    "tracking_scores": 1, "formats": 1, "files": 1, "inference": 1, "spaces": 2, "costs": 3,
    "oracles": 3, "one_versus_all": 3, "targets": 3, "sets": 3, "features": 3, "losses": 4, "decoding": 4,
    "engine": 4, "answers": 5, "batch": 5, "passes": 5, "shards": 5, "objective": 5, "fingerprints": 5, "solvers": 6,
    "callbacks": 7, "tasks": 7, "estimators": 8, "checks": 8, "datasets": 8, "cards": 9, "models": 10, "__init__": 10,
    "papers": 11, "plots": 11, "report": 11, "cli": 12, "__main__": 12,
}  # fmt: skip
CARD_MODULES = {path.stem for path in SOURCE.glob("estimators/*/*.py") if path.stem not in ("estimator", "__init__")}
MODULE_NAME = re.compile(r"maximand(\.\w+)+")


def imported(source, package):
    """Return the dotted names that a file of a package imports, each up to what it names: a module or a member of one.

    Names handed to importlib count; where they are not written out in the call, all names of modules that stand in
    the file do.
    """
    tree = ast.parse(source)
    importers = {"import_module", "__import__"}
    names, hidden = [], False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolved("." * node.level + (node.module or ""), package)
            names += [f"{base}.{alias.name}" for alias in node.names]
            importers |= {alias.asname for alias in node.names if alias.name == "import_module" and alias.asname}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) in importers:
            if node.args and isinstance(node.args[0], ast.Constant):
                names.append(resolved(node.args[0].value, package))
            else:
                hidden = True
    strings = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return names + [text for text in strings if hidden and MODULE_NAME.fullmatch(text)]


def called(call):
    """The last name of what is called: `import_module` of importlib.import_module(...)."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)


def resolved(name, package):
    """Return a name with leading dots as seen from a package."""
    level = len(name) - len(name.lstrip("."))
    if not level:
        return name
    parents = package.split(".")
    return ".".join([*parents[: len(parents) - level + 1], *filter(None, [name[level:]])])


def layer_of(name):
    """The layer of a dotted name: that of a module, or that of the public names."""
    inner = name.split(".")[1:] or ["__init__"]
    return layer(inner) if inner[0] in LAYERS else LAYERS["__init__"]


def layer(inner):
    """The layer of a module; in the folder of an estimator, all but the estimator belongs to its card."""
    of_card = inner[0] == "estimators" and len(inner) > 2 and inner[2] in CARD_MODULES
    return LAYERS["cards" if of_card else inner[0]]


def violations(source, package, own):
    return [name for name in imported(source, package) if name.split(".")[0] == "maximand" and layer_of(name) > own]


def test_imports_point_downwards():
    found = 0
    for path in [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.pyi")]:
        inner, source = path.relative_to(SOURCE).with_suffix("").parts, path.read_text()
        package = ".".join(["maximand", *inner[:-1]])
        found += sum(name.startswith("maximand.") for name in imported(source, package))
        assert not violations(source, package, layer(inner)), path
    assert found > 500


def test_every_module_has_a_layer():
    assert {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()} == set(
        LAYERS
    )


FORMS = {
    "import maximand.solvers": "maximand.solvers",
    "import numpy, maximand.solvers.cccp as c": "maximand.solvers.cccp",
    "from maximand import solvers": "maximand.solvers",
    "from maximand.solvers import CCCP": "maximand.solvers.CCCP",
    "from maximand.solvers.cccp import *": "maximand.solvers.cccp.*",
    "from . import chain": "maximand.spaces.chain",
    "from .chain import Chain": "maximand.spaces.chain.Chain",
    "from .. import solvers": "maximand.solvers",
    "from ..solvers.base import Solver": "maximand.solvers.base.Solver",
    "if TYPE_CHECKING:\n    from maximand.solvers import Solver": "maximand.solvers.Solver",
    "def late():\n    from maximand import solvers": "maximand.solvers",
    "try:\n    import maximand.solvers\nexcept ImportError:\n    pass": "maximand.solvers",
    "importlib.import_module('maximand.solvers')": "maximand.solvers",
    "import_module('..solvers', __package__)": "maximand.solvers",
    "from importlib import import_module as load\nload('maximand.solvers')": "maximand.solvers",
    "__import__('maximand.solvers')": "maximand.solvers",
    "PLACES = {'CCCP': 'maximand.solvers'}\ndef f(x):\n    return import_module(PLACES[x])": "maximand.solvers",
}


@pytest.mark.parametrize("source", FORMS, ids=[source.replace("\n", " ") for source in FORMS])
def test_every_form_of_import_is_seen(source):
    package = "maximand.spaces"
    assert FORMS[source] in imported(source, package)
    if "solvers" in source:
        assert violations(source, package, LAYERS["spaces"]) == [FORMS[source]]
        assert not violations(source, package, LAYERS["solvers"])


def test_what_is_no_import_of_the_package_is_not_seen():
    source = dedent("""
        import numpy as np
        from importlib import import_module
        from maximandx.solvers import CCCP
        import_module("json")
        KIND = "maximand.solvers"
    """)
    assert not [name for name in imported(source, "maximand.spaces") if name.split(".")[0] == "maximand"]


def test_public_names_are_above_what_they_stand_for():
    assert violations("from maximand import CCCP", "maximand.tasks", LAYERS["tasks"]) == ["maximand.CCCP"]
    assert violations("import maximand", "maximand.tasks", LAYERS["tasks"]) == ["maximand"]
    assert not violations("from maximand import __version__", "maximand.cli", LAYERS["cli"])
