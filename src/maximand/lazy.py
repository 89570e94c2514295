"""Packages whose names are imported when they are first used.

The names of such a package stand in the stub `__init__.pyi` beside its `__init__.py`, as plain imports: type checkers
and editors read them there, and so does this module. `from package import *` stands for all names of another stub. A
package is then no slower to import than what is used of it.
"""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def names_of_stub(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of the package whose `__init__.py` is this file."""
    module_of = _modules(Path(file).with_suffix(".pyi"), Path(file).parents[package.count(".") + 1])

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)  # the next time it is simply there
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *module_of})

    return get, names, [name for name in module_of if not name.startswith("_")]


def _modules(stub: Path, root: Path) -> dict[str, str]:
    """Return the modules that the names of a stub come from; packages are folders below the root."""
    found: dict[str, str] = {}
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            module = str(node.module)
            for alias in node.names:
                own = (
                    _modules(root.joinpath(*module.split("."), "__init__.pyi"), root)
                    if alias.name == "*"
                    else [alias.name]
                )
                found.update(dict.fromkeys(own, module))
    return found
