"""Forms of label sets and of what is known about them."""

from itertools import product

import numpy as np
import pytest
from label_set_samples import NAMES, as_sets, right
from scipy.sparse import csc_matrix, csr_array, csr_matrix

from maximand import (
    GraphCut,
    Greedy,
    Independent,
    MultilabelClassifier,
    Pairwise,
)


def test_forms_of_indicators_agree(table):
    X, Y, X_test, _ = table
    expected = MultilabelClassifier().fit(X, Y)
    forms = [
        Y.astype(bool), Y.astype(float), Y.astype(np.int8), Y.tolist(), list(Y), [tuple(row) for row in Y.tolist()],
        Y.astype(bool).tolist(), Y.astype(object), csr_matrix(Y), csr_array(Y), csc_matrix(Y), np.asfortranarray(Y),
    ]  # fmt: skip
    for form in forms:
        model = MultilabelClassifier().fit(X, form)
        np.testing.assert_array_equal(model.weights_, expected.weights_)
        np.testing.assert_array_equal(model.predict(X_test), expected.predict(X_test))
        assert model.score(X, form) == expected.score(X, Y)


def test_sets_of_names(table):
    X, Y, X_test, Y_test = table
    expected = MultilabelClassifier(structure="pairwise").fit(X, Y)
    forms = [
        as_sets(Y), [frozenset(names) for names in as_sets(Y)], [sorted(names) for names in as_sets(Y)],
        [tuple(sorted(names)) for names in as_sets(Y)], np.array(as_sets(Y), dtype=object), iter(as_sets(Y)),
        [{name: name in names for name in NAMES} for names in as_sets(Y)],
    ]  # fmt: skip
    for form in forms:
        model = MultilabelClassifier(structure="pairwise").fit(X, form)
        np.testing.assert_array_equal(model.weights_, expected.weights_)
        assert model.classes_.tolist() == list(NAMES)
        assert model.predict(X_test) == as_sets(expected.predict(X_test))
    assert model.score(X_test, as_sets(Y_test)) == expected.score(X_test, Y_test)
    assert model.score(X_test, Y_test) == expected.score(X_test, Y_test)
    numbers = MultilabelClassifier(structure="pairwise").fit(X, as_sets(Y, (10, 20, 30)))
    assert numbers.predict(X_test) == as_sets(expected.predict(X_test), (10, 20, 30))


def test_names_of_columns_and_labels_that_training_lacks(table):
    X, Y, X_test, _ = table
    named = MultilabelClassifier(classes=["jazz", "blues", "rock"]).fit(X, Y)
    assert named.classes_.tolist() == ["jazz", "blues", "rock"]
    np.testing.assert_array_equal(named.predict(X_test), MultilabelClassifier().fit(X, Y).predict(X_test))
    more = MultilabelClassifier(classes=[*NAMES, "waltz"]).fit(X, as_sets(Y))
    assert more.decision_function(X_test).shape == (60, 4)
    assert not any("waltz" in names for names in more.predict(X_test))


@pytest.mark.parametrize("search", [None, GraphCut(), Greedy()], ids=["exact", "GraphCut", "Greedy"])
def test_half_of_the_labels_are_enough(table, search):
    X, Y, X_test, Y_test = table
    hidden = np.where(np.random.default_rng(2).random(Y.shape) < 0.5, -1, Y)
    unknown = hidden.astype(float)
    unknown[hidden == -1] = np.nan
    settings = {"structure": Independent() if search is None else Pairwise(search), "regularization": 1e-2}
    model = MultilabelClassifier(**settings).fit(X, hidden)
    assert right(model, X_test, Y_test) > 0.8
    assert not model.gap_is_certificate_
    assert "not convex" in model.guarantee_text_
    partial = [
        {name: bool(there) for name, there in zip(NAMES, row, strict=True) if there >= 0} for row in hidden.tolist()
    ]
    nones = [[None if there == -1 else there for there in row] for row in hidden.tolist()]
    for form in (unknown, partial, nones, np.array(nones), csr_matrix(hidden)):
        np.testing.assert_array_equal(MultilabelClassifier(**settings).fit(X, form).weights_, model.weights_)


def test_what_is_not_known_does_not_count(table):
    X, Y, *_ = table
    hidden = np.where(np.arange(60)[:, None] < 20, -1, Y)
    some = MultilabelClassifier(regularization=0.015, tolerance=1e-8).fit(X, hidden)
    others = MultilabelClassifier(regularization=0.015, tolerance=1e-8).fit(X[20:], Y[20:])
    np.testing.assert_allclose(some.coef_, others.coef_, atol=1e-3)
    assert some.score(X, hidden) == others.score(X[20:], Y[20:])
    assert some.costs(X, hidden)[:20].max() == 0.0
    partly = np.where(np.random.default_rng(0).random(Y.shape) < 0.3, -1, Y)
    agrees = ((some.predict(X) == Y) | (partly == -1)).all(axis=1)[(partly >= 0).any(axis=1)]
    assert some.score(X, partly) == pytest.approx(agrees.mean())
    assert some.score(X, partly) > some.score(X, Y)
    nothing = [{}] * 20 + as_sets(Y[20:])
    np.testing.assert_array_equal(
        MultilabelClassifier(regularization=0.015, tolerance=1e-8).fit(X, nothing).weights_, some.weights_
    )


def test_dense_and_sparse_tables_agree(table):
    X, Y, X_test, _ = table
    X, X_test = X * (np.abs(X) > 0.5), X_test * (np.abs(X_test) > 0.5)
    for structure, loss in product(("independent", "pairwise"), ("hinge", "crf")):
        settings = {"structure": structure, "loss": loss, "tolerance": 1e-8, "regularization": 1e-2}
        dense, sparse = (MultilabelClassifier(**settings).fit(form, Y) for form in (X, csr_matrix(X)))
        assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-7)
        np.testing.assert_array_equal(sparse.predict(csr_matrix(X_test)), dense.predict(X_test))
        np.testing.assert_array_equal(sparse.costs(csr_matrix(X), Y), dense.costs(X.tolist(), Y))


def test_weights_of_seen_pairs_only():
    X = csr_matrix(np.array([[1.0, 0, 2], [0, 1, 0], [1, 0, 0], [0, 1, 1]]))
    Y = np.array([[1, 0], [0, 1], [1, 0], [0, 0]])
    model = MultilabelClassifier(pairs="seen", structure="pairwise").fit(X, Y)
    assert model.weights_.size == 3 + 2 + 1
    assert model.coef_[1, 0] == model.coef_[1, 2] == model.coef_[0, 1] == 0.0
    assert (model.predict(X)[[0, 2]] == Y[[0, 2]]).all()


def test_labels_that_never_change_and_single_ones(table):
    X, Y, X_test, _ = table
    constant = np.c_[Y, np.ones(60, dtype=int), np.zeros(60, dtype=int)]
    for structure in ("independent", "pairwise"):
        model = MultilabelClassifier(structure=structure).fit(X, constant)
        assert (model.predict(X_test)[:, 3:] == (1, 0)).all()
        assert right(model, X, constant) > 0.85
        one = MultilabelClassifier(structure=structure).fit(X, Y[:, :1])
        assert one.predict(X_test).shape == one.decision_function(X_test).shape == (60, 1)
        assert (one.predict(X) == Y[:, :1]).mean() > 0.85
        unknown = MultilabelClassifier(structure=structure).fit(X, np.c_[Y, np.full(60, -1)])
        assert (unknown.predict(X)[:, :3] == Y).mean() > 0.85
        scores = unknown.decision_function(X_test)
        assert structure == "pairwise" or np.abs(scores[:, 3]).max() < 1e-6  # with pairs it may serve the others
    assert MultilabelClassifier().fit(X, [{"yes"} if there else set() for there in Y[:, 0]]).predict(X)[0] <= {"yes"}
