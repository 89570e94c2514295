"""Made-up tables with rankings of labels."""

from __future__ import annotations

import numpy as np

from maximand.support import Array, Ints


def simulate_rankings(
    n_rows: int, rng: np.random.Generator, n_labels: int = 5, n_features: int = 8, noise: float = 1.0
) -> tuple[Array, Ints]:
    """Return rows of normal numbers and for each the labels 0, 1, ... in order, the best first.

    The labels are ordered by linear functions of the row, drawn at random, plus noise: how close two of them are says
    how sure their order is.
    """
    X = rng.normal(size=(n_rows, n_features))
    scores = X @ rng.normal(size=(n_features, n_labels)) + noise * rng.normal(size=(n_rows, n_labels))
    return X, np.argsort(-scores, axis=1, kind="stable")
