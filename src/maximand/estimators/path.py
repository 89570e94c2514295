"""The strength of regularisation: a path of models, and its choice by validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import is_dataclass, replace
from inspect import Parameter, signature
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maximand.estimators.frozen import Freezable
from maximand.estimators.predictor import StructuredPredictor
from maximand.estimators.scoring import NothingKnown
from maximand.solvers import Result
from maximand.solvers.base import INTERRUPTED
from maximand.support import Array
from maximand.tasks.base import checked_weight

STRATIFIED = (RepeatedStratifiedKFold, StratifiedGroupKFold, StratifiedKFold, StratifiedShuffleSplit)


def regularization_path(
    estimator: StructuredPredictor, X: Any, y: Any, regularizations: Iterable[float], **fit_parameters: Any
) -> list[Any]:
    """Return a fitted copy of the estimator for each strength, in the order given.

    Each is what a fit at its strength alone would be. They are fitted from the strongest regularisation to the weakest,
    where the objective is convex each from the weights of the one before, which saves time. Ctrl-C ends the path.
    """
    _check_estimator(estimator)
    strengths = [float(strength) for strength in regularizations]
    fitted: dict[int, StructuredPredictor] = {}
    start = None
    for place in sorted(range(len(strengths)), key=lambda i: -strengths[i]):
        model = clone(estimator).set_params(regularization=strengths[place])
        model._start = start
        fitted[place] = model.fit(X, y, **fit_parameters)
        model._start = None
        if model.stop_reason_ == INTERRUPTED:
            raise KeyboardInterrupt
        start = Result.start(model.weights_)
    return [fitted[place] for place in range(len(strengths))]


def _check_estimator(estimator: Any) -> None:
    if not isinstance(estimator, StructuredPredictor):
        kind = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise ValueError(
            f"The estimator is a {kind}; give one of maximand's own, such as LabelRanker(), and put it into a pipeline "
            "from outside: make_pipeline(StandardScaler(), RegularizationCV(LabelRanker()))."
        )


def _delegated(name: str) -> Any:
    """Say whether the estimator, fitted or not, has a method."""

    def check(self: RegularizationCV) -> bool:
        getattr(getattr(self, "best_estimator_", self.estimator), name)
        return True

    return check


class RegularizationCV(Freezable, MetaEstimatorMixin, BaseEstimator):
    """Chooses the regularisation of an estimator by cross-validation, along a path for each fold.

    The models that are scored are fitted as the one that is returned, see `regularization_path`.
    Labels that a fold lacks are no obstacle: every fold is fitted with the classes of all of y.

    Parameters
    ----------
    estimator : StructuredPredictor
        Any estimator of this library.
    regularizations : array or None
        The strengths to try; None for ten from 1e-6 to 10, evenly spaced in logarithms.
    cv : int, splitter or iterable
        As in scikit-learn.
    scoring : str, callable or None
        As in scikit-learn; None for the estimator's own score. A callable that takes no sample_weight is called
        without.
    n_jobs : int or None
        Processes to run folds on.

    Attributes
    ----------
    best_estimator_ : fitted on all data with the best strength
    regularization_, best_score_ : float
    scores_ : array (strength, fold)
        Without folds in which all test examples weigh 0, or nothing of them is known.
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

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Score every strength on every fold, take the best (of equals the strongest) and fit it on all data.

        groups is for splitters that keep the examples of a group together.
        """
        _check_estimator(self.estimator)
        strengths = np.logspace(-6, 1, 10) if self.regularizations is None else np.asarray(self.regularizations, float)
        if strengths.ndim != 1 or not strengths.size or not ((strengths > 0) & np.isfinite(strengths)).all():
            raise ValueError(f"regularizations is {self.regularizations!r}; give positive numbers.")
        if isinstance(self.scoring, (dict, list, set, tuple)):
            raise ValueError(f"scoring is {self.scoring!r}; give a single score, to choose by.")
        scorer = check_scoring(self.estimator, self.scoring)
        estimator = _with_all_classes(self.estimator, X, y)
        X, y = indexable(X, y)
        n_examples = X.shape[0] if hasattr(X, "shape") else len(X)
        weight = checked_weight(sample_weight, n_examples)
        columns = Parallel(n_jobs=self.n_jobs)(
            delayed(_scores)(estimator, X, y, weight, strengths, scorer, *fold)
            for fold in self._folds(n_examples, y, groups, weight)
        )
        telling = [column for column in columns if column is not None]
        if not telling:
            raise ValueError(
                "No fold has anything known to test on; use other folds, such as cv=KFold(5, shuffle=True)."
            )
        self.scores_: Array = np.array(telling).T
        means = self.scores_.mean(axis=1)
        if np.isnan(means).all():
            raise ValueError("Every strength scores NaN on some fold; check scoring, or use fewer folds.")
        best = max(range(strengths.size), key=lambda i: (np.nan_to_num(means[i], nan=-np.inf), strengths[i]))
        self.regularization_, self.best_score_ = float(strengths[best]), float(means[best])
        chosen = clone(self.estimator).set_params(regularization=self.regularization_)
        self.best_estimator_ = chosen.fit(X, y, **_named(weight))
        return self

    def _folds(self, n_examples: int, y: Any, groups: Any, weight: Array | None) -> list[tuple[Any, Any]]:
        """Return training and test examples of the folds in which some test example counts."""
        labels = y if _plain(y) else None
        splitter = check_cv(self.cv, labels, classifier=is_classifier(self.estimator))
        if labels is None and isinstance(splitter, STRATIFIED):
            raise ValueError(
                f"{type(splitter).__name__} needs one known label for each row to split by, and y holds others; use "
                "cv=KFold(5, shuffle=True), or a number of folds."
            )
        folds = list(splitter.split(np.zeros(n_examples), labels, groups))
        if weight is None:
            return folds
        for i, (train, _) in enumerate(folds):
            if not weight[train].any():
                raise ValueError(f"All examples that fold {i} trains on weigh 0; use other folds.")
        folds = [(train, test) for train, test in folds if weight[test].any()]
        if not folds:
            raise ValueError("All examples that the folds test on weigh 0; use other folds.")
        return folds

    @property
    def _best(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    @property
    def classes_(self) -> Any:
        """Those of the best estimator."""
        return self._best.classes_

    @property
    def n_features_in_(self) -> int:
        """That of the best estimator."""
        return self._best.n_features_in_

    @property
    def feature_names_in_(self) -> Any:
        """Those of the best estimator."""
        return self._best.feature_names_in_

    def predict(self, X: Any, **options: Any) -> Any:
        """Predict with the best estimator, which takes the options."""
        return self._best.predict(X, **options)

    def decision_function(self, X: Any) -> Any:
        """Return the scores of the best estimator."""
        return self._best.decision_function(X)

    @available_if(_delegated("predict_soft"))
    def predict_soft(self, X: Any) -> Any:
        """Return the means of the best estimator."""
        return self._best.predict_soft(X)

    @available_if(_delegated("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the best estimator."""
        return self._best.predict_proba(X)

    @available_if(_delegated("predict_positions"))
    def predict_positions(self, X: Any) -> Any:
        """Return the positions of labels by the best estimator."""
        return self._best.predict_positions(X)

    def costs(self, X: Any, y: Any) -> Array:
        """Return the cost of the prediction for each example, by the best estimator."""
        return self._best.costs(X, y)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the best estimator."""
        return _score(check_scoring(self._best, self.scoring), self._best, X, y, sample_weight)


def _with_all_classes(estimator: StructuredPredictor, X: Any, y: Any) -> StructuredPredictor:
    """Return a copy that knows the classes of all of y, where there are such; what is wrong with the data is said."""
    whole, known = clone(estimator), clone(estimator)
    bound = whole._bind(X, y)[1]
    if hasattr(known, "classes"):
        return known.set_params(classes=bound.all_classes)
    task: Any = known.task
    if is_dataclass(task) and hasattr(task, "classes"):
        return known.set_params(task=replace(task, classes=bound.all_classes))  # type: ignore[type-var]
    return known


def _plain(y: Any) -> bool:
    """Whether labels can be stratified by: single known ones, one for each row."""
    try:
        array = np.asarray(y)
    except ValueError:
        return False
    if array.ndim != 1:
        return False
    if array.dtype == object:
        return all(isinstance(label, str) for label in array)
    return array.dtype.kind in "biuUS" or (array.dtype.kind == "f" and not np.isnan(array).any())


def _scores(
    estimator: Any, X: Any, y: Any, weight: Array | None, strengths: Array, scorer: Any, train: Any, test: Any
) -> list[float] | None:
    """Return the score of every strength on a fold; None where nothing is known of its test examples."""

    def of(examples: Any) -> tuple[Any, Any, Array | None]:
        return _safe_indexing(X, examples), _safe_indexing(y, examples), None if weight is None else weight[examples]

    X_train, y_train, train_weight = of(train)
    models = regularization_path(estimator, X_train, y_train, strengths, **_named(train_weight))
    try:
        return [_score(scorer, model, *of(test)) for model in models]
    except NothingKnown:
        return None


def _score(scorer: Any, model: Any, X: Any, y: Any, weight: Any) -> float:
    """Ask a scorer; without weights where it, or the metric inside of it, takes none."""
    takes = signature(getattr(scorer, "_score_func", scorer)).parameters.values()
    weighted = any(taken.name == "sample_weight" or taken.kind is Parameter.VAR_KEYWORD for taken in takes)
    return float(scorer(model, X, y, **_named(weight if weighted else None)))


def _named(weight: Any) -> dict[str, Any]:
    return {} if weight is None else {"sample_weight": weight}
