"""One safetensors file: arrays, and a JSON header that says what they belong to."""

from __future__ import annotations

import json
import os
import sys
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from maximand.files.errors import ModelFileError
from maximand.files.format1 import translated

FORMAT = 2
LARGEST_HEADER = 100_000_000  # bytes; safetensors itself allows no more
LARGEST_FILE = 1 << 34

SEAL = '{{"checksum": "{}", '  # how the text of a header begins

Source = str | os.PathLike[str] | bytes | BinaryIO


def to_bytes(kind: str, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """Return the content of a file of some kind."""
    text = json.dumps({"format": FORMAT, "kind": kind, "library": version("maximand"), **header}, allow_nan=False)
    return bytes(save_arrays(arrays, metadata={"maximand": SEAL.format(checksum(text, arrays)) + text[1:]}))


def checksum(text: str, arrays: dict[str, np.ndarray]) -> str:
    """Return a hash of a header and the arrays."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode("utf-8", "surrogatepass"))
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def read(source: Source, largest: int = LARGEST_FILE) -> bytes:
    """Return the bytes of a path ("-" for standard input), of an open file, or as given; at most `largest`."""
    if isinstance(source, bytes):
        content = source
    elif hasattr(source, "read"):
        content = source.read(largest + 1)
    elif os.fspath(source) == "-":
        content = sys.stdin.buffer.read(largest + 1)
    else:
        path = Path(source)
        if path.is_char_device():
            raise ModelFileError(f"{path} is a device; give a file.")
        if path.is_file() and path.stat().st_size > largest:
            raise ModelFileError(f"{path} has {path.stat().st_size:,} bytes, more than the limit of {largest:,}.")
        content = path.read_bytes()
    if len(content) > largest:
        raise ModelFileError(f"The file has more than the limit of {largest:,} bytes.")
    return content


def from_bytes(content: bytes, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return header and arrays of a file of some kind."""
    text, header = _header(content)
    if header.get("kind") != kind:
        raise ModelFileError(f"This is a maximand file of the kind {header.get('kind')!r}, not a {kind}.")
    try:
        arrays = load_arrays(content)
        sealed = header.pop("checksum", None)
        seal = SEAL.format(sealed)
        sound = text.startswith(seal) and sealed == checksum("{" + text[len(seal) :], arrays)
    except (SafetensorError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise ModelFileError(f"The arrays of the file are damaged: {error}.") from None
    if not sound and (header["format"] > 1 or sealed is not None):  # format 1 had none
        raise ModelFileError("The file is damaged: it does not have the checksum that was written with it.")
    return translated(header) if header["format"] == 1 else header, arrays


def _header(content: bytes) -> tuple[str, dict[str, Any]]:
    """Return the header as it is written, and what it says."""
    size = int.from_bytes(content[:8], "little")
    if len(content) < 8 or size > len(content) - 8 or size > LARGEST_HEADER:
        raise ModelFileError("This is no maximand file, or only a part of one.")
    try:
        text = json.loads(content[8 : 8 + size])["__metadata__"]["maximand"]
        header = json.loads(text)
        written = header["format"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        raise ModelFileError("This is no maximand file, or its header is damaged.") from None
    if type(written) is not int or written < 1:
        raise ModelFileError("This is no maximand file, or its header is damaged.")
    if written > FORMAT:
        raise ModelFileError(
            f"The file was written by maximand {header.get('library')} in format {written}; this version reads formats "
            f"up to {FORMAT}. Upgrade maximand to read it."
        )
    return text, header
