"""Stopping when a validation set says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maximand.callbacks.base import Callback, last_record


class EarlyStopping(Callback):
    """Stops when `patience` evaluations in a row did not improve the score on held-out data, and keeps the best.

    scoring is a function of (estimator, X, y); None for the estimator's own score. `every` is the number of iterations
    between evaluations. `scores` holds what was seen, as pairs of iteration and score.
    """

    def __init__(
        self, X: Any, y: Any, patience: int = 5, every: int = 1, scoring: Callable[[Any, Any, Any], float] | None = None
    ):
        self.X, self.y, self.patience, self.every, self.scoring = X, y, patience, every, scoring
        self.scores: list[tuple[int, float]] = []

    def setup(self, estimator: Any, context: Any) -> None:
        """Forget an earlier fit."""
        self.scores, self._best, self._weights, self._value, self._failures = [], -np.inf, None, np.inf, 0

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, metadata: Any = None, fitted_estimator: Any = None
    ) -> bool:
        """Evaluate; say whether it was in vain for too long."""
        record = last_record(metadata)
        if record is None or fitted_estimator is None or record.iteration % self.every:
            return False
        scoring = self.scoring or (lambda model, X, y: model.score(X, y))
        score = float(scoring(fitted_estimator, self.X, self.y))
        self.scores.append((record.iteration, score))
        if score > self._best:
            self._best, self._weights, self._value, self._failures = score, fitted_estimator.weights_, record.value, 0
        else:
            self._failures += 1
        return self._failures >= self.patience

    def teardown(self, estimator: Any, context: Any) -> None:
        """Leave the weights that scored best, and say so."""
        if self._weights is not None and hasattr(estimator, "weights_"):
            estimator.weights_, estimator.objective_ = self._weights, self._value
            estimator.gap_, estimator.gap_is_certificate_ = None, False
            estimator.stop_reason_ += "; these are the weights that scored best on the held-out data"
        self._weights = None
