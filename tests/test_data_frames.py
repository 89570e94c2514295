"""Labels that come in pandas' columns and frames."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from maximand import (
    LabelRanker,
    MulticlassClassifier,
    MulticlassTask,
    MultilabelClassifier,
    OrdinalClassifier,
    RegularizationCV,
    StructuredPredictor,
)
from maximand.tasks import OrdinalTask

pd = pytest.importorskip("pandas")

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
SIZES = ["S", "M", "L", "XL"]
CODES = np.digitize(X[:, 0], [-1.0, 0.0, 1.0])
ORDERED = pd.Categorical.from_codes(CODES, SIZES, ordered=True)


@pytest.mark.parametrize(
    "y", [ORDERED, pd.Series(ORDERED), pd.DataFrame({"size": ORDERED})], ids=["Categorical", "Series", "frame"]
)
def test_an_ordered_categorical_has_its_order(y):
    wanted = OrdinalClassifier(classes=SIZES).fit(X, np.array(SIZES)[CODES])
    model = OrdinalClassifier().fit(X, y)
    assert model.classes_.tolist() == SIZES
    np.testing.assert_array_equal(model.weights_, wanted.weights_)
    assert model.score(X, y) == wanted.score(X, np.array(SIZES)[CODES])
    np.testing.assert_array_equal(model.costs(X, y), np.abs(CODES - [SIZES.index(size) for size in model.predict(X)]))


def test_categories_that_do_not_occur_are_levels_and_missing_values_are_unknown():
    codes = np.where(CODES == 2, -1, CODES)
    model = OrdinalClassifier().fit(X, pd.Series(pd.Categorical.from_codes(codes, SIZES, ordered=True)))
    assert model.classes_.tolist() == SIZES
    by_hand = OrdinalClassifier(classes=SIZES).fit(X, [None if code < 0 else SIZES[code] for code in codes])
    np.testing.assert_array_equal(model.weights_, by_hand.weights_)


def test_other_estimators_of_levels_know_the_order():
    assert StructuredPredictor(OrdinalTask()).fit(X, ORDERED).classes_.tolist() == SIZES
    assert (
        RegularizationCV(OrdinalClassifier(), cv=2).fit(X, pd.Series(ORDERED)).best_estimator_.classes_.tolist()
        == SIZES
    )
    search = GridSearchCV(OrdinalClassifier(), {"regularization": [0.1]}, cv=2, error_score="raise")
    assert search.fit(X, pd.Series(ORDERED)).best_estimator_.classes_.tolist() == SIZES


def test_a_categorical_without_an_order_has_none():
    with pytest.raises(ValueError, match="the order of text is not known"):
        OrdinalClassifier().fit(X, pd.Series(pd.Categorical(ORDERED, ordered=False)))


@pytest.mark.parametrize("kind", ["Int64", "string", "category", object])
def test_missing_values_of_columns_are_unknown(kind):
    labels = pd.Series(CODES).astype("Int64").astype("string" if kind == "string" else "Int64").astype(kind)
    labels[[2, 5]] = pd.NA
    known = [None if value is pd.NA or value != value else value for value in labels.tolist()]
    wanted = MulticlassClassifier().fit(X, known)
    for y in (labels, labels.to_frame()):
        model = MulticlassClassifier().fit(X, y)
        np.testing.assert_array_equal(model.weights_, wanted.weights_)
        assert model.score(X, y) == wanted.score(X, known)
    np.testing.assert_array_equal(StructuredPredictor(MulticlassTask()).fit(X, labels).weights_, wanted.weights_)


def test_the_columns_of_a_frame_of_indicators_are_labels():
    frame = pd.DataFrame({"sun": CODES > 0, "rain": CODES < 2}).astype("Int64")
    frame.iloc[3, 1] = pd.NA
    model = MultilabelClassifier().fit(X, frame)
    assert model.classes_.tolist() == ["sun", "rain"]
    array = np.array([[np.nan if value is pd.NA else value for value in row] for row in frame.to_numpy()], dtype=float)
    np.testing.assert_array_equal(model.weights_, MultilabelClassifier().fit(X, array).weights_)
    assert model.score(X, frame) == model.score(X, array)
    assert model.score(X, frame[["rain", "sun"]]) == model.score(X, frame)


def test_frames_of_scores_and_positions_are_read_where_said():
    scores = pd.DataFrame(X, columns=["b", "a", "c"])
    orders = np.array(list("bac"))[np.argsort(-X, axis=1)]
    wanted = LabelRanker(classes=["b", "a", "c"]).fit(X, orders)
    for target, y in [("scores", scores), ("positions", scores.rank(axis=1, ascending=False))]:
        model = LabelRanker(target=target).fit(X, y)
        assert model.classes_.tolist() == ["b", "a", "c"]
        np.testing.assert_array_equal(model.weights_, wanted.weights_)
        shuffled = y[["c", "b", "a"]]
        assert model.score(X, y) == model.score(X, shuffled) == model.score(X, y.to_numpy()) == wanted.score(X, orders)
        np.testing.assert_array_equal(model.costs(X, shuffled), wanted.costs(X, orders))
        with pytest.raises(ValueError, match="y is a data frame of numbers; say target='scores' or target='positions'"):
            LabelRanker().fit(X, y)
    np.testing.assert_array_equal(
        LabelRanker(classes=["b", "a", "c"]).fit(X, pd.DataFrame(orders)).weights_, wanted.weights_
    )
