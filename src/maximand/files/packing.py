"""Objects as a tree of plain JSON values, with the arrays on the side.

Plain values stand for themselves; anything else is a mapping with a single key that says what it is. Only classes on
a list are written and read, so a file cannot name code to be run.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

import numpy as np
from sklearn.feature_extraction import DictVectorizer, FeatureHasher

from maximand.files.errors import ModelFileError

NUMBERS = "biuf"
SPARE = 1 << 24  # bytes
MANY = 16  # mappings of more names to 0, 1, ... are kept as text


class Packer:
    """Turns objects into a tree and collects their arrays."""

    def __init__(self, allowed: Iterable[type]):
        self.allowed = frozenset(allowed)
        self.arrays: dict[str, np.ndarray] = {}

    def pack(self, value: Any, place: str) -> Any:
        """Return the tree of a value; `place` names it in errors."""
        match value:
            case None | bool() | int() | str():
                return int(value) if isinstance(value, Enum) else value
            case float():
                return float(value) if math.isfinite(value) else {"float": str(float(value))}
            case np.generic():
                return {"scalar": [value.dtype.str, self.pack(value.item(), place)]}
            case np.ndarray():
                return self._array(value, place)
            case list():
                return [self.pack(item, f"{place}[{i}]") for i, item in enumerate(value)]
            case tuple():
                return {"tuple": [self.pack(item, f"{place}[{i}]") for i, item in enumerate(value)]}
            case set() | frozenset():
                kind = "set" if isinstance(value, set) else "frozenset"
                return {kind: [self.pack(item, place) for item in sorted(value, key=repr)]}
            case dict() if len(value) > MANY and all(
                type(k) is str and v == i for i, (k, v) in enumerate(value.items())
            ):
                return {"vocabulary": self._text(list(value))}
            case Mapping():
                return {"dict": [[self.pack(k, place), self.pack(v, f"{place}[{k!r}]")] for k, v in value.items()]}
            case DictVectorizer() if type(value) is DictVectorizer:
                return {"vectorizer": self._vectorizer(value, place)}
        if type(value) not in self.allowed:
            raise ModelFileError(
                f"{place} is {type(value).__name__}, which a model file cannot hold: files hold nothing that runs."
            )
        if isinstance(value, Enum):
            return {"member": [type(value).__name__, value.name]}
        fields = {name: self.pack(getattr(value, name), f"{place}.{name}") for name in fields_of(type(value))}
        return {"object": [type(value).__name__, fields]}

    def _array(self, array: np.ndarray, place: str) -> Any:
        if array.dtype.kind in NUMBERS and array.dtype != np.longdouble:
            return {"array": self._keep(array)}
        if array.dtype.kind == "U":
            strings = array.ravel().tolist()
            check_lengths(strings, place)
            return {"strings": [list(array.shape), self._text(strings)]}
        if array.dtype.kind == "O" and array.ndim == 1:
            return {"objects": [self.pack(item, f"{place}[{i}]") for i, item in enumerate(array.tolist())]}
        raise ModelFileError(f"{place} is an array of type {array.dtype}, which a model file cannot hold.")

    def _keep(self, array: np.ndarray) -> str:
        name = f"{len(self.arrays)}"
        self.arrays[name] = np.array(array, order="C", dtype=array.dtype.newbyteorder("="))
        return name

    def _text(self, strings: list[str]) -> list[str]:
        """Keep strings as one array of bytes and one of lengths: short and fast to read, however many there are."""
        encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
        lengths = np.array([len(string) for string in encoded], dtype=np.int64)
        return [self._keep(np.frombuffer(b"".join(encoded), dtype=np.uint8)), self._keep(lengths)]

    def _vectorizer(self, vectorizer: DictVectorizer, place: str) -> Any:
        settings = {name: getattr(vectorizer, name) for name in ("separator", "sparse", "sort")}
        names = getattr(vectorizer, "feature_names_", None)  # none before it is fitted
        return [self.pack(settings, place), None if names is None else self._text(names)]


class Unpacker:
    """Turns a tree back into objects; anything unexpected is an error. It takes memory in proportion to the file."""

    def __init__(self, allowed: Iterable[type], arrays: Mapping[str, np.ndarray]):
        self.classes = {kind.__name__: kind for kind in allowed}
        self.arrays = dict(arrays)

    def unpack(self, tree: Any) -> Any:
        """Return the value of a tree."""
        if tree is None or isinstance(tree, (bool, int, float, str)):
            return tree
        if isinstance(tree, list):
            return [self.unpack(item) for item in tree]
        if not isinstance(tree, dict) or len(tree) != 1:
            raise ModelFileError("a value is not of a known form")
        [(kind, content)] = tree.items()
        reader = getattr(self, f"_read_{kind}", None)
        if reader is None:
            raise ModelFileError(f"a value is of the unknown kind {kind!r}")
        return reader(content)

    def _read_float(self, text: Any) -> float:
        if text not in ("nan", "inf", "-inf"):
            raise ModelFileError("a number is not of a known form")
        return float(text)

    def _read_scalar(self, content: Any) -> Any:
        kind, value = content
        if np.dtype(kind).kind not in NUMBERS + "U":
            raise ModelFileError(f"a number has the unknown type {kind!r}")
        return np.dtype(kind).type(self.unpack(value))

    def _read_array(self, name: Any) -> np.ndarray:
        return self._taken(name)

    def _taken(self, name: Any) -> np.ndarray:
        """Return an array; each belongs to one place, so that a small file cannot name a large one many times."""
        if not isinstance(name, str) or name not in self.arrays:
            raise ModelFileError(f"there is no array {name!r}, or another place has it")
        return self.arrays.pop(name)

    def _read_strings(self, content: Any) -> np.ndarray:
        shape, names = content
        strings = self._text(names)
        check_lengths(strings, "an array")
        return np.array(strings, dtype=np.str_).reshape(shape)

    def _read_objects(self, items: Any) -> np.ndarray:
        array = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            array[i] = self.unpack(item)
        return array

    def _read_tuple(self, items: Any) -> tuple[Any, ...]:
        return tuple(self.unpack(item) for item in items)

    def _read_set(self, items: Any) -> set[Any]:
        return {self.unpack(item) for item in items}

    def _read_frozenset(self, items: Any) -> frozenset[Any]:
        return frozenset(self._read_set(items))

    def _read_dict(self, items: Any) -> dict[Any, Any]:
        return {self.unpack(key): self.unpack(value) for key, value in items}

    def _read_vocabulary(self, text: Any) -> dict[str, int]:
        names = self._text(text)
        columns = {name: column for column, name in enumerate(names)}
        if len(columns) != len(names):
            raise ModelFileError("it names a feature more than once")
        return columns

    def _read_member(self, content: Any) -> Any:
        kind, name = content
        found = self._class(kind)
        if not issubclass(found, Enum):
            raise ModelFileError(f"{kind} has no members")
        return found[name]

    def _read_object(self, content: Any) -> Any:
        name, fields = content
        kind = self._class(name)
        if issubclass(kind, Enum) or not isinstance(fields, dict) or not _complete(set(fields), kind):
            raise ModelFileError(f"{name} does not have the fields it should")
        return kind(**{field: self.unpack(value) for field, value in fields.items()})

    def _read_vectorizer(self, content: Any) -> DictVectorizer:
        settings, names = content
        vectorizer = DictVectorizer(**self.unpack(settings))
        if names is None:
            return vectorizer
        vectorizer.vocabulary_ = self._read_vocabulary(names)
        vectorizer.feature_names_ = list(vectorizer.vocabulary_)
        return vectorizer

    def _class(self, name: Any) -> type:
        if name not in self.classes:
            raise ModelFileError(f"it names the class {name!r}, which is not allowed in files")
        return self.classes[name]

    def _text(self, names: Any) -> list[str]:
        content, lengths = map(self._taken, names)
        if content.dtype != np.uint8 or lengths.dtype != np.int64 or content.ndim != 1 or lengths.ndim != 1:
            raise ModelFileError("text is not stored as bytes and lengths")
        if (lengths < 0).any() or (lengths > content.size).any() or lengths.sum() != content.size:
            raise ModelFileError("the lengths of its texts do not add up")
        data, ends = content.tobytes(), np.cumsum(lengths).tolist()
        starts = [0, *ends[:-1]]
        return [data[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=True)]


def check_lengths(strings: list[str], place: str) -> None:
    """Refuse strings whose array, in which each has the room of the longest, would take far more memory than a file."""
    lengths = [len(string) for string in strings]
    if 4 * max(lengths, default=0) * len(strings) > SPARE + 64 * (sum(lengths) + len(strings)):
        raise ModelFileError(f"{place} holds a text of {max(lengths):,} letters among short ones; shorten it")


def fields_of(kind: type) -> list[str]:
    """Return the names of what a class is built from: those it lists as `packed`, or the fields of a dataclass."""
    if hasattr(kind, "packed"):
        return list(kind.packed)
    if issubclass(kind, FeatureHasher):
        return ["n_features", "input_type", "alternate_sign"]
    return [field.name for field in dataclasses.fields(kind) if field.init]


def _complete(names: set[str], kind: type) -> bool:
    """Whether these fields make an object: an older file lacks those that came later, which have their defaults."""
    known = set(fields_of(kind))
    if not names <= known:
        return False
    parameters = inspect.signature(kind).parameters
    return all(parameters[name].default is not inspect.Parameter.empty for name in known - names)
