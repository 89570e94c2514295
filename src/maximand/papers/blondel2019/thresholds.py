"""Threshold models of ordered levels, as present-day packages have them: peers to compare with.

One linear score for all levels, and increasing thresholds between neighbours; a row is at the level given by the number
of thresholds below its score. Each threshold is a logistic regression that tells the levels below it from those above:
all of them have a say in the loss of a row, or only the two next to its level.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from sklearn.base import BaseEstimator

from maximand.support import Array, Ints


class ThresholdClassifier(BaseEstimator):
    """Levels 1, ..., n_levels; `every` says whether all thresholds count or only those next to the level of a row.

    Minimises regularization / 2 |w|^2 plus the mean logistic loss; thresholds are not regularised.
    """

    gap_, gap_is_certificate_, guarantee_text_ = None, False, "no gap is known"

    def __init__(self, n_levels: int, every: bool = True, regularization: float = 1e-3, max_iterations: int = 500):
        self.n_levels = n_levels
        self.every = every
        self.regularization = regularization
        self.max_iterations = max_iterations

    def fit(self, X: Array, y: Ints) -> Self:
        """Learn weights and thresholds; steps between thresholds are bounded below by zero."""
        n, d = X.shape
        number = np.arange(1, self.n_levels)
        sides = np.where(y[:, None] <= number, 1.0, -1.0)  # +1: the threshold should be above the score
        counts = np.ones_like(sides) if self.every else (np.abs(y[:, None] - number - 0.5) < 1.0).astype(float)

        def objective(parameters: Array) -> tuple[float, Array]:
            weights, thresholds = parameters[:d], np.cumsum(parameters[d:])
            margins = sides * (thresholds - (X @ weights)[:, None])
            slopes = -counts * sides * expit(-margins) / n
            value = -float((counts * log_expit(margins)).sum()) / n + self.regularization / 2 * weights @ weights
            by_weight = self.regularization * weights - X.T @ slopes.sum(axis=1)
            by_step = np.cumsum(slopes.sum(axis=0)[::-1])[::-1]
            return value, np.concatenate([by_weight, by_step])

        start = np.concatenate([np.zeros(d), [1.0 - self.n_levels / 2], np.ones(self.n_levels - 2)])
        bounds = [(None, None)] * (d + 1) + [(0.0, None)] * (self.n_levels - 2)
        options = {"maxiter": self.max_iterations, "maxfun": 10 * self.max_iterations}
        found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        self.weights_, self.thresholds_ = found.x[:d], np.cumsum(found.x[d:])
        self.objective_, self.n_iter_ = float(found.fun), int(found.nit)
        limit = f"max_iterations={self.max_iterations} was reached"
        self.stop_reason_ = str(found.message) if found.success else limit
        return self

    def predict(self, X: Array) -> Ints:
        """Count the thresholds below the score."""
        return 1 + (self.thresholds_ < (X @ self.weights_)[:, None]).sum(axis=1)
