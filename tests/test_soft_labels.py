"""Shares of labels in place of labels: a mean in place of psi."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from maximand import LOSSES, Choice, CostMatrix, MulticlassClassifier, MulticlassTask, StructuredPredictor, ZeroOne
from maximand.spaces import Labels, Shares
from maximand.targets import Target

rng = np.random.default_rng(0)
X = rng.normal(size=(20, 3))
SHARES = rng.dirichlet(np.ones(3), size=20)
CODES = np.array([0, 1, 2, 0, 1] * 4)
SMOOTH = [name for name, loss in LOSSES.items() if loss.penalty.smooth]
TIGHT = {"tolerance": 1e-12, "regularization": 0.1}


def test_the_smooth_losses_are_these():
    assert SMOOTH == ["crf", "augmented_crf", "euclidean", "entropic", "squared"]


@pytest.mark.parametrize("loss", SMOOTH)
def test_one_hot_targets_are_labels(loss):
    labels = MulticlassClassifier(loss=loss, **TIGHT).fit(X, CODES)
    for y in (np.eye(3)[CODES], np.eye(3, dtype=int)[CODES].tolist(), csr_array(np.eye(3)[CODES])):
        model = MulticlassClassifier(loss=loss, **TIGHT).fit(X, y)
        np.testing.assert_allclose(model.weights_, labels.weights_, atol=1e-9)
        assert model.objective_ == pytest.approx(labels.objective_, abs=1e-9)
        assert model.gap_is_certificate_
        assert model.score(X, y) == labels.score(X, CODES)
        np.testing.assert_allclose(model.costs(X, y), labels.costs(X, CODES))


@pytest.mark.parametrize("loss", ["crf", "euclidean", "entropic", "squared"])
def test_shares_are_rows_repeated_with_weights(loss):
    soft = MulticlassClassifier(loss=loss, **TIGHT).fit(X, SHARES)
    repeated = MulticlassClassifier(loss=loss, **TIGHT).fit(
        np.repeat(X, 3, axis=0), np.tile(np.arange(3), 20), sample_weight=SHARES.ravel()
    )
    np.testing.assert_allclose(soft.weights_, repeated.weights_, atol=1e-5)
    task = StructuredPredictor(MulticlassTask(), loss=loss, **TIGHT).fit(X, SHARES)
    np.testing.assert_array_equal(task.weights_, soft.weights_)
    expected = SHARES[np.arange(20), soft.predict(X)].mean()
    assert soft.score(X, SHARES) == pytest.approx(expected)
    np.testing.assert_allclose(soft.costs(X, SHARES).mean(), 1 - expected)


@pytest.mark.parametrize("name", SMOOTH)
def test_the_gradient_is_that_of_the_loss(name):
    space, cost = Choice(20, 3), CostMatrix([[0, 1, 2], [1, 0, 3], [4, 1, 0]])
    target, theta = Target(space, Shares.of(SHARES), cost), rng.normal(size=60)
    found, direction, step = LOSSES[name](space, theta, target), rng.normal(size=60), 1e-6
    assert (found.value > -1e-12).all()
    ahead, behind = (LOSSES[name](space, theta + sign * step * direction, target).value for sign in (1, -1))
    slopes = (found.mean * direction).reshape(20, 3).sum(axis=1)
    np.testing.assert_allclose((ahead - behind) / (2 * step), slopes, atol=1e-7)
    one_hot = [Target(space, annotation, cost) for annotation in (Shares.of(np.eye(3)[CODES]), Labels.single(CODES, 3))]
    np.testing.assert_allclose(*(LOSSES[name](space, theta, target).value for target in one_hot), atol=1e-12)


def test_costs_of_shares_are_expected_costs():
    cost, space = CostMatrix([[0, 1, 2], [1, 0, 3], [4, 1, 0]]), Choice(20, 3)
    vector, constant = cost.against(space, Shares.of(SHARES))
    np.testing.assert_allclose(vector.reshape(20, 3) + constant[:, None] * 0, SHARES @ cost.matrix(3))
    taken = Shares.of(SHARES).take(np.array([3, 1]))
    np.testing.assert_array_equal(taken.one_hot, SHARES[[3, 1]])
    assert taken.full.tolist() == [True, True]


def test_the_columns_of_a_frame_are_labels():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(SHARES, columns=["rain", "fog", "sun"])
    model = MulticlassClassifier(loss="crf").fit(X, frame)
    assert model.classes_.tolist() == ["rain", "fog", "sun"]
    assert model.score(X, frame) == model.score(X, frame[["sun", "rain", "fog"]]) == model.score(X, SHARES)


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({"loss": "hinge"}, SHARES, "y holds shares of labels and the loss hinge takes maxima; use loss='crf'"),
        ({}, SHARES * 2, r"y\[0\] is .*; the shares of labels are not negative and sum to 1"),
        ({}, np.where(np.arange(20)[:, None] == 4, [1.5, -0.5, 0.0], SHARES), r"y\[4\] is \[1.5, -0.5, 0.0\]"),
        ({}, np.where(np.arange(20)[:, None] == 4, np.nan, SHARES), r"y\[4\] is \[nan"),
        ({"classes": [0, 1]}, SHARES, "y has 3 columns but there are 2 labels"),
        ({"class_weight": "balanced"}, SHARES, "shares of labels, which have no class of their own"),
        ({}, SHARES[:5], "X has 20 rows but y has 5 labels"),
        ({"cost": ZeroOne()}, np.full((20, 2), "a"), "y is a table, but not of numbers"),
    ],
)
def test_what_is_no_share_is_refused(settings, y, message):
    with pytest.raises(ValueError, match=message):
        MulticlassClassifier(**{"loss": "crf"} | settings).fit(X, y)
