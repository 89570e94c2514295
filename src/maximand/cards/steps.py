"""The steps of a model: those of a pipeline, or the estimator alone."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler


def first_step(model: Any) -> Any:
    """Return the first step of a pipeline; any other model itself."""
    return model[0] if isinstance(model, Pipeline) else model


def predictor_of(model: Any) -> Any:
    """Return the last step of a pipeline; any other model itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def transformed(model: Any, X: Any) -> Any:
    """Return inputs as the last step sees them."""
    return model[:-1].transform(X) if isinstance(model, Pipeline) else X


def scaled(predictor: Any, scale: bool) -> Any:
    """Put a scaler of columns before an estimator, where asked for."""
    return make_pipeline(MaxAbsScaler(), predictor) if scale else predictor
