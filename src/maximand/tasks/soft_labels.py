"""Tables of shares of labels: one-hot, or label proportions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from maximand.support import Array
from maximand.tasks.label_names import is_frame


def is_soft(Y: Any) -> bool:
    """Whether this is a table with a column for each of several labels."""
    if not (issparse(Y) or is_frame(Y) or isinstance(Y, np.ndarray)):
        Y = np.asarray(Y[0]) if isinstance(Y, list) and Y and isinstance(Y[0], (list, tuple, np.ndarray)) else None
        return Y is not None and Y.ndim == 1 and Y.size > 1 and Y.dtype.kind in "biuf"
    return Y.ndim == 2 and Y.shape[1] > 1


def labels_of_columns(Y: Any) -> list[Any]:
    """Return the columns of a data frame, or else 0, 1, ..."""
    if is_frame(Y):
        return list(Y.columns)
    return list(range(Y.shape[1] if hasattr(Y, "shape") else len(Y[0])))


def shares_of(Y: Any, classes: np.ndarray) -> Array:
    """Return the share of each class in each row; the columns of a data frame are found by name where they have any."""
    if is_frame(Y) and set(Y.columns) == set(classes.tolist()):
        Y = Y[classes.tolist()]
    try:
        shares = np.asarray(csr_array(Y).toarray() if issparse(Y) else Y, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("y is a table, but not of numbers; give the share of each label in each row.") from None
    if shares.shape[1] != classes.size:
        raise ValueError(f"y has {shares.shape[1]} columns but there are {classes.size} labels; each needs one.")
    wrong = np.flatnonzero(~((shares >= 0).all(axis=1) & (np.abs(shares.sum(axis=1) - 1) <= 1e-6)))
    if wrong.size:
        raise ValueError(
            f"y[{wrong[0]}] is {shares[wrong[0]].tolist()}; the shares of labels are not negative and sum to 1. For "
            "sets of labels use MultilabelClassifier()."
        )
    return shares
