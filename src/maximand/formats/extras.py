"""Packages of the extra "tracking", loaded when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(package: str) -> Any:
    """Import networkx, geff or tifffile."""
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(f"This needs {package}; install it with: pip install 'maximand[tracking]'") from error
