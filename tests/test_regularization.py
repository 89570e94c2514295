"""Paths of regularisation and the choice of its strength."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, dia_array
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maximand import (
    GraphLabeler,
    LabelRanker,
    MulticlassClassifier,
    MulticlassTask,
    MultilabelClassifier,
    OracleTask,
    OrdinalClassifier,
    RegularizationCV,
    SequenceTagger,
    StructuredPredictor,
    regularization_path,
)
from maximand.solvers.base import Solver

STRENGTHS = [1.0, 1e-2]


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(60, 3))


@pytest.fixture(scope="module")
def levels(X):
    return np.digitize(X[:, 0] + 0.3 * np.random.default_rng(1).normal(size=60), [-0.5, 0.5])


def choice(estimator, **settings):
    return RegularizationCV(estimator, regularizations=STRENGTHS, **{"cv": KFold(3), **settings})


def rare(labels):
    """Labels with one more that occurs in the last row only."""
    return [*labels[:-1], "rare"]


def test_classes_that_a_fold_lacks(X, levels):
    names = np.array(["a", "b", "c"])[levels]
    order = ["a", "b", "c", "rare"]
    for estimator in (
        OrdinalClassifier(classes=order),
        MulticlassClassifier(),
        MulticlassClassifier(classes=order[::-1]),
    ):
        for y in (np.array(rare(names)), rare(names.tolist())):
            model = choice(estimator).fit(X, y)
            assert model.scores_.shape == (2, 3) and np.isfinite(model.scores_).all()
            assert sorted(model.classes_) == order
            assert model.best_estimator_.classes == estimator.classes
    model = choice(StructuredPredictor(MulticlassTask())).fit(X, np.array(rare(names)))
    assert model.classes_.tolist() == order and model.best_estimator_.task.classes is None
    rankings = [["a", "b"] if level else ["b", "a"] for level in levels]
    rankings[-1] = ["rare", "a", "b"]
    assert choice(LabelRanker()).fit(X, rankings).classes_.tolist() == ["a", "b", "rare"]
    sets = [{"a", "rare"} if i == 59 else {"a"} if level else {"b"} for i, level in enumerate(levels)]
    assert choice(MultilabelClassifier()).fit(X, sets).predict(X[:1])[0] <= {"a", "b", "rare"}


def test_tags_that_a_fold_lacks(X, levels):
    sequences = X.reshape(20, 3, 3)
    tags = np.array(rare(np.array(["a", "b", "c"])[levels].tolist())).reshape(20, 3)
    assert choice(SequenceTagger()).fit(list(sequences), list(tags)).classes_.tolist() == ["a", "b", "c", "rare"]
    graphs = [(nodes, [(0, 1), (1, 2)]) for nodes in sequences]
    assert choice(GraphLabeler()).fit(graphs, list(tags)).classes_.tolist() == ["a", "b", "c", "rare"]


def test_weights_of_classes_that_a_fold_lacks(X, levels):
    y = np.array(rare(np.array(["a", "b", "c"])[levels].tolist()))
    for weight in ("balanced", {"rare": 2.0}, {"a": 2.0, "rare": 3.0}):
        assert np.isfinite(choice(MulticlassClassifier(class_weight=weight)).fit(X, y).best_score_)
    with pytest.raises(ValueError, match="are not in class_weight"):
        MulticlassClassifier(class_weight={"typo": 2.0}).fit(X, y)


def test_indicators_stay_indicators(X, levels):
    Y = np.eye(4, dtype=int)[levels]
    Y[-1] = 0, 0, 0, 1
    for form in (Y, Y.tolist(), csr_array(Y)):
        model = choice(MultilabelClassifier()).fit(X, form)
        assert model.predict(X).shape == (60, 4)
        assert model.classes_.tolist() == [0, 1, 2, 3]


def test_tables_of_any_kind(X, levels):
    class ArrayLike:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return np.array(self.values, dtype=dtype)

    plain = choice(OrdinalClassifier()).fit(X, levels)
    for table, y in (
        (coo_array(X), levels),
        (dia_array(X), levels),
        (ArrayLike(X), ArrayLike(levels)),
        (X.tolist(), levels),
    ):
        model = choice(OrdinalClassifier()).fit(table, y, sample_weight=ArrayLike(np.ones(60)))
        np.testing.assert_allclose(model.scores_, plain.scores_)


def test_tasks_without_classes():
    def best(theta, instance):
        y = np.zeros(len(instance))
        y[theta.argmax()] = 1.0
        return y

    rng = np.random.default_rng(0)
    instances = [rng.normal(size=(4, 3)) for _ in range(12)]
    outputs = [best(instance @ [1.0, -1.0, 0.0], instance) for instance in instances]
    model = choice(StructuredPredictor(OracleTask(best))).fit(instances, outputs)
    assert model.best_score_ > -1.0


def test_bad_data_are_named_by_their_place_in_all_of_them(X, levels):
    y = [None, *levels[1:59], "tall"]
    with pytest.raises(ValueError, match=r"y\[59\] has the unknown label 'tall'"):
        choice(OrdinalClassifier(classes=[0, 1, 2])).fit(X, y)
    for estimator in (OrdinalClassifier(), LabelRanker(), StructuredPredictor(OracleTask(np.asarray))):
        with pytest.raises(ValueError, match=r"requires [yY] to be passed, but the target [yY] is None"):
            choice(estimator).fit(X, None)


def test_nan_is_the_worst_score(X, levels):
    def scoring(model, X, y):
        return np.nan if model.regularization == 1.0 else 0.5

    model = choice(OrdinalClassifier(), scoring=scoring).fit(X, levels)
    assert (model.regularization_, model.best_score_) == (1e-2, 0.5)
    with pytest.raises(ValueError, match="Every strength scores NaN on some fold; check scoring"):
        choice(OrdinalClassifier(), scoring=lambda *_: np.nan).fit(X, levels)
    with pytest.raises(ValueError, match="give a single score, to choose by"):
        choice(OrdinalClassifier(), scoring=["accuracy"]).fit(X, levels)


def test_sample_weights(X, levels):
    weight = np.r_[np.zeros(20), np.ones(40)]
    model = choice(OrdinalClassifier()).fit(X, levels, sample_weight=weight)
    assert model.scores_.shape == (2, 2)  # nothing counts in the first fold
    plain, scalar = (choice(OrdinalClassifier()).fit(X, levels, sample_weight=w) for w in (None, 2.0))
    np.testing.assert_allclose(plain.scores_, scalar.scores_)
    assert plain.score(X, levels, 2.0) == pytest.approx(plain.score(X, levels))
    with pytest.raises(ValueError, match=r"sample_weight\[0\] is -1.0"):
        choice(OrdinalClassifier()).fit(X, levels, sample_weight=-weight + (weight == 0) * -1.0)
    alone = [(np.arange(20), np.arange(20, 60)), (np.arange(40), np.arange(40, 60))]
    with pytest.raises(ValueError, match="All examples that fold 0 trains on weigh 0; use other folds"):
        choice(OrdinalClassifier(), cv=alone).fit(X, levels, sample_weight=weight)
    with pytest.raises(ValueError, match="All examples that the folds test on weigh 0"):
        choice(OrdinalClassifier(), cv=[alone[1][::-1]]).fit(X, levels, sample_weight=1.0 - (np.arange(60) < 40))


def test_scores_that_take_no_weights_are_asked_without(X, levels):
    def exact(model, X, y):
        return np.mean(model.predict(X) == y)

    metric = make_scorer(lambda y, predicted: np.mean(y == predicted))
    weight = np.arange(60.0) + 1.0
    for scoring in (exact, metric):
        model = choice(OrdinalClassifier(), scoring=scoring).fit(X, levels, sample_weight=weight)
        assert model.score(X, levels, weight) == np.mean(model.predict(X) == levels)
    model = choice(OrdinalClassifier(), scoring="accuracy").fit(X, levels, sample_weight=weight)
    right = model.predict(X) == levels
    assert model.score(X, levels, weight) == pytest.approx(np.average(right, weights=weight))


def test_splitters(X, levels):
    partial = [None if i % 7 == 0 else level for i, level in enumerate(levels)]
    for estimator, y in ((OrdinalClassifier(), partial), (LabelRanker(), [["a", "b"]] * 60)):
        with pytest.raises(ValueError, match=r"StratifiedKFold needs one known label for each row .* use cv=KFold"):
            choice(estimator, cv=StratifiedKFold(3)).fit(X, y)
        assert choice(estimator, cv=3).fit(X, y).scores_.shape == (2, 3)
    missing = levels.astype(float)
    missing[::7] = np.nan
    assert choice(OrdinalClassifier(), cv=3).fit(X, missing).classes_.tolist() == [0.0, 1.0, 2.0]
    names = np.array(["a", "b", "c"], dtype=object)[levels]
    assert choice(OrdinalClassifier(classes=list("abc")), cv=StratifiedKFold(3)).fit(X, names).scores_.shape == (2, 3)
    groups = np.arange(60) % 4
    by_group = choice(OrdinalClassifier(), cv=GroupKFold(4)).fit(X, levels, groups=groups)
    by_hand = choice(OrdinalClassifier(), cv=PredefinedSplit(groups)).fit(X, levels)
    np.testing.assert_array_equal(np.sort(by_group.scores_), np.sort(by_hand.scores_))


def test_it_answers_as_its_best_estimator_does(X, levels):
    ranker = choice(LabelRanker()).fit(X, [["a", "b"] if level else ["b", "a"] for level in levels])
    for name in ("predict", "decision_function", "predict_soft", "predict_proba", "predict_positions"):
        np.testing.assert_array_equal(getattr(ranker, name)(X), getattr(ranker.best_estimator_, name)(X))
    assert ranker.n_features_in_ == 3 and not hasattr(ranker, "feature_names_in_")
    model = choice(OrdinalClassifier(loss="hinge"))
    assert not hasattr(model, "predict_positions") and not hasattr(model, "n_features_in_")
    for question in (model.predict, model.decision_function):
        with pytest.raises(NotFittedError):
            question(X)
    model.fit(X, levels)
    assert not hasattr(model, "predict_proba")
    np.testing.assert_array_equal(model.costs(X, levels), model.best_estimator_.costs(X, levels))


def test_it_is_the_kind_of_estimator_that_it_chooses(X, levels):
    assert is_classifier(RegularizationCV(OrdinalClassifier()))
    assert not is_classifier(RegularizationCV(LabelRanker()))
    y = np.sort(levels)  # a fold of KFold(5) has one class or two
    scores = cross_val_score(choice(OrdinalClassifier(), cv=3), X, y, scoring="roc_auc_ovr", error_score="raise")
    assert np.isfinite(scores).all()
    model = choice(OrdinalClassifier(), cv=3, scoring="roc_auc_ovr").fit(X, levels)
    assert model.score(X, levels) == get_scorer("roc_auc_ovr")(model, X, levels)


@pytest.mark.filterwarnings("ignore:Training stopped early")
def test_an_interrupted_fit_ends_the_path(X, levels, monkeypatch):
    fits = []
    minimize = Solver.minimize

    def interrupted(solver, objective, start=None, callback=None, resume=None):
        fits.append(objective.regularization)

        def stop(record, run):
            if len(fits) > 1:
                raise KeyboardInterrupt

        return minimize(solver, objective, start, stop, resume)

    monkeypatch.setattr(Solver, "minimize", interrupted)
    with pytest.raises(KeyboardInterrupt):
        regularization_path(OrdinalClassifier(), X, levels, [1.0, 0.1, 0.01])
    assert fits == [1.0, 0.1]
    fits.clear()
    with pytest.raises(KeyboardInterrupt):
        choice(OrdinalClassifier()).fit(X, levels)
    assert len(fits) == 2


@pytest.mark.parametrize(
    "estimator", [make_pipeline(StandardScaler(), LabelRanker()), LogisticRegression(), LabelRanker]
)
def test_other_estimators_are_refused(X, levels, estimator):
    message = r"The estimator is a .*; give one of maximand's own.*make_pipeline\(.*RegularizationCV\(LabelRanker"
    with pytest.raises(ValueError, match=message):
        RegularizationCV(estimator).fit(X, levels)
    with pytest.raises(ValueError, match=message):
        regularization_path(estimator, X, levels, STRENGTHS)


def test_folds_without_anything_known_to_test_on_are_left_out():
    X = np.random.default_rng(0).normal(size=(30, 2))
    Y = [["a", "b"], ["b", "a"]] * 5 + [None] * 20
    chosen = RegularizationCV(LabelRanker(), regularizations=[0.01, 1.0], cv=KFold(3, shuffle=True, random_state=0))
    assert chosen.fit(X, Y).scores_.shape == (2, 3)
    folds = [(np.arange(5, 30), np.arange(5)), (np.arange(10), np.arange(10, 30))]
    assert RegularizationCV(LabelRanker(), regularizations=[0.01, 1.0], cv=folds).fit(X, Y).scores_.shape == (2, 1)
    with pytest.raises(ValueError, match="No fold has anything known to test on"):
        RegularizationCV(LabelRanker(), regularizations=[0.01, 1.0], cv=folds[1:]).fit(X, Y)


def test_lists_of_labels_are_no_indicators_in_folds():
    X = np.random.default_rng(0).normal(size=(30, 2))
    Y = [[0, 1]] * 10 + [[0]] * 10 + [[1]] * 10
    chosen = RegularizationCV(MultilabelClassifier(), regularizations=[0.01, 1.0], cv=KFold(3)).fit(X, Y)
    assert chosen.classes_.tolist() == [0, 1]


def problems(X, levels):
    """An estimator of every kind with each kind of loss: convex, not convex, and least at zero."""
    names = np.array(["a", "b", "c"])[levels]
    partial = [None if i % 5 == 0 else name for i, name in enumerate(names)]
    sequences, tags = list(X.reshape(20, 3, 3)), names.reshape(20, 3).tolist()
    hidden = [[None, *sequence[1:]] for sequence in tags]
    graphs = [(nodes, [(0, 1), (1, 2)]) for nodes in sequences]
    sets = [{"a", "b"} if level == 2 else {"a"} if level else {"b"} for level in levels]
    for loss in ("hinge", "ramp", "crf", "perceptron"):
        yield MulticlassClassifier(loss=loss), X, names
    for loss in ("hinge", "ramp", "crf"):
        yield MulticlassClassifier(loss=loss), X, partial
        yield SequenceTagger(loss=loss), sequences, tags
        yield SequenceTagger(loss=loss), sequences, hidden
        yield MultilabelClassifier(loss=loss), X, sets
    yield GraphLabeler(loss="ramp"), graphs, tags
    yield OrdinalClassifier(loss="ramp"), X, levels
    yield LabelRanker(), X, [["a", "b"] if level else ["b", "a"] for level in levels]


@pytest.mark.filterwarnings("ignore:Training stopped early")
def test_a_model_of_a_path_is_a_fit_at_that_strength(X, levels):
    flipped = np.where(np.arange(60) % 5 == 0, 2 - levels, levels)  # noise, of which a strong ramp learns one label
    for estimator, inputs, y in problems(X, flipped):
        estimator.set_params(n_threads=1)
        for model in regularization_path(estimator, inputs, y, [10.0, 1e-2]):
            alone = clone(estimator).set_params(regularization=model.regularization).fit(inputs, y)
            if alone.gap_is_certificate_:
                assert abs(model.objective_ - alone.objective_) <= max(model.gap_, alone.gap_) + 1e-12
            else:
                np.testing.assert_array_equal(model.weights_, alone.weights_)


def test_scores_are_those_of_the_model_that_is_returned():
    X, y = load_iris(return_X_y=True)
    y = np.where(np.random.default_rng(0).random(150) < 0.2, (y + 1) % 3, y)
    everyone = [(np.arange(150), np.arange(150))]
    chosen = RegularizationCV(MulticlassClassifier(loss="ramp"), regularizations=[1e-3, 0.1, 10.0], cv=everyone)
    chosen.fit(StandardScaler().fit_transform(X), y)
    assert chosen.best_score_ == chosen.score(StandardScaler().fit_transform(X), y) > 0.7
