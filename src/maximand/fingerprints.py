"""Hashes that tell problems apart."""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.sparse import issparse

from maximand.objective import Objective


def fingerprint(objective: Objective, *more: Any) -> str:
    """Return a hash of the data, the space, the features, the loss, the regularisation, and what else is given."""
    digest = blake2b(digest_size=16)
    for value in (objective.batches, objective.features, objective.loss, objective.regularization, *more):
        _feed(digest, value)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    """Add a value to a hash: arrays by their bytes, objects by their class and what they hold."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).view(np.uint8).data if value.size else b"")
    elif issparse(value):
        for part in (value.indptr, value.indices, value.data):
            _feed(digest, part)
    elif isinstance(value, (list, tuple, np.ndarray)):
        for item in value:
            _feed(digest, item)
    elif callable(value) and hasattr(value, "__qualname__"):
        digest.update(f"{value.__module__}.{value.__qualname__}".encode())
    elif hasattr(value, "__dict__") and not isinstance(value, Enum):
        digest.update(type(value).__name__.encode())
        for name, item in sorted(vars(value).items()):
            if not isinstance(getattr(type(value), name, None), cached_property):  # it follows from the rest
                digest.update(name.encode())
                _feed(digest, item)
    else:
        digest.update(repr(value).encode())
