"""The protocol of callbacks: that of scikit-learn's `sklearn.callback.FitCallback`.

Our callbacks work on scikit-learn's estimators and its callbacks on ours. Ours get more from our estimators: the
metadata of each iteration hold its `record` and the `run` (see `maximand.solvers.base`).
"""

from __future__ import annotations

import os
import warnings
from typing import Any


class Callback:
    """Does nothing; override what you need. A hook asks for X, y, metadata or fitted_estimator by naming them."""

    def setup(self, estimator: Any, context: Any) -> None:
        """Called before the fit."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Called at the beginning of the fit and of each iteration."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool | None:
        """Called at the end of each iteration and of the fit; returning True at an iteration stops the fit."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Called after the fit, whether it succeeded or not."""


def last_record(metadata: Any) -> Any:
    """Return the record of the iteration that the metadata belong to; None where there is none."""
    return metadata.get("record") if isinstance(metadata, dict) else None


def warn_unwritten(path: str | os.PathLike[str], error: OSError) -> None:
    """Warn that a file of a callback could not be written; a fit is worth more than the file."""
    warnings.warn(
        f"{os.fspath(path)} could not be written ({error.strerror or error}); the fit goes on without it.",
        UserWarning,
        stacklevel=2,
    )
