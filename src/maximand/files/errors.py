"""What goes wrong with files."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A file that cannot be written or read as a model or checkpoint, with the reason."""
