"""The shortest way to the outputs of a few inputs leads to what the trunk finds, or back to the trunk."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from maximand import (
    Calibrated,
    MaxScore,
    MulticlassClassifier,
    OrdinalClassifier,
    Ragged,
    SequenceTagger,
    bio,
)
from maximand.tasks.quick import FEW, SMALL

TAGS = ["B-X", "I-X", "O", "B-Y", "I-Y"]


def sequences(rng, n):
    """Sparse features of sequences, and legal tags."""
    X, Y = [], []
    for length in rng.integers(1, 6, n):
        X.append(csr_array(rng.integers(0, 2, (length, 12)) * rng.normal(size=(length, 12))))
        Y.append([("B-X", "I-X", "O")[t % 3] if length % 2 else ("B-Y", "I-Y", "O")[t % 3] for t in range(length)])
    return X, Y


@pytest.mark.parametrize("pairs", ["all", "seen"])
@pytest.mark.parametrize("boundaries", [True, False])
@pytest.mark.parametrize("scheme", [None, "BIO"])
def test_tags(pairs, boundaries, scheme):
    rng = np.random.default_rng(0)
    model = SequenceTagger(pairs=pairs, boundaries=boundaries, scheme=scheme, fit_intercept=boundaries)
    model.fit(*sequences(rng, 20))
    model.weights_ = rng.normal(size=model.weights_.size)
    quick, (X, _) = model.predictor()._quick, sequences(rng, 9)
    ragged = Ragged(csr_array(np.vstack([x.toarray() for x in X])), [x.shape[0] for x in X])
    for some in (X, X[:1], X[-3:], ragged):
        for found, wanted in zip(quick(some), model.predict(some), strict=True):
            np.testing.assert_array_equal(found, wanted)
    many = X * (FEW // 5)
    assert quick(many) is quick([]) is quick([X[0], X[1][:0]]) is quick([x.toarray() for x in X]) is None


def test_sequences_without_legal_tags_are_left_to_the_trunk():
    rng = np.random.default_rng(0)
    X, Y = sequences(rng, 20)

    def ends_inside(labels):
        legal = bio(labels)
        legal.last[labels.index("B-X")] = -np.inf
        legal.last[[labels.index("O"), labels.index("B-Y")]] = -np.inf
        return legal

    whole = [i for i, y in enumerate(Y) if y[-1].startswith("I-")]
    model = SequenceTagger(scheme=ends_inside).fit([X[i] for i in whole], [Y[i] for i in whole])
    frozen = model.predictor()
    assert frozen._quick([X[0][:1]]) is None
    with pytest.raises(ValueError, match="no legal output"):
        frozen.predict([X[0][:1]])


@pytest.mark.parametrize("intercept", [True, False])
def test_labels_of_rows(intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    model = MulticlassClassifier(fit_intercept=intercept).fit(X, np.array(["a", "b", "c"])[X[:, :3].argmax(axis=1)])
    quick = model.predictor()._quick
    for some in (X, X[:1], np.zeros((2, 4))):
        np.testing.assert_array_equal(quick(some), model.predict(some))
    large = np.zeros((SMALL, 4))
    for other in (large, X.tolist(), X[:, :2], X[0], csr_array(X), np.asfortranarray(X), X.astype(np.float32), X[:0]):
        assert quick(other) is None
    with pytest.raises(ValueError, match="X\\[1\\] contains NaN"):
        quick(np.array([[0.0] * 4, [np.nan] * 4]))


def test_other_models_have_no_short_way():
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = X.argmax(axis=1)

    class Other(MulticlassClassifier):
        def predict(self, X):
            return super().predict(X) + 1

    others = (Other(), OrdinalClassifier(), MulticlassClassifier(decoder=Calibrated()), MulticlassClassifier())
    for model in others[:3]:
        frozen = model.fit(X, y).predictor()
        assert frozen._quick is None
        np.testing.assert_array_equal(frozen.predict(X), model.predict(X))
    assert others[3].set_params(decoder=MaxScore()).fit(X, y).predictor()._quick is not None
