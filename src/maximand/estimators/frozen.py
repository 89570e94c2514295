"""Fitted models as they were at one moment, to be asked again and again with little delay."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy, deepcopy
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maximand.decoding import MaxScore
from maximand.tasks import WindowVectorizer


class Freezable:
    """A model that can be frozen."""

    def predictor(self) -> FrozenPredictor:
        """Return what predicts as this model does now, for services: with little delay, from several threads at once.

        It does not change with the model. See `FrozenPredictor`, which also freezes pipelines.
        """
        return FrozenPredictor(self)


def _delegated(name: str) -> Callable[[Any], bool]:
    """Say whether the frozen estimator has a method; raise its reason where it has not."""

    def check(frozen: FrozenPredictor) -> bool:
        getattr(frozen._estimator, name)
        return True

    return check


class FrozenPredictor:
    """Answers what a fitted model answers, and goes on to do so whatever becomes of the model.

    It is what `model.predictor()` returns, for services: what predictions read is laid out once, and several threads
    may ask at the same time. The model is an estimator of this library, a search for its parameters, or a Pipeline that
    ends with one of these. Its methods are those of the model: `predict`, `decision_function` and, where the model has
    them, `predict_proba`, `predict_soft`, `predict_k_best` and `predict_positions`.
    """

    def __init__(self, model: Any):
        from sklearn.pipeline import Pipeline  # slow to import

        model = _chosen(model)
        steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
        estimator = _chosen(steps.pop())
        if not isinstance(estimator, Freezable):
            raise ValueError(
                f"The model ends with a {type(estimator).__name__}; only estimators of this library can be frozen."
            )
        self._transformers = [_frozen_step(step) for step in steps if step not in (None, "passthrough")]
        self._estimator = _frozen(estimator)
        self._quick = _quick(self._estimator)

    def __reduce__(self) -> Any:
        from sklearn.pipeline import make_pipeline

        return FrozenPredictor, (make_pipeline(*self._transformers, self._estimator),)

    def _transformed(self, X: Any) -> Any:
        for step in self._transformers:
            X = step.transform(X)
        return X

    def _ask(self, name: str, X: Any, options: dict[str, Any]) -> Any:
        return getattr(self._estimator, name)(self._transformed(X), **options)

    def predict(self, X: Any, **options: Any) -> Any:
        """Return the predicted outputs."""
        X = self._transformed(X)
        found = None if self._quick is None or options else self._quick(X)
        return self._estimator.predict(X, **options) if found is None else found

    def decision_function(self, X: Any, **options: Any) -> Any:
        """Return the scores of the parts."""
        return self._ask("decision_function", X, options)

    @available_if(_delegated("predict_soft"))
    def predict_soft(self, X: Any) -> Any:
        """Return the means that the loss makes of the scores."""
        return self._ask("predict_soft", X, {})

    @available_if(_delegated("predict_proba"))
    def predict_proba(self, X: Any, **options: Any) -> Any:
        """Return the probabilities of the parts."""
        return self._ask("predict_proba", X, options)

    @available_if(_delegated("predict_k_best"))
    def predict_k_best(self, X: Any, k: int, **options: Any) -> Any:
        """Return the k best outputs of each example with their scores."""
        return self._ask("predict_k_best", X, {"k": k, **options})

    @available_if(_delegated("predict_positions"))
    def predict_positions(self, X: Any) -> Any:
        """Return the positions of labels."""
        return self._ask("predict_positions", X, {})


def _chosen(model: Any) -> Any:
    """Return the best estimator of a fitted search; any other model itself."""
    return getattr(model, "best_estimator_", model)


def _frozen_step(step: Any) -> Any:
    """Return a transformer that nothing changes any more."""
    return step.frozen() if isinstance(step, WindowVectorizer) else deepcopy(step)


def _frozen(estimator: Any) -> Any:
    """Return a copy with weights of its own, expanded. Training replaces the rest, and changes none of it in place."""
    check_is_fitted(estimator, "weights_")
    twin, task = copy(estimator), copy(estimator.task_)
    vars(task).update({name: copy(value) for name, value in vars(task).items()})
    twin.task_ = task
    twin.weights_ = np.array(task.features.expand(estimator.weights_))
    return twin


def _quick(frozen: Any) -> Callable[[Any], Any] | None:
    """Return what predicts for few examples, where that is the best output; classes of users may answer otherwise."""
    decoder = frozen._chosen_decoder(frozen.task_.cost)
    plain = type(decoder) is MaxScore and decoder.inference is None and not hasattr(frozen, "feature_names_in_")
    if not plain or not type(frozen).__module__.startswith("maximand."):
        return None
    found: Callable[[Any], Any] | None = frozen.task_.quick(frozen.weights_)
    return found
