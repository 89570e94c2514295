import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from expected_failures import OF_LEVELS
from maximand import (
    Budget,
    Calibrated,
    Cube,
    Entropic,
    Euclidean,
    Independent,
    MultilabelClassifier,
    OrdinalClassifier,
    RegularizationCV,
    SequenceTagger,
    Soft,
    Squared,
    StructuredPredictor,
    Subgradient,
    ZeroOne,
    load,
    save,
)
from maximand.tasks import OrdinalTask
from thinning import scikit_learn_checks

SIZES = ["S", "M", "L", "XL"]


# Tight, because one of the checks compares two fits to seven digits.
@scikit_learn_checks(
    [
        OrdinalClassifier(tolerance=1e-12, regularization=0.1),
        OrdinalClassifier(loss="crf", tolerance=1e-12, regularization=0.1),
    ],
    expected_failed_checks=lambda estimator: {
        check: reason
        for check, reason in OF_LEVELS.items()
        if estimator.loss != "crf" or check != "check_classifiers_train"
    },
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def table():
    """200 rows with four levels of a noisy linear score; half to train on, half to test."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    score = X @ np.array([1.5, -1.0, 0.5, 0.0]) + 0.4 * rng.normal(size=200)
    y = np.array(SIZES)[np.digitize(score, [-1.5, 0.0, 1.5])]
    return X[:100], y[:100], X[100:], y[100:]


def levels(y):
    return [SIZES.index(size) for size in y]


@pytest.mark.parametrize(
    "loss", ["euclidean", "entropic", "squared", "crf", "hinge", Euclidean(Cube()), Entropic(Cube())]
)
def test_it_learns(table, loss):
    X, y, X_test, y_test = table
    model = OrdinalClassifier(loss=loss, classes=SIZES).fit(X, y)
    assert model.classes_.tolist() == SIZES
    error = mean_absolute_error(levels(y_test), levels(model.predict(X_test)))
    assert error < 0.4
    assert model.score(X_test, y_test) == pytest.approx(-error)
    assert model.coef_.shape == (3, 4) and model.intercept_.shape == (3,)
    assert model.gap_is_certificate_
    if hasattr(model, "predict_proba"):
        chances = model.predict_proba(X_test)
        assert chances.shape == (100, 4)
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)
        assert (chances >= -1e-12).all()


def test_the_median_level_has_least_absolute_error(table):
    X, y, X_test, _ = table
    for loss in ("euclidean", "entropic"):
        model = OrdinalClassifier(loss=loss, classes=SIZES).fit(X, y)
        chances = model.predict_soft(X_test)
        median = (chances.cumsum(axis=1) < 0.5 - 1e-12).sum(axis=1)
        np.testing.assert_array_equal(levels(model.predict(X_test)), median)
        mode = OrdinalClassifier(loss=loss, classes=SIZES, cost=ZeroOne()).fit(X, y)
        np.testing.assert_array_equal(levels(mode.predict(X_test)), mode.predict_soft(X_test).argmax(axis=1))
    crf = OrdinalClassifier(loss="crf", classes=SIZES, decoder=Calibrated(Squared(), Soft(temperature=1))).fit(X, y)
    expected = crf.predict_proba(X_test) @ np.arange(4)
    assert np.abs(np.array(levels(crf.predict(X_test))) - expected).max() <= 0.5 + 1e-9


def test_partial_levels_weights_and_forms(table):
    X, y, X_test, y_test = table
    full = OrdinalClassifier(classes=SIZES).fit(X, y)
    np.testing.assert_array_equal(
        OrdinalClassifier(classes=SIZES).fit(csr_array(X), y).predict(X_test), full.predict(X_test)
    )
    rng = np.random.default_rng(0)
    partial = [None if rng.random() < 0.3 else {size, SIZES[rng.integers(4)]} for size in y]
    for loss in ("euclidean", "entropic", "crf"):
        model = OrdinalClassifier(loss=loss, classes=SIZES, regularization=1e-2).fit(X, partial)
        assert -model.score(X_test, y_test) < 0.6
        assert model.score(X, partial) > -0.5
    balanced = OrdinalClassifier(classes=SIZES, class_weight="balanced").fit(X, y)
    rare = {"S": 50.0, "M": 1.0, "L": 1.0, "XL": 1.0}
    careful = OrdinalClassifier(classes=SIZES, class_weight=rare).fit(X, y)
    assert (careful.predict(X_test) == "S").sum() > (full.predict(X_test) == "S").sum()
    assert balanced.weights_.shape == full.weights_.shape
    numbers = OrdinalClassifier().fit(X, levels(y))
    assert numbers.classes_.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(numbers.predict(X_test), levels(full.predict(X_test)))


def test_sklearn_and_files(table, tmp_path):
    X, y, X_test, y_test = table
    pipeline = make_pipeline(StandardScaler(), OrdinalClassifier(loss=Euclidean(Cube()), classes=SIZES))
    search = GridSearchCV(pipeline, {"ordinalclassifier__regularization": [1e-3, 10.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"ordinalclassifier__regularization": 1e-3}
    save(search.best_estimator_, tmp_path / "levels.maximand")
    loaded = load(tmp_path / "levels.maximand")
    np.testing.assert_array_equal(loaded.predict(X_test), search.predict(X_test))
    assert loaded[-1].loss == Euclidean(Cube())
    chosen = RegularizationCV(OrdinalClassifier(classes=SIZES), cv=3, scoring="accuracy").fit(X, y)
    assert chosen.score(X_test, y_test) == pytest.approx(np.mean(chosen.predict(X_test) == y_test))
    assert chosen.predict_proba(X_test).shape == (100, 4)


def test_unknown_levels_do_not_count(table):
    X, y, X_test, y_test = table
    model = OrdinalClassifier(classes=SIZES).fit(X, y)
    half = np.where(np.arange(100) % 2, y_test, None)
    assert model.score(X_test, half) == pytest.approx(model.score(X_test[1::2], y_test[1::2]))
    weight = np.arange(100.0)
    expected = -np.average(model.costs(X_test, y_test)[1::2], weights=weight[1::2])
    assert model.score(X_test, half, weight) == pytest.approx(expected)
    assert model.score(X_test, y_test, 2.0) == pytest.approx(model.score(X_test, y_test))
    with pytest.raises(ValueError, match="y holds no level that is known; there is nothing to compare"):
        model.score(X_test, [None] * 100)
    with pytest.raises(ValueError, match="All examples with something known weigh 0; at least one of them must count"):
        model.score(X_test, half, np.arange(100) % 2 == 0)
    with pytest.raises(ValueError, match=r"sample_weight\[3\] is -1.0"):
        model.score(X_test, y_test, np.where(np.arange(100) == 3, -1.0, 1.0))


def test_nan_is_unknown(table):
    X, y, X_test, _ = table
    hidden = np.where(np.arange(100) % 3, y, None)
    expected = OrdinalClassifier(classes=SIZES).fit(X, hidden)
    for form in (hidden.tolist(), np.array([np.nan if size is None else size for size in hidden], dtype=object)):
        model = OrdinalClassifier(classes=SIZES).fit(X, form)
        np.testing.assert_array_equal(model.weights_, expected.weights_)
        assert model.score(X, form) == expected.score(X, hidden)
    numbers = [np.nan if size is None else SIZES.index(size) for size in hidden]
    for form in (numbers, np.array(numbers), np.array(numbers, dtype=np.float32), np.array(numbers, dtype=object)):
        model = OrdinalClassifier().fit(X, form)
        np.testing.assert_array_equal(model.weights_, expected.weights_)
        assert model.predict(X_test).tolist() == levels(expected.predict(X_test))


@pytest.mark.parametrize("loss", ["euclidean", "entropic", "crf"])
def test_no_chance_is_minus_zero(table, loss):
    X, y, X_test, _ = table
    chances = OrdinalClassifier(loss=loss, classes=SIZES).fit(X, y).predict_proba(X_test)
    assert not np.signbit(chances[chances == 0]).any()


def test_it_says_that_it_is_not_fitted(table):
    X, y, _, _ = table
    model = OrdinalClassifier()
    for question in (
        lambda: model.score(X, y),
        lambda: model.costs(X, y),
        lambda: model.decision_function(X),
        lambda: model.predict_proba(X),
        lambda: model.coef_,
        lambda: model.intercept_,
    ):
        with pytest.raises(NotFittedError, match="This OrdinalClassifier instance is not fitted yet"):
            question()


BAD = [
    (["S"] * 4, {}, "The labels hold 1 class; learning to choose needs at least 2 classes"),
    (
        ["S", "M", "L", "XXL"],
        {"classes": SIZES},
        r"y\[3\] has the unknown label 'XXL'; the labels are 'S', 'M', 'L', 'XL'",
    ),
    (["S", "M", "L"], {"classes": SIZES}, r"X has 4 rows but y has 3 labels"),
    (["S", "M", "L", "XL"], {"classes": ["S", "S"]}, "classes holds 'S' more than once"),
    (None, {}, "OrdinalClassifier requires y to be passed"),
]


@pytest.mark.parametrize(("y", "settings", "message"), BAD)
def test_bad_levels_get_one_sentence(y, settings, message):
    with pytest.raises(ValueError, match=message):
        OrdinalClassifier(**settings).fit(np.ones((4, 2)), y)


@pytest.fixture(scope="module")
def label_sets():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 6))
    scores = X @ rng.normal(size=(6, 5)) + 0.5 * rng.normal(size=(300, 5)) - 1.0
    Y = (scores > 0).astype(int)
    keep = np.argsort(np.argsort(-scores, axis=1), axis=1) < 2
    return X[:150], (Y * keep)[:150], X[150:], (Y * keep)[150:]


@pytest.mark.parametrize("loss", ["euclidean", "entropic", "crf", "hinge"])
def test_a_budget_bounds_the_number_of_labels_and_helps(label_sets, loss):
    X, Y, X_test, Y_test = label_sets
    free = MultilabelClassifier(structure=Independent(), loss=loss).fit(X, Y)
    bounded = MultilabelClassifier(structure=Budget(0, 2), loss=loss).fit(X, Y)
    assert bounded.predict(X_test).sum(axis=1).max() <= 2
    assert bounded.score(X_test, Y_test) >= free.score(X_test, Y_test) - 0.05
    assert bounded.gap_is_certificate_
    exactly = MultilabelClassifier(structure=Budget(1, 1), loss=loss).fit(X, np.eye(5, dtype=int)[Y.argmax(axis=1)])
    assert (exactly.predict(X_test).sum(axis=1) == 1).all()
    if loss != "hinge":
        soft = bounded.predict_soft(X_test)
        assert soft.shape == (150, 5) and soft.sum(axis=1).max() <= 2 + 1e-9


def test_budgets_of_training_data_and_of_crowded_rows(label_sets):
    X, Y, _, _ = label_sets
    model = MultilabelClassifier(structure="budget", loss="euclidean").fit(X, Y)
    counts = Y.sum(axis=1)
    assert model.task_.sizes == (0, int(np.ceil(counts.mean() + counts.std())))
    crowded = MultilabelClassifier(structure=Budget(0, 1), loss="euclidean").fit(X, Y)
    assert crowded.predict(X).sum(axis=1).max() == 1
    assert (Y[np.arange(150), crowded.predict(X).argmax(axis=1)] >= crowded.predict(X).max(axis=1)).mean() > 0.8
    with pytest.raises(ValueError, match=r"Budget\(3, 2\) cannot be met with 5 labels"):
        MultilabelClassifier(structure=Budget(3, 2)).fit(X, Y)
    empty = int(np.flatnonzero(counts == 0)[0])
    with pytest.raises(ValueError, match=rf"y\[{empty}\] has fewer than min_size=1 labels; lower min_size"):
        MultilabelClassifier(structure=Budget(1, 3)).fit(X, Y)


def test_projection_losses_tag_sequences():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 3)) for n in rng.integers(2, 9, 40)]
    Y = [np.where(x[:, 0] + 0.5 * np.r_[0.0, x[:-1, 0]] > 0, "up", "down") for x in X]
    for loss in ("euclidean", "entropic"):
        tagger = SequenceTagger(loss=loss, regularization=1e-2).fit(X[:30], Y[:30])
        assert tagger.score(X[30:], Y[30:]) > 0.85
        for chances in tagger.predict_proba(X[30:]):
            np.testing.assert_allclose(chances.sum(axis=1), 1.0, atol=1e-9)


@pytest.mark.parametrize("fit", [OrdinalClassifier().fit, StructuredPredictor(OrdinalTask()).fit])
@pytest.mark.parametrize(
    "y", [["low", "high"] * 3, np.array(["low", "high"] * 3), [{"low", "high"}, "high", None] * 2, [1, "x"] * 3]
)
def test_the_order_of_text_is_not_guessed(fit, y):
    X = np.arange(12.0).reshape(6, 2)
    with pytest.raises(ValueError, match=r"the order of text is not known; list the levels .* with classes="):
        fit(X, y)


@pytest.mark.parametrize("seed", [0, 2])
def test_subgradient_steps_claim_no_more_than_they_reach(seed):
    """Weights and repeated rows take other samples: both end near the best value, or say that they were stopped."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 5))
    y, weight = np.digitize(X[:, 0] + 0.8 * rng.normal(size=40), [-1, 0, 1]), rng.integers(1, 4, 40)
    rows = np.repeat(np.arange(40), weight)
    least = OrdinalClassifier(loss="slack_hinge", regularization=1e-2).fit(X, y, sample_weight=weight).objective_
    for data in ((X, y, weight), (X[rows], y[rows])):
        model = OrdinalClassifier(loss="slack_hinge", regularization=1e-2, solver=Subgradient(max_iterations=300))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.fit(*data)
        assert said or model.objective_ <= 1.05 * least
        assert model.objective_ <= 1.1 * least
        assert not model.gap_is_certificate_
