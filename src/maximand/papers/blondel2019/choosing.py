"""The strength of regularisation, chosen on validation data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from maximand.estimators import regularization_path
from maximand.papers.endings import ending
from maximand.support import Ints

Losses = Callable[[Any, Any, Any], dict[str, float]]  # of a model on inputs and outputs, by name
Fitted = Callable[[Any, Any, list[float]], list[Any]]  # a model for each strength
Splits = Iterable[tuple[Ints, Ints]]


def strengths(count: int, weakest: float = 1e-6, strongest: float = 1.0) -> list[float]:
    """Return strengths that are evenly spaced in logarithms, the strongest first."""
    return [float(f"{value:.3g}") for value in np.geomspace(strongest, weakest, count)]


def validated(
    fitted: Fitted, X: Any, Y: Any, regularizations: list[float], splits: Splits, losses: Losses
) -> dict[str, dict[float, float]]:
    """Return the mean loss over the validation parts, by name and strength."""
    found: dict[str, dict[float, list[float]]] = {}
    for train, validation in splits:
        for strength, model in zip(regularizations, fitted(X[train], Y[train], regularizations), strict=True):
            for name, loss in losses(model, X[validation], Y[validation]).items():
                found.setdefault(name, {}).setdefault(strength, []).append(loss)
    return {
        name: {strength: float(np.mean(values)) for strength, values in tried.items()} for name, tried in found.items()
    }


def path(estimator: Any, X: Any, Y: Any, regularizations: list[float]) -> list[Any]:
    """Return a fitted model for each strength."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the result says how runs ended
        return regularization_path(estimator, X, Y, regularizations)


def best(tried: dict[float, float]) -> float:
    """Return the strength of the least loss, of equals the strongest."""
    return min(tried, key=lambda strength: (tried[strength], -strength))


def brief(model: Any) -> dict[str, Any]:
    """Return how the training of one of several models ended."""
    found = ending(model)
    return {key: found[key] for key in ("objective", "gap", "iterations", "stop_reason", "converged")}


def shown(tried: dict[float, float]) -> dict[str, float]:
    """Return the losses by strengths as they are written down."""
    return {f"{strength:g}": round(loss, 4) for strength, loss in tried.items()}
