"""What arrays of rankings hold: labels in order, scores or positions, as the user says."""

import numpy as np
import pytest

from maximand import LabelRanker
from maximand.tasks.ranking_targets import TARGETS, read_orders, read_target


def test_scores_and_positions_are_orders(table):
    X, Y, X_test, _ = table
    names = np.unique(Y)
    positions = np.argsort(np.searchsorted(names, Y), axis=1)
    wanted = LabelRanker().fit(X, Y)
    for target, y in [("positions", positions), ("positions", positions + 1.0), ("scores", -0.5 * positions)]:
        model = LabelRanker(target=target, classes=names).fit(X, y)
        np.testing.assert_array_equal(model.weights_, wanted.weights_)
        assert model.score(X, y) == wanted.score(X, Y)
        np.testing.assert_array_equal(model.costs(X, y.tolist()), wanted.costs(X, Y))
        np.testing.assert_array_equal(model.predict(X_test), wanted.predict(X_test))
    by_number = LabelRanker(target="positions").fit(X, positions)
    np.testing.assert_array_equal(by_number.weights_, wanted.weights_)
    assert by_number.classes_.tolist() == [0, 1, 2, 3]


def test_what_is_equal_ties_and_what_is_not_known_is_not_listed():
    y = [[0.5, 2.0, 0.5, None], [np.nan, -1.0, 3.0, 0.0], [None] * 4]
    assert read_orders(read_target(y, "scores", list("abcd"))) == [
        (("b",), ("a", "c")), (("c",), ("d",), ("b",)), (),
    ]  # fmt: skip
    assert read_orders(read_target(np.array([[1, 0, 1, -1]]), "positions", None)) == [((1,), (0, 2))]


@pytest.mark.parametrize("target", TARGETS[1:])
def test_a_model_is_trained_again_with_other_labels(target):
    X, y = np.eye(3), np.array([[2, 1, 0], [0, 1, 2], [1, 0, 2]])
    model = LabelRanker(target=target).fit(X, y)
    assert model.fit(X, y[:, :2]).classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, np.array([[0.3, 1.7, 0.2]]), r"y\[0\] lists 0.3, a number that is no label; say target='scores'"),
        ({}, [[1, 2.5]], r"y\[0\] lists 2.5, a number that is no label"),
        ({"target": "rank"}, [[1, 2]], "target is 'rank'; choose one of 'orders', 'scores', 'positions'"),
        ({"target": "scores"}, [["a", "b"]], "y is no table of numbers, which target='scores' asks for"),
        ({"target": "scores"}, [1.0, 2.0], "y is no table of numbers"),
        ({"target": "scores"}, [[1.0, 2.0], [1.0]], "y is no table of numbers"),
        ({"target": "scores"}, [[1.0, np.inf]], r"y\[0, 1\] is inf; give finite scores, None where one is not known"),
        ({"target": "positions"}, [[1.0, -2]], r"y\[0, 1\] is -2.0; give finite positions"),
        ({"target": "scores", "classes": list("abc")}, [[1, 2]], "y has 2 columns but there are 3 labels"),
    ],
)
def test_what_cannot_be_meant_is_refused(settings, y, message):
    with pytest.raises(ValueError, match=message):
        LabelRanker(**settings).fit(np.ones((len(y), 2)), y)
