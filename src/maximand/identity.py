"""What tells objects apart: what they hold, arrays by their content, functions by what they do.

The code of installed packages is known by its name. A function of the user's is its code, its defaults, what it
closes over, and the global functions, classes and data that it names; a class of theirs is its methods and constants.
"""

from __future__ import annotations

import dis
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Set
from enum import Enum
from functools import _lru_cache_wrapper
from hashlib import blake2b
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from scipy.sparse import issparse

from maximand.caching import cached_property

PLAIN = type(None), bool, int, float, complex, str, bytes, type(Ellipsis)
FOLDERS = "stdlib", "platstdlib", "purelib", "platlib"
INSTALLED = (*map(sysconfig.get_path, FOLDERS), str(Path(__file__).parent))


def identity(value: Any) -> str:
    """Return a hash that two values share where they hold the same."""
    return Identifier().identity(value)


class Identifier:
    """Finds identities; `unknown` lists the types of what it met and cannot look into, such as a lock."""

    def __init__(self) -> None:
        self.unknown: list[str] = []
        self._known: dict[int, tuple[Any, bytes]] = {}  # with the object, so that no other gets its address
        self._open: list[int] = []

    def identity(self, value: Any) -> str:
        """Return the hash of a value."""
        return _hash("value", [self._of(value)]).hex()

    def _of(self, value: Any) -> bytes:
        if isinstance(value, PLAIN) and type(value) in PLAIN:
            return f"{type(value).__name__} {value!r}".encode("utf-8", "surrogatepass")
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            return _array(value)
        if isinstance(value, (BuiltinFunctionType, ModuleType, np.ufunc)):
            return f"{getattr(value, '__module__', '')} {value.__name__}".encode()
        if id(value) in self._open:  # it holds itself
            return f"outer {len(self._open) - self._open.index(id(value))}".encode()
        if id(value) not in self._known:
            self._open.append(id(value))
            try:
                self._known[id(value)] = value, _hash(type(value).__name__, self._parts(value))
            finally:
                self._open.pop()
        return self._known[id(value)][1]

    def _parts(self, value: Any) -> Iterator[bytes]:
        """Yield what a value is made of."""
        if isinstance(value, Mapping):
            yield from sorted(_hash("item", [self._of(key), self._of(item)]) for key, item in value.items())
        elif isinstance(value, Set):
            yield from sorted(map(self._of, value))
        elif isinstance(value, (list, tuple)):
            yield from map(self._of, value)
        elif isinstance(value, np.ndarray):
            yield from map(self._of, (value.shape, value.ravel().tolist()))
        elif issparse(value):
            entries = value.tocsr() if value.format != "csr" else value
            yield from map(self._of, (value.format, value.shape, entries.indptr, entries.indices, entries.data))
        elif isinstance(value, type):
            yield from self._of_class(value)
        elif isinstance(value, CodeType):
            yield value.co_code
            yield from map(self._of, (value.co_names, value.co_varnames, value.co_freevars, value.co_consts))
        elif isinstance(value, FunctionType):
            yield from self._of_function(value)
        elif isinstance(value, MethodType):
            yield from map(self._of, (value.__func__, value.__self__))
        elif isinstance(value, Enum):
            yield from map(self._of, (type(value), value.name))
        elif isinstance(getattr(value, "py_func", None), FunctionType):  # compiled by numba
            yield self._of(value.py_func)
        elif isinstance(value, _lru_cache_wrapper):  # it keeps answers, which follow from the rest
            yield self._of(value.__wrapped__)
        else:
            yield from self._of_object(value)

    def _of_function(self, function: FunctionType) -> Iterator[bytes]:
        yield from map(
            self._of, (function.__qualname__, function.__defaults__, function.__kwdefaults__, vars(function))
        )
        for cell in function.__closure__ or ():
            try:
                yield self._of(cell.cell_contents)
            except ValueError:  # not yet set
                yield b"empty"
        if _installed(function.__code__.co_filename):
            yield self._of(function.__module__)
            return
        yield self._of(function.__code__)
        for name in sorted(_globals(function.__code__)):
            if name in function.__globals__:
                yield self._of(name)
                yield from self._of_global(function.__globals__[name], function.__code__)

    def _of_global(self, value: Any, code: CodeType) -> Iterator[bytes]:
        """Yield what tells a global from others; of a module of the user's, what has a name that the code uses."""
        yield self._of(value)
        if isinstance(value, ModuleType) and not _installed(getattr(value, "__file__", None) or INSTALLED[0]):
            for name in sorted(_names(code) & vars(value).keys()):
                yield from map(self._of, (name, vars(value)[name]))

    def _of_class(self, kind: type) -> Iterator[bytes]:
        yield from map(self._of, (kind.__module__, kind.__qualname__))
        if _installed(_file_of(kind)):
            return
        yield from (self._of(base) for base in kind.__bases__)
        for name, value in sorted(vars(kind).items()):
            held = getattr(value, "__func__", getattr(value, "func", value))  # of static, class and cached ones
            if isinstance(held, property):
                held = held.fget, held.fset, held.fdel
            if isinstance(held, FunctionType) or not name.startswith(("__", "_abc_")):
                yield from map(self._of, (name, held))

    def _of_object(self, value: Any) -> Iterator[bytes]:
        """Yield what an object holds, as it would be pickled; what is cached follows from the rest."""
        kind = type(value)
        try:
            reduced = value.__reduce_ex__(2)
        except Exception:
            self.unknown.append(kind.__name__)
            yield from map(self._of, (kind, repr(value)))
            return
        if isinstance(reduced, str):
            yield from map(self._of, (kind, reduced))
            return
        for part in reduced:
            if isinstance(part, Iterator):
                yield self._of(list(part))
            else:
                yield self._of(own_values(kind, part) if isinstance(part, dict) else part)


def own_values(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an object of some kind but for cached ones, which follow from the rest."""
    return {name: value for name, value in values.items() if not isinstance(_attribute(kind, name), cached_property)}


def _attribute(kind: type, name: Any) -> Any:
    return getattr(kind, name, None) if isinstance(name, str) else None


def _hash(kind: str, parts: Any) -> bytes:
    digest = blake2b(kind.encode(), digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


def _array(array: np.ndarray) -> bytes:
    digest = blake2b(f"array {array.dtype.descr} {array.shape}".encode(), digest_size=16)
    if array.size:
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.digest()


def _globals(code: CodeType) -> set[str]:
    """Return the global names that a function and those inside it use."""
    own = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return own.union(*(_globals(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _names(code: CodeType) -> set[str]:
    """Return all names that a function and those inside it use."""
    return set(code.co_names).union(*(_names(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _file_of(kind: type) -> str:
    module = sys.modules.get(kind.__module__)
    return getattr(module, "__file__", None) or ("" if kind.__module__ == "__main__" else INSTALLED[0])


def _installed(file: str) -> bool:
    return file.startswith(INSTALLED)
