"""The strength of regularisation: a path of models, each begun where the last ended, and its choice by validation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maximand.estimators.predictor import StructuredPredictor
from maximand.solvers import Result
from maximand.support import Array


def regularization_path(
    estimator: StructuredPredictor, X: Any, y: Any, regularizations: Iterable[float], **fit_parameters: Any
) -> list[Any]:
    """Return a fitted copy of the estimator for each strength, in the order given.

    They are fitted from the strongest regularisation to the weakest, each from the weights of the one before.
    """
    strengths = [float(strength) for strength in regularizations]
    fitted: dict[int, StructuredPredictor] = {}
    start = None
    for place in sorted(range(len(strengths)), key=lambda i: -strengths[i]):
        model = clone(estimator).set_params(regularization=strengths[place])
        model._start = start
        fitted[place] = model.fit(X, y, **fit_parameters)
        model._start = None
        start = Result(model.weights_, model.objective_, None, False, False, "")
    return [fitted[place] for place in range(len(strengths))]


def _delegated(name: str) -> Any:
    """Say whether the estimator, fitted or not, has a method."""

    def check(self: RegularizationCV) -> bool:
        getattr(getattr(self, "best_estimator_", self.estimator), name)
        return True

    return check


class RegularizationCV(MetaEstimatorMixin, BaseEstimator):
    """Chooses the regularisation of an estimator by cross-validation, with warm starts along the path.

    Parameters
    ----------
    estimator : StructuredPredictor
        Any estimator of this library.
    regularizations : array or None
        The strengths to try; None for ten from 1e-6 to 10, evenly spaced in logarithms.
    cv : int, splitter or iterable
        As in scikit-learn.
    scoring : str, callable or None
        As in scikit-learn; None for the estimator's own score.
    n_jobs : int or None
        Processes to run folds on.

    Attributes
    ----------
    best_estimator_ : fitted on all data with the best strength
    regularization_, best_score_ : float
    scores_ : array (strength, fold)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        regularizations: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.regularizations = regularizations
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Score every strength on every fold, take the best (of equals the strongest) and fit it on all data."""
        strengths = np.logspace(-6, 1, 10) if self.regularizations is None else np.asarray(self.regularizations, float)
        if strengths.ndim != 1 or not strengths.size or not (strengths > 0).all():
            raise ValueError(f"regularizations is {self.regularizations!r}; give positive numbers.")
        scorer = check_scoring(self.estimator, self.scoring)
        splitter = check_cv(self.cv, y if _plain(y) else None, classifier=is_classifier(self.estimator))
        rows = np.zeros(X.shape[0] if hasattr(X, "shape") else len(X))
        folds = list(splitter.split(rows, y if _plain(y) else None))
        columns = Parallel(n_jobs=self.n_jobs)(
            delayed(_scores)(self.estimator, X, y, sample_weight, strengths, scorer, *fold) for fold in folds
        )
        self.scores_: Array = np.array(columns).T
        means = self.scores_.mean(axis=1)
        best = max(range(strengths.size), key=lambda i: (means[i], strengths[i]))
        self.regularization_, self.best_score_ = float(strengths[best]), float(means[best])
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.best_estimator_ = (
            clone(self.estimator).set_params(regularization=self.regularization_).fit(X, y, **weights)
        )
        return self

    @property
    def classes_(self) -> Any:
        """Those of the best estimator."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.classes_

    def predict(self, X: Any) -> Any:
        """Predict with the best estimator."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    @available_if(_delegated("predict_soft"))
    def predict_soft(self, X: Any) -> Any:
        """Return the means of the best estimator."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_soft(X)

    @available_if(_delegated("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the best estimator."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the best estimator."""
        check_is_fitted(self, "best_estimator_")
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if self.scoring is not None:
            return float(check_scoring(self.best_estimator_, self.scoring)(self.best_estimator_, X, y, **weights))
        return float(self.best_estimator_.score(X, y, **weights))


def _plain(y: Any) -> bool:
    """Whether labels can be stratified by: single ones, one for each row."""
    try:
        array = np.asarray(y)
    except ValueError:
        return False
    return array.ndim == 1 and array.dtype.kind in "biufUS"


def _scores(
    estimator: Any, X: Any, y: Any, weight: Any, strengths: Array, scorer: Any, train: Any, test: Any
) -> list[float]:
    """Return the score of every strength on a fold."""
    own = {} if weight is None else {"sample_weight": np.asarray(weight)[train]}
    models = regularization_path(estimator, _safe_indexing(X, train), _safe_indexing(y, train), strengths, **own)
    own = {} if weight is None else {"sample_weight": np.asarray(weight)[test]}
    return [scorer(model, _safe_indexing(X, test), _safe_indexing(y, test), **own) for model in models]
