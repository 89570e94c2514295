import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix, vstack
from sklearn.feature_extraction import FeatureHasher
from sklearn.model_selection import GridSearchCV

from maximand import (
    GraphLabeler,
    Hamming,
    Legality,
    NodesAndEdges,
    OneSlack,
    Ragged,
    SequenceTagger,
    bio,
    bioes,
    check_sequence_estimator,
)
from maximand.datasets import simulate_chains
from maximand.spaces.chain import Violation
from maximand.tasks.label_names import LabelNames


@pytest.fixture(scope="module")
def chains():
    X, Y = simulate_chains(120)
    return X[:60], Y[:60], X[60:], Y[60:]


@pytest.mark.parametrize("loss", ["crf", "hinge", "perceptron", "augmented_crf"])
def test_our_own_checks(loss):
    check_sequence_estimator(SequenceTagger(loss=loss))


def test_the_checks_find_a_broken_estimator():
    class Forgetful(SequenceTagger):
        def predict(self, X, lengths=None):
            return [tags[:-1] for tags in super().predict(X, lengths)]

    with pytest.raises(AssertionError, match="one tag for each token"):
        check_sequence_estimator(Forgetful())


def test_forms_of_input_agree(chains):
    X, Y, X_test, _ = chains
    lengths = [len(x) for x in X]
    settings = {"pairs": "all", "regularization": 1e-2, "tolerance": 1e-9}
    listed = SequenceTagger(**settings).fit(X, Y)
    stacked = SequenceTagger(**settings).fit(np.vstack(X), np.concatenate(Y), lengths=lengths)
    sparse = SequenceTagger(**settings).fit(csr_matrix(np.vstack(X)), Y, lengths=lengths)
    matrices = SequenceTagger(**settings).fit([csr_matrix(x) for x in X], Y)
    dicts = SequenceTagger(**settings).fit([[{f"f{j:02}": v for j, v in enumerate(t)} for t in x] for x in X], Y)
    expected = np.concatenate(listed.predict(X_test))
    for model in (stacked, sparse, matrices):
        np.testing.assert_array_equal(np.concatenate(model.predict(X_test)), expected)
    test_dicts = [[{f"f{j:02}": v for j, v in enumerate(t)} for t in x] for x in X_test]
    np.testing.assert_array_equal(np.concatenate(dicts.predict(test_dicts)), expected)
    rows = vstack([csr_matrix(x) for x in X_test])
    ragged = sparse.predict(rows, lengths=[len(x) for x in X_test])
    np.testing.assert_array_equal(np.concatenate(ragged), expected)
    assert sparse.score(rows, chains[3], lengths=[len(x) for x in X_test]) == listed.score(X_test, chains[3])


def test_names_as_features_and_a_hasher():
    X = [[["w=the", "cap"], ["w=dog"]], [["w=a"], ["w=cat"]], [["w=the"], ["w=cat"]]]
    Y = [["D", "N"], ["D", "N"], ["D", "N"]]
    model = SequenceTagger().fit(X, Y)
    assert [tags.tolist() for tags in model.predict(X)] == Y
    assert [tags.tolist() for tags in model.predict([[["w=unseen"], ["w=dog"]]])] == [["D", "N"]]
    hashed = SequenceTagger(vectorizer=FeatureHasher(64)).fit(X, Y)
    assert [tags.tolist() for tags in hashed.predict(X)] == Y


def test_neighbours_help(chains):
    X, Y, X_test, Y_test = chains
    chain = SequenceTagger(regularization=1e-2).fit(X, Y).score(X_test, Y_test)
    tokens = [x[[t]] for x in X for t in range(len(x))]
    alone = SequenceTagger(regularization=1e-2).fit(tokens, [[tag] for y in Y for tag in y])
    single = alone.score([x[[t]] for x in X_test for t in range(len(x))], [[tag] for y in Y_test for tag in y])
    assert chain > single + 0.03


@pytest.mark.parametrize("loss", ["crf", "hinge", "ramp", "bridge", "max", "ramp_minus_cost"])
def test_partial_annotations(chains, loss):
    X, Y, X_test, Y_test = chains
    rng = np.random.default_rng(0)
    full = SequenceTagger(loss=loss, regularization=3e-2).fit(X, Y).score(X_test, Y_test)
    hidden = [[-1 if rng.random() < 0.4 else int(tag) for tag in y] for y in Y]
    partial = SequenceTagger(loss=loss, regularization=3e-2).fit(X, hidden)
    nones = [[None if tag == -1 else tag for tag in y] for y in hidden[:10]]
    few, same = (SequenceTagger(loss=loss, regularization=3e-2).fit(X[:10], form) for form in (hidden[:10], nones))
    np.testing.assert_array_equal(few.weights_, same.weights_)
    assert partial.score(X_test, Y_test) > full - 0.1
    assert sorted(partial.classes_) == [0, 1, 2, 3, 4]


def test_marginals_and_k_best(chains):
    X, Y, X_test, _ = chains
    model = SequenceTagger().fit(X, Y)
    assert not hasattr(SequenceTagger(loss="hinge"), "predict_proba")
    for probabilities, x in zip(model.predict_proba(X_test), X_test, strict=True):
        assert probabilities.shape == (len(x), 5)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    for ranked, best in zip(model.predict_k_best(X_test, 3), model.predict(X_test), strict=True):
        np.testing.assert_array_equal(ranked[0][1], best)
        scores = [score for score, _ in ranked]
        assert scores == sorted(scores, reverse=True)
        assert len({tuple(tags) for _, tags in ranked}) == len(ranked)
    assert len(model.predict_k_best([X[0][:1]], 9)[0]) == 5


def test_empty_sequences_are_predicted_as_empty(chains):
    X, Y, *_ = chains
    model = SequenceTagger().fit(X, Y)
    answers = model.predict([X[0], X[0][:0], X[1]])
    assert [len(tags) for tags in answers] == [len(X[0]), 0, len(X[1])]
    assert model.predict([]) == []


def test_schemes():
    labels = ["B-X", "I-X", "O", "B-Y", "I-Y"]
    rules = bio(labels)
    legal = np.isfinite(rules.between)
    assert legal[0, 1]
    assert not legal[2, 1]
    assert not legal[0, 4]
    assert legal[1, 3]
    np.testing.assert_array_equal(np.isfinite(rules.first), [True, False, True, True, False])
    assert np.isfinite(rules.last).all()
    rules = bioes(["B-X", "I-X", "E-X", "S-X", "O"])
    legal = np.isfinite(rules.between)
    assert legal[0].tolist() == [False, True, True, False, False]
    assert legal[2].tolist() == [True, False, False, True, True]
    np.testing.assert_array_equal(np.isfinite(rules.last), [False, False, True, True, True])
    with pytest.raises(ValueError, match="'Q-X' does not begin"):
        bio(["Q-X", "O"])


def test_illegal_transitions_are_never_predicted():
    rng = np.random.default_rng(0)
    Y = [["B-X", "I-X", "O"], ["O", "B-X", "I-X"], ["O", "O", "B-X"]] * 5
    X = [rng.normal(size=(3, 2)) for _ in Y]
    noisy = [10 * rng.normal(size=(20, 2)) for _ in range(20)]
    for loss in ("crf", "hinge"):
        model = SequenceTagger(scheme="BIO", loss=loss).fit(X, Y)
        for tags in model.predict(noisy):
            for before, after in zip(["O", *tags], tags, strict=False):
                assert after != "I-X" or before in ("B-X", "I-X")
    with pytest.raises(
        ValueError,
        match=r"Y\[1\] breaks the tagging scheme: label 'I-X' at position 1 may not follow label 'O'",
    ):
        SequenceTagger(scheme="BIO").fit(X[:2], [Y[0], ["O", "I-X", "O"]])
    with pytest.raises(ValueError, match="There is no tagging scheme 'IOB3'"):
        SequenceTagger(scheme="IOB3").fit(X, Y)


ILLEGAL = [
    (["I-X"], Violation(0, 1), "position 0 may not have label 'I-X'"),
    (["O", "B-X", "O"], Violation(2, 2, 0), "label 'O' at position 2 may not follow label 'B-X'"),
    (["O", "B-X"], Violation(1, 0, at_end=True), "the last position may not have label 'B-X'"),
    (["B-X"], Violation(0, 0, at_end=True), "the last position may not have label 'B-X'"),
]


@pytest.mark.parametrize(("tags", "violation", "sentence"), ILLEGAL)
def test_what_is_illegal_is_data_and_one_sentence(tags, violation, sentence):
    names = ["B-X", "I-X", "O"]
    between = np.array([[False, True, False], [True, True, True], [True, False, True]])
    legality = Legality.of(np.array([True, False, True]), between, np.array([False, True, True]))
    codes = [names.index(tag) for tag in tags]
    assert legality.violation(np.array(codes)) == violation
    assert legality.violation(np.full(len(codes), -1)) is None
    tagger = SequenceTagger(scheme=lambda labels: legality, classes=names)
    X = [np.ones((2, 2)), np.ones((len(tags), 2))]
    with pytest.raises(ValueError) as caught:
        tagger.fit(X, [["O", "O"], tags])
    assert str(caught.value) == f"Y[1] breaks the tagging scheme: {sentence}; mend it or drop it."


@pytest.mark.parametrize(
    ("tag", "problem"),
    [
        ("z", "has the unknown label 'z'; the labels are 'a', 'b'."),
        ({"a", "z"}, "has the unknown label 'z'; the labels are 'a', 'b'."),
        ({"z"}, "has the unknown label 'z'; the labels are 'a', 'b'."),
        (set(), "is an empty set; give its candidates, or None where unknown."),
    ],
)
def test_wrong_labels_are_found_by_looking_once(tag, problem, monkeypatch):
    calls = []
    encode = LabelNames.encode
    monkeypatch.setattr(LabelNames, "encode", lambda *arguments: calls.append(1) or encode(*arguments))
    Y = [["a", {"a", "b"}], ["b"], ["a", None, tag]]
    with pytest.raises(ValueError) as caught:
        SequenceTagger(classes=["a", "b"]).fit(X0, Y)
    assert str(caught.value) == f"Y[2], token 2, {problem}"
    graphs = [NodesAndEdges(x, []) for x in X0]
    with pytest.raises(ValueError) as caught:
        GraphLabeler(classes=["a", "b"]).fit(graphs, Y)
    assert str(caught.value) == f"Y[2], node 2, {problem}"
    assert len(calls) == 2


@pytest.mark.parametrize("value", [1.0, 1e308, np.inf, np.nan])
def test_a_legality_holds_nothing_but_zero_and_minus_infinity(value):
    with pytest.raises(ValueError, match="0 or -inf"):
        Legality(np.zeros(2), np.array([[0.0, value], [-np.inf, 0.0]]), np.zeros(2)).check(2)


def test_weights_of_classes_and_positions(chains):
    X, Y, X_test = chains[0][:30], chains[1][:30], chains[2]
    settings = {"loss": "hinge", "regularization": 1e-2}
    rare = SequenceTagger(class_weight={0: 20.0}, **settings).fit(X, Y)
    plain = SequenceTagger(**settings).fit(X, Y)
    assert sum((tags == 0).sum() for tags in rare.predict(X_test)) > sum(
        (tags == 0).sum() for tags in plain.predict(X_test)
    )
    ones = [np.ones(len(y)) for y in Y]
    weighted = SequenceTagger(**settings).fit(X, Y, position_weight=ones)
    assert weighted.objective_ == pytest.approx(plain.objective_, rel=1e-3)
    half = [np.full(len(y), 0.5) for y in Y]
    lighter = SequenceTagger(loss="hinge", regularization=0.5e-2).fit(X, Y, position_weight=half)
    heavier = SequenceTagger(**settings).fit(X, Y, position_weight=ones)
    assert lighter.objective_ < heavier.objective_


def test_search_pickling_and_threads(chains):
    X, Y, X_test, Y_test = chains
    search = GridSearchCV(SequenceTagger(), {"regularization": [1e-3, 1e-1]}, cv=3).fit(X, Y)
    assert search.best_score_ > 0.6
    one, two = (SequenceTagger(n_threads=n).fit(X, Y) for n in (1, 2))
    np.testing.assert_array_equal(one.weights_, two.weights_)
    assert pickle.loads(pickle.dumps(one)).score(X_test, Y_test) == one.score(X_test, Y_test)


def test_seen_pairs_are_what_training_held():
    X = [csr_matrix(np.array([[1.0, 0], [0, 1]])), csr_matrix(np.array([[1.0, 0], [0, 1]]))]
    model = SequenceTagger(fit_intercept=False, boundaries=False).fit(X, [["a", "b"], ["a", "c"]])
    assert model.weights_.size == 3 + 2


X0 = [np.ones((2, 3)), np.ones((1, 3)), np.ones((3, 3))]
Y0 = [["a", "b"], ["b"], ["a", "a", "b"]]
BAD = [
    (
        {},
        X0,
        [["a", "b"], ["b", "a"], Y0[2]],
        r"Y\[1\] has 2 tags but X\[1\] has 1 tokens; each token needs a tag",
    ),
    ({}, X0, Y0[:2], r"X has 3 sequences but Y has 2"),
    ({}, [], [], "X holds no sequences"),
    ({}, [*X0[:2], np.ones((3, 4))], Y0, r"X\[0\] has 3 features but X\[2\] has 4"),
    ({}, [*X0[:2], np.ones((0, 3))], [*Y0[:2], []], r"X\[2\] is an empty sequence; drop it"),
    ({}, [*X0[:2], np.full((3, 3), np.nan)], Y0, r"X\[2\], token 0, contains NaN in feature 0"),
    ({}, X0, [["a", "a"], ["a"], ["a"] * 3], "tags hold 1 class"),
    ({"classes": ["a", "c"]}, X0, Y0, r"Y\[0\], token 1, has the unknown label 'b'; the labels are 'a', 'c'"),
    ({"pairs": "some"}, X0, Y0, "pairs is 'some'; choose one of 'auto', 'all', 'seen'"),
    ({}, np.ones((6, 3)), Y0, "X is a single matrix; say where its sequences end"),
    ({}, Ragged(np.ones((6, 3)), [2, 1]), Y0, "X has 6 rows but the lengths add up to 3"),
    (
        {"solver": OneSlack(), "loss": "ramp"},
        X0,
        Y0,
        r"OneSlack needs a convex objective and ramp is not; use CCCP",
    ),
    ({"cost": Hamming(), "class_weight": "balanced", "loss": "hinge"}, X0, Y0, "either cost or class_weight"),
]


@pytest.mark.parametrize(("settings", "X", "Y", "message"), BAD)
def test_bad_input_gets_one_sentence(settings, X, Y, message):
    with pytest.raises(ValueError, match=message):
        SequenceTagger(**settings).fit(X, Y)


def test_other_features_at_prediction_are_refused():
    model = SequenceTagger().fit(X0, Y0)
    with pytest.raises(ValueError, match="X has 2 features but the model was trained with 3"):
        model.predict([np.ones((2, 2))])
    with pytest.raises(ValueError, match="trained on numbers"):
        model.predict([[{"a": 1}]])


@pytest.mark.parametrize("loss", ["hinge", "bridge", "ramp"])
def test_few_known_tags_teach_something(loss):
    X, Y = simulate_chains(400)
    rng = np.random.default_rng(1)
    known = [[int(tag) if rng.random() < 0.2 else None for tag in y] for y in Y[:200]]
    model = SequenceTagger(loss=loss, regularization=3e-2).fit(X[:200], known)
    assert model.score(X[200:], Y[200:]) > 0.85
