"""Partial rankings and label sets beyond a budget: what is known is learnt, and nothing else is taken for granted."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maximand import Budget, Checkpoint, LabelRanker, MultilabelClassifier, SequenceTagger

NAMES = np.array(list("wxyz"))


@pytest.fixture(scope="module")
def rankings():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4))
    scores = X @ rng.normal(size=(4, 4)) + 0.3 * rng.normal(size=(400, 4))
    return X, NAMES[np.argsort(-scores, axis=1)]


@pytest.mark.parametrize("encoding", ["matrix", "vector"])
@pytest.mark.parametrize("projection", ["euclidean", "entropic"])
def test_two_labels_out_of_four_teach_the_whole_order(rankings, encoding, projection):
    X, full = rankings
    rng = np.random.default_rng(0)
    some = [row[np.sort(rng.permutation(4)[:2])] for row in full[:300]]
    model = LabelRanker(projection=projection, encoding=encoding, classes=NAMES).fit(X[:300], some)
    assert model.score(X[:300], some) > 0.7
    assert model.score(X[300:], full[300:]) > 0.7
    known = LabelRanker(projection=projection, encoding=encoding).fit(X[:300], full[:300])
    assert model.score(X[300:], full[300:]) > known.score(X[300:], full[300:]) - 0.1


def test_missing_entries_and_text_are_read_alike(rankings):
    X, full = rankings
    X, full = X[:40], full[:40]
    rows = [list(row[:3]) for row in full]
    padded = np.array([[*row, None] for row in rows], dtype=object)
    text = [">".join(row) for row in rows]
    weights = [LabelRanker(classes=NAMES).fit(X, Y).weights_ for Y in (rows, padded, text)]
    np.testing.assert_array_equal(weights[0], weights[1])
    np.testing.assert_array_equal(weights[0], weights[2])
    tied = LabelRanker().fit(X, ["w=x>y>z"] * 40)
    np.testing.assert_array_equal(tied.weights_, LabelRanker().fit(X, [[{"w", "x"}, "y", "z"]] * 40).weights_)
    numbers = LabelRanker(classes=[1, 2, 3]).fit(X, np.array([[1, 2, np.nan]] * 40))
    assert numbers.classes_.tolist() == [1, 2, 3]


@pytest.mark.parametrize("projection", ["max", "bridge", "hinge", "euclidean"])
def test_rankings_that_know_no_order_are_no_obstacle(projection):
    X = np.random.default_rng(0).normal(size=(6, 2))
    model = LabelRanker(projection=projection, max_iterations=20).fit(X, [["a"], ["b"], None, [set(), "a"], [], ["c"]])
    assert model.classes_.tolist() == ["a", "b", "c"]


def test_the_limit_of_rounds_leaves_the_easier_start_alone(rankings, tmp_path):
    X, full = rankings
    some = [row[:3] for row in full[:60]]
    settings = {"projection": "ramp", "classes": NAMES, "regularization": 1e-2}
    whole = LabelRanker(**settings).fit(X[:60], some)
    file = tmp_path / "run"
    short = LabelRanker(**settings, max_iterations=2).set_callbacks(Checkpoint(file))
    with pytest.warns(ConvergenceWarning):
        short.fit(X[:60], some)
    resumed = LabelRanker(**settings).set_callbacks(Checkpoint(file)).fit(X[:60], some)
    np.testing.assert_array_equal(resumed.weights_, whole.weights_)


@pytest.mark.parametrize("row", ["", "a>b>", ">a", "a==b", b"a>b"])
def test_malformed_text_is_refused(row):
    with pytest.raises(ValueError, match=r"y\[1\] has an empty label; write|y\[1\] is .*list the labels in order"):
        LabelRanker().fit(np.ones((2, 1)), ["a>b", row])


@pytest.mark.parametrize("loss", ["euclidean", "entropic", "hinge", "crf"])
def test_rows_beyond_a_budget_have_as_many_labels_as_there_may_be(loss):
    X = np.random.default_rng(0).normal(size=(60, 3))
    Y = np.repeat((X[:, :1] > 0).astype(int), 3, axis=1)  # all labels or none
    model = MultilabelClassifier(structure=Budget(0, 2), loss=loss).fit(X, Y)
    sizes = model.predict(X).sum(axis=1)
    assert sizes.max() == 2
    assert (sizes[Y[:, 0] == 1] >= 1).mean() > 0.9
    assert (sizes[Y[:, 0] == 0] == 0).mean() > 0.9
    wrong = (model.predict(X) != Y).sum(axis=1)  # costs are those of the labels given, not of what was learnt from
    np.testing.assert_allclose(model.costs(X, Y), wrong)


def test_lists_mean_what_they_meant_in_training():
    X = np.random.default_rng(0).normal(size=(60, 3))
    Y = [[0, 1] if row[0] > 0 else [0] for row in X]
    model = MultilabelClassifier().fit(X, Y)
    positive = X[X[:, 0] > 0]
    assert model.score(positive, [[0, 1]] * len(positive)) == model.score(positive, [{0, 1}] * len(positive)) > 0.9
    assert model.score(X[:3], [[0]] * 3) == model.score(X[:3], [{0}] * 3)


def test_tags_that_nothing_known_leads_to_are_refused():
    """Half of the tags hidden, a rare one may be known only where the one before it is not."""
    X = [np.eye(3), np.eye(3), np.eye(3)]
    Y = [["B-A", "I-A", "O"], [None, "I-B", "O"], ["O", "B-A", "O"]]
    with pytest.raises(ValueError, match=r"Y\[1\], token 1, has the label 'I-B', and no label .* by classes="):
        SequenceTagger(scheme="BIO").fit(X, Y)
    classes = ["B-A", "I-A", "B-B", "I-B", "O"]
    assert SequenceTagger(scheme="BIO", classes=classes).fit(X, Y).predict(X)[1][0] == "B-B"
