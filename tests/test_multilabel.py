import pickle
import random
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csc_matrix, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, average_precision_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fuzzing import mutate
from maximand import (
    BeliefPropagation,
    BlockFrankWolfe,
    Combine,
    CostMatrix,
    Exhaustive,
    GraphCut,
    Greedy,
    Guarantee,
    Hamming,
    Independent,
    IntegerProgram,
    IteratedModes,
    LinearProgram,
    MaxScore,
    ModelFileError,
    MulticlassClassifier,
    MultilabelClassifier,
    NSlack,
    Pairwise,
    PrecisionAt,
    RhoApproximate,
    Tree,
    ZeroOne,
    load,
    save,
)
from maximand.models import dump
from thinning import scikit_learn_checks

NAMES = ("blues", "jazz", "rock")
TWO_VALUES = "sends columns with the values 1 and 2, which are no indicators"
ONE_DIMENSION = "sends a target of one dimension"


def expected_failures(estimator):
    failures = {
        "check_estimators_dtypes": TWO_VALUES,
        "check_sample_weights_not_an_array": TWO_VALUES,
        "check_sample_weights_shape": TWO_VALUES,
        "check_sample_weights_not_overwritten": TWO_VALUES,
        "check_classifier_data_not_an_array": TWO_VALUES,
        "check_fit2d_1feature": TWO_VALUES,
        "check_classifiers_classes": ONE_DIMENSION,
        "check_classifiers_train": "wants predictions of one dimension",
        "check_classifiers_regression_target": ONE_DIMENSION,
        "check_class_weight_classifiers": ONE_DIMENSION,
        "check_classifier_not_supporting_multiclass": ONE_DIMENSION,
    }
    if estimator.structure == "pairwise":
        failures["check_classifier_multioutput"] = "takes the scores of labels for the whole decision"
    if estimator.loss == "crf":
        wants = "wants two probabilities for one label"
        failures |= {"check_estimator_sparse_array": wants, "check_estimator_sparse_matrix": wants}
        failures["check_decision_proba_consistency"] = ONE_DIMENSION
        failures["check_supervised_y_no_nan"] = "wants infinite indicators to be refused in its own words"
    return failures


# Tight, because one of the checks compares two fits to seven digits; others have features that take long.
TIGHT = NSlack(tolerance=1e-9, max_iterations=100)


@scikit_learn_checks(
    [
        MultilabelClassifier(solver=TIGHT, regularization=0.1),
        MultilabelClassifier(structure="pairwise", solver=TIGHT, regularization=0.1),
        MultilabelClassifier(structure="pairwise", loss="crf", tolerance=1e-12, regularization=0.1),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def table():
    """120 rows, three labels that follow the features and each other; half to train on, half to test."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    Y = (X @ rng.normal(size=(4, 3)) + 0.5 * rng.normal(size=(120, 3)) > 0).astype(int)
    return X[:60], Y[:60], X[60:], Y[60:]


@pytest.fixture(scope="module")
def one_of_many():
    """Rows with exactly one of four labels, and features that say little about which."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 4, 200)
    X = 1.2 * np.eye(4)[labels] + rng.normal(size=(200, 4))
    Y = np.eye(4, dtype=int)[labels]
    return X[:100], Y[:100], X[100:], Y[100:]


def as_sets(Y, names=NAMES):
    return [{name for name, there in zip(names, row, strict=True) if there == 1} for row in Y]


def right(model, X, Y):
    return (model.predict(X) == Y).mean()


@pytest.mark.parametrize("structure", ["independent", "pairwise"])
@pytest.mark.parametrize("loss", ["hinge", "crf"])
def test_it_learns(table, structure, loss):
    X, Y, X_test, Y_test = table
    model = MultilabelClassifier(structure=structure, loss=loss).fit(X, Y)
    assert right(model, X_test, Y_test) > 0.8
    assert model.guarantee_ is Guarantee.EXACT
    assert model.gap_is_certificate_
    assert model.predict(X_test).dtype.kind == "i"
    assert model.score(X_test, Y_test) == accuracy_score(Y_test, model.predict(X_test))
    assert average_precision_score(Y_test, model.decision_function(X_test)) > 0.85


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
    assert "not convex" in model.meaning_
    partial = [
        {name: bool(there) for name, there in zip(NAMES, row, strict=True) if there >= 0} for row in hidden.tolist()
    ]
    nones = [[None if there == -1 else there for there in row] for row in hidden.tolist()]
    for form in (unknown, partial, nones, np.array(nones), csr_matrix(hidden)):
        np.testing.assert_array_equal(MultilabelClassifier(**settings).fit(X, form).weights_, model.weights_)


def test_what_is_not_known_does_not_count(table):
    X, Y, *_ = table
    hidden = np.where(np.arange(60)[:, None] < 20, -1, Y)
    some = MultilabelClassifier(regularization=0.03, tolerance=1e-8).fit(X, hidden)
    others = MultilabelClassifier(regularization=0.03 * 60 / 40, tolerance=1e-8).fit(X[20:], Y[20:])
    np.testing.assert_allclose(some.coef_, others.coef_, atol=1e-3)
    assert some.score(X, hidden) == others.score(X[20:], Y[20:])
    assert some.costs(X, hidden)[:20].max() == 0.0
    partly = np.where(np.random.default_rng(0).random(Y.shape) < 0.3, -1, Y)
    agrees = ((some.predict(X) == Y) | (partly == -1)).all(axis=1)[(partly >= 0).any(axis=1)]
    assert some.score(X, partly) == pytest.approx(agrees.mean())
    assert some.score(X, partly) > some.score(X, Y)
    nothing = [{}] * 20 + as_sets(Y[20:])
    np.testing.assert_array_equal(
        MultilabelClassifier(regularization=0.03, tolerance=1e-8).fit(X, nothing).weights_, some.weights_
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


def test_a_row_of_weight_two_is_a_row_twice(table):
    X, Y, *_ = table
    weight = np.ones(60)
    weight[:30] = 2.0
    for structure, loss in (("independent", "hinge"), ("pairwise", "crf")):
        settings = {"structure": structure, "loss": loss, "tolerance": 1e-9, "regularization": 1e-2}
        weighted = MultilabelClassifier(**settings).fit(X, Y, sample_weight=weight)
        repeated = MultilabelClassifier(**settings).fit(np.r_[X, X[:30]], np.r_[Y, Y[:30]])
        plain = MultilabelClassifier(**settings).fit(X, Y)
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
        np.testing.assert_allclose(weighted.weights_, repeated.weights_, atol=2e-3)
        assert np.abs(weighted.weights_ - plain.weights_).max() > 0.02
    assert weighted.score(X, Y, sample_weight=weight) == pytest.approx(
        repeated.score(np.r_[X, X[:30]], np.r_[Y, Y[:30]])
    )


def test_class_weights_move_the_boundary(table):
    X, Y, *_ = table
    plain = MultilabelClassifier().fit(X, Y)
    eager = MultilabelClassifier(class_weight={0: 1.0, 1: 8.0}).fit(X, Y)
    assert eager.predict(X).sum() > plain.predict(X).sum() + 5
    rare = np.where(np.random.default_rng(0).random(Y.shape) < 0.7, 0, Y)
    balanced = MultilabelClassifier(class_weight="balanced").fit(X, rare)
    by_hand = MultilabelClassifier(class_weight={there: rare.size / 2 / (rare == there).sum() for there in (0, 1)})
    np.testing.assert_array_equal(balanced.weights_, by_hand.fit(X, rare).weights_)
    assert balanced.predict(X).sum() > MultilabelClassifier().fit(X, rare).predict(X).sum() + 5


def test_independent_labels_are_separate_problems(table):
    X, Y, *_ = table
    together = MultilabelClassifier(tolerance=1e-7, regularization=0.01).fit(X, Y)
    # The hinge of a label is max(0, 1/3 - margin): with its weights three times as large it is a third of the usual
    # one. A multiclass machine of two labels has twice the distance between them.
    alone = 0.0
    for label in range(3):

        def objective(weights, label=label):
            signs = 2.0 * Y[:, label] - 1.0
            margins = signs * (X @ weights[:-1] + weights[-1])
            return 0.005 * weights @ weights + np.maximum(0.0, 1 / 3 - margins).mean()

        own = MultilabelClassifier(tolerance=1e-7, regularization=0.01, cost=CostMatrix(np.array([[0, 1], [1, 0]]) / 3))
        own.fit(X, Y[:, [label]])
        assert objective(own.weights_) == pytest.approx(own.objective_, rel=1e-9)
        assert minimize(objective, own.weights_, method="Powell").fun > own.objective_ * (1 - 1e-6)
        alone += own.objective_
        np.testing.assert_allclose(together.coef_[label], own.coef_[0], atol=2e-3)
    assert together.objective_ == pytest.approx(alone, rel=1e-5)
    assert not together.pair_weights_.any()


def test_pairs_learn_that_exactly_one_label_is_there(one_of_many):
    X, Y, X_test, Y_test = one_of_many
    alone = MultilabelClassifier(regularization=1e-2).fit(X, Y)
    pairs = MultilabelClassifier(structure="pairwise", regularization=1e-2).fit(X, Y)
    assert (pairs.predict(X_test).sum(axis=1) == 1).mean() > 0.9
    assert (alone.predict(X_test).sum(axis=1) == 1).mean() < 0.7
    assert pairs.score(X_test, Y_test) > alone.score(X_test, Y_test) + 0.1
    weights = pairs.pair_weights_
    np.testing.assert_array_equal(weights, weights.T)
    assert (weights[~np.eye(4, dtype=bool)] < 0).all()
    assert not np.diag(weights).any()


def test_the_parts_of_a_model_add_up_to_its_score(one_of_many):
    X, Y, X_test, _ = one_of_many
    model = MultilabelClassifier(structure="pairwise", regularization=1e-2).fit(X, Y)
    scores = X_test @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X_test), scores)
    sets = np.array(list(product((0, 1), repeat=4)))
    together = 0.5 * np.einsum("sl,lm,sm->s", sets, model.pair_weights_, sets)
    np.testing.assert_array_equal(model.predict(X_test), sets[(scores @ sets.T + together).argmax(axis=1)])


def test_probabilities_equal_enumeration(one_of_many):
    X, Y, X_test, Y_test = one_of_many
    losses = []
    for structure in ("pairwise", "independent"):
        model = MultilabelClassifier(structure=structure, loss="crf", regularization=1e-2).fit(X, Y)
        sets = np.array(list(product((0, 1), repeat=4)))
        scores = (X_test @ model.coef_.T + model.intercept_) @ sets.T
        scores = scores + 0.5 * np.einsum("sl,lm,sm->s", sets, model.pair_weights_, sets)
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(X_test), chances @ sets, atol=1e-10)
        losses.append(-np.log((chances * (sets[None] == Y_test[:, None]).all(axis=2)).sum(axis=1)).mean())
    assert losses[0] < losses[1] - 0.2
    assert not hasattr(MultilabelClassifier(), "predict_proba")


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


INFERENCES = {
    "Exhaustive": (Exhaustive(), Guarantee.EXACT, "exact; the gap is a certificate"),
    "Tree": (Tree(), Guarantee.EXACT, "exact; the gap is a certificate"),
    "IntegerProgram": (IntegerProgram(), Guarantee.EXACT, "exact; the gap is a certificate"),
    "Greedy": (Greedy(), Guarantee.UNDER, "lower bounds: the true objective may be higher"),
    "IteratedModes": (IteratedModes(), Guarantee.UNDER, "lower bounds: the true objective may be higher"),
    "BeliefPropagation": (BeliefPropagation(), Guarantee.UNDER, "lower bounds: the true objective may be higher"),
    "Combine": (Combine((Greedy(), BeliefPropagation())), Guarantee.UNDER, "lower bounds"),
    "Combine with an exact one": (Combine((Greedy(), Tree())), Guarantee.EXACT, "exact"),
    "RhoApproximate": (RhoApproximate(0.9), Guarantee.UNDER, "intervals(rho) says how much higher"),
    "GraphCut": (GraphCut(), Guarantee.OVER, "never below the true objective; the gap is a certificate"),
    "GraphCut, expansion": (GraphCut(expansion=True), Guarantee.UNDER, "lower bounds"),
    "LinearProgram": (LinearProgram(), Guarantee.OVER, "the minimum of the relaxation is at most so much lower"),
    "LinearProgram, integral": (LinearProgram(integral=True), Guarantee.UNDER, "lower bounds"),
}


@pytest.mark.parametrize("name", INFERENCES)
def test_every_inference_trains_and_says_what_it_is_worth(one_of_many, name):
    X, Y, X_test, Y_test = one_of_many
    inference, guarantee, words = INFERENCES[name]
    solver = BlockFrankWolfe(tolerance=0.03)
    model = MultilabelClassifier(structure=Pairwise(inference), regularization=0.05, solver=solver).fit(X[:40], Y[:40])
    assert model.guarantee_ is guarantee
    assert words in model.meaning_
    assert model.gap_is_certificate_ == (guarantee in (Guarantee.EXACT, Guarantee.OVER))
    assert (model.shortfall_ is not None) == (guarantee is Guarantee.UNDER)
    assert right(model, X_test, Y_test) > 0.75
    assert set(np.unique(model.predict(X_test))) <= {0, 1}


def test_another_inference_predicts(one_of_many):
    X, Y, X_test, _ = one_of_many
    exact = MultilabelClassifier(structure="pairwise", regularization=1e-2).fit(X, Y)
    frustrated = np.concatenate([np.eye(4).ravel(), np.full(4, 1.0), np.full(6, -2.0)])
    agreement = {}
    for inference in (GraphCut(), LinearProgram(), Greedy(), IntegerProgram(), RhoApproximate(0.3)):
        other = clone(exact).set_params(decoder=MaxScore(inference)).fit(X, Y)
        np.testing.assert_array_equal(other.weights_, exact.weights_)
        exact.weights_, fitted, other.weights_ = frustrated, exact.weights_, frustrated
        same = (exact.predict(X_test) == other.predict(X_test)).all(axis=1)
        exact.weights_ = fitted
        agreement[type(inference).__name__] = same.mean()
        assert set(np.unique(other.predict(X_test))) == {0, 1}
    assert agreement["IntegerProgram"] == 1.0
    assert agreement["RhoApproximate"] < 0.3
    assert agreement["Greedy"] > 0.9
    assert 0.2 < agreement["GraphCut"] == agreement["LinearProgram"] < 0.6  # many labels are half there, rounded to not


def test_many_labels_are_relaxed_by_default():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 3))
    Y = (X @ rng.normal(size=(3, 18)) > 0).astype(int)
    few = MultilabelClassifier(structure="pairwise", regularization=1.0, tolerance=0.1).fit(X, Y[:, :4])
    many = MultilabelClassifier(structure="pairwise", regularization=1.0, tolerance=0.1).fit(X, Y)
    assert few.guarantee_ is Guarantee.EXACT
    assert many.guarantee_ in (Guarantee.EXACT, Guarantee.OVER)
    assert many.gap_is_certificate_
    assert right(many, X, Y) > 0.8


def test_threads_change_nothing(one_of_many):
    X, Y, X_test, _ = one_of_many
    for structure, loss in (("pairwise", "crf"), (Pairwise(Greedy()), "hinge"), (Pairwise(GraphCut()), "hinge")):
        one, two = (
            MultilabelClassifier(structure=structure, loss=loss, regularization=0.1, n_threads=n).fit(X, Y)
            for n in (1, 2)
        )
        np.testing.assert_array_equal(one.weights_, two.weights_)
        np.testing.assert_array_equal(one.predict(X_test), two.predict(X_test))


def test_in_the_company_of_scikit_learn(table):
    X, Y, X_test, Y_test = table
    pipeline = make_pipeline(StandardScaler(), MultilabelClassifier(structure="pairwise"))
    assert pipeline.fit(X, Y).score(X_test, Y_test) > 0.5
    grid = {"regularization": [1e-3, 10.0], "structure": ["independent", Pairwise(Greedy())]}
    search = GridSearchCV(MultilabelClassifier(), grid, cv=3).fit(X, Y)
    assert search.best_params_["regularization"] == 1e-3
    assert search.best_score_ > 0.5
    sets = np.array(as_sets(Y), dtype=object)
    assert GridSearchCV(MultilabelClassifier(), {"regularization": [1e-3]}, cv=3).fit(X, sets).best_score_ > 0.5
    assert search.score(X_test, Y_test) == accuracy_score(Y_test, search.predict(X_test))
    again = pickle.loads(pickle.dumps(pipeline))
    np.testing.assert_array_equal(again.predict(X_test), pipeline.predict(X_test))
    model = MultilabelClassifier(structure=Pairwise(GraphCut()), cost=Hamming(), decoder=MaxScore(Greedy()))
    assert repr(clone(model).get_params()) == repr(model.get_params())


def fitted(table):
    X, Y, X_test, _ = table
    pairwise = Pairwise(Combine((Greedy(), BeliefPropagation())))
    return {
        "independent": (MultilabelClassifier().fit(X, Y), X_test),
        "sets": (MultilabelClassifier(structure="pairwise", loss="crf").fit(X, as_sets(Y)), X_test),
        "combined": (MultilabelClassifier(structure=pairwise, decoder=MaxScore(GraphCut())).fit(X, Y), X_test),
        "rho": (MultilabelClassifier(structure=Pairwise(RhoApproximate(0.9))).fit(X, Y), X_test),
        "seen": (MultilabelClassifier(pairs="seen", structure="pairwise").fit(csr_matrix(X), Y), csr_matrix(X_test)),
        "weighted": (MultilabelClassifier(class_weight={0: 1.0, 1: 2.0}, classes=NAMES).fit(X, Y), X_test),
        "scaled": (make_pipeline(StandardScaler(), MultilabelClassifier()).fit(X, as_sets(Y)), X_test),
    }


@pytest.fixture(scope="module")
def models(table):
    return fitted(table)


@pytest.mark.parametrize("name", ["independent", "sets", "combined", "rho", "seen", "weighted", "scaled"])
def test_a_loaded_model_is_the_saved_one(models, name, tmp_path):
    model, X = models[name]
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    for mine, theirs in zip(model.predict(X), loaded.predict(X), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(model.decision_function(X), loaded.decision_function(X))
    assert repr(loaded.get_params()) == repr(model.get_params())
    before, after = (m[-1] if name == "scaled" else m for m in (model, loaded))
    for attribute in ("guarantee_", "meaning_", "shortfall_", "gap_", "history_", "stop_reason_"):
        assert getattr(after, attribute) == getattr(before, attribute)
    if name == "sets":
        np.testing.assert_array_equal(model.predict_proba(X), loaded.predict_proba(X))


def test_damaged_files_are_read_or_refused(models):
    rng = random.Random(0)
    for name in ("sets", "combined", "seen"):
        model, X = models[name]
        content = dump(model)
        for damaged in [mutate(content, rng) for _ in range(100)] + [content[:n] for n in range(0, len(content), 199)]:
            try:
                loaded = load(damaged)
            except ModelFileError:
                continue
            loaded.predict(X)


X0, Y0 = np.arange(8.0).reshape(4, 2), np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
S0 = [{"a"}, {"b"}, {"a", "b"}, set()]
BAD = [
    ({}, Y0 * 2, r"y\[0, 0\] is 2; it must be 1 or 0, or -1 or NaN where not known"),
    ({}, Y0 - 2, r"y\[0, 1\] is -2; it must be 1 or 0"),
    ({}, np.where(Y0, np.inf, 0), r"y\[0, 0\] is inf; it must be 1 or 0"),
    ({}, Y0[:, 0], r"y is an array of shape \(4,\); give indicators \(row, label\) or a list of sets.*Multiclass"),
    ({}, Y0[:, :, None], r"y is an array of shape \(4, 2, 1\); give indicators"),
    ({}, Y0.astype(str), r"y is a matrix of <U21; give indicators 1 and 0, or a list of sets of labels"),
    ({}, ["a", "b", "a", "b"], r"y\[0\] is 'a'; give a collection of labels for each row, such as a set"),
    ({}, [0, 1, 1, 0], r"y\[0\] is 0; give a collection of labels for each row"),
    ({}, [*S0[:3], None], r"y\[3\] is None; give a collection .* or \{\} where nothing is known"),
    ({}, [["a", "a"], *S0[1:]], r"y\[0\] names the label 'a' twice; give sets of labels, or a matrix of indicators"),
    ({}, [[1, 0, 2], [1, 0, 0], [1, 0, 1], [0, 0, 0]], r"y\[1\] names the label 0 twice; .* matrix of indicators"),
    ({}, [[["a"]], *S0[1:]], r"y\[0\] is \[\['a'\]\]; labels are strings, numbers or tuples"),
    ({}, [{"a": "no"}, *S0[1:]], r"y\[0\]\['a'\] is 'no'; it must be True, False, or None where not known"),
    ({}, [set()] * 4, r"There are no labels in y; name them with classes="),
    ({}, 3, r"y is of type int; give indicators"),
    ({}, None, r"requires y to be passed"),
    ({}, Y0[:3], r"X has 4 rows but y has 3; each row needs its labels"),
    ({}, S0[:3], r"X has 4 rows but y has 3; each row needs its labels"),
    ({"classes": ["a"]}, Y0, r"y has 2 columns but there are 1 labels; each label needs a column"),
    ({"classes": ["a", "c"]}, S0, r"y\[1\] has the unknown label 'b'; the labels are 'a', 'c'"),
    ({"cost": PrecisionAt(2), "loss": "euclidean"}, Y0, r"PrecisionAt\(2\) compares sets of that size with others"),
    ({"structure": "pair"}, Y0, r"There is no structure 'pair'; choose one of independent, budget, pairwise, or give"),
    ({"structure": Pairwise}, Y0, r"There is no structure <class .*Pairwise'>; .* or Pairwise\(\)"),
    ({"structure": Pairwise("greedy")}, Y0, r"search is 'greedy'; give None or an inference such as GraphCut\(\)"),
    ({"pairs": "some"}, Y0, r"pairs is 'some'; choose one of 'all', 'seen'"),
    ({"loss": "hing"}, Y0, r"There is no loss 'hing'"),
    ({"solver": "sgd"}, Y0, r"solver is 'sgd'; give 'auto' or a Solver"),
    ({"regularization": 0.0}, Y0, r"regularization is 0.0; it must be positive"),
    ({"cost": Hamming(), "class_weight": "balanced"}, Y0, r"Give either cost or class_weight"),
    ({"cost": ZeroOne()}, Y0, r"ZeroOne is not affine in the parts of a Subset; use Hamming\(\)"),
    ({"loss": "slack_hinge"}, Y0 * [1, -1], r"slack_hinge needs full annotations and example 1 is partial"),
    ({"structure": Pairwise(Exhaustive())}, np.ones((4, 25)), r"Exhaustive\(\) would list the 2\^25 labellings"),
    (
        {"structure": Pairwise(Tree())},
        np.ones((4, 25)),
        r"Tree\(\) would need tables of 3e\+07 entries for graph 0; use Belief",
    ),
]


@pytest.mark.parametrize(("settings", "Y", "message"), BAD)
def test_bad_labels_get_one_sentence(settings, Y, message):
    with pytest.raises(ValueError, match=message):
        MultilabelClassifier(**settings).fit(X0, Y)


def test_bad_tables_get_one_sentence():
    for bad, message in (
        (np.where(X0 == 3, np.nan, X0), r"X\[1\] contains NaN in feature 1; impute it"),
        (csr_matrix(np.where(X0 == 3, np.inf, X0)), r"X\[1\] contains infinity in feature 1"),
        (X0[:0], "0 sample"),
    ):
        with pytest.raises(ValueError, match=message):
            MultilabelClassifier().fit(bad, Y0)
    model = MultilabelClassifier().fit(X0, S0)
    with pytest.raises(ValueError, match=r"X\[0\] contains NaN"):
        model.predict(X0 * np.nan)
    with pytest.raises(ValueError, match="X has 1 features, but MultilabelClassifier is expecting 2"):
        model.predict(X0[:, :1])
    for answer in (model.score, model.costs):
        with pytest.raises(ValueError, match=r"y\[0\] has the unknown label 'z'; the labels are 'a', 'b'"):
            answer(X0, [{"z"}, *S0[1:]])
        with pytest.raises(ValueError, match="X has 4 rows but y has 3"):
            answer(X0, S0[:3])
    with pytest.raises(ValueError, match="y holds no label that is known"):
        model.score(X0, [{}] * 4)
    with pytest.raises(ValueError, match=r"expected \(4,\)"):
        model.score(X0, S0, sample_weight=[1.0])


def test_it_says_that_it_is_not_fitted():
    model = MultilabelClassifier(loss="crf")
    for question in (
        lambda: model.score(X0, Y0),
        lambda: model.costs(X0, Y0),
        lambda: model.predict_proba(X0),
        lambda: model.coef_,
        lambda: model.intercept_,
        lambda: model.pair_weights_,
    ):
        with pytest.raises(NotFittedError, match="This MultilabelClassifier instance is not fitted yet"):
            question()


def test_an_upper_bound_cannot_be_combined(one_of_many):
    X, Y, *_ = one_of_many
    with pytest.raises(ValueError, match=r"GraphCut\(\) returns an upper bound, which is no labelling; Combine takes"):
        MultilabelClassifier(structure=Pairwise(Combine((Greedy(), GraphCut())))).fit(X, Y)


def test_probabilities_need_marginals(table):
    X, Y, *_ = table
    with pytest.raises(NotImplementedError, match=r"Greedy has no marginals; use Tree\(\), Exhaustive\(\)"):
        MultilabelClassifier(structure=Pairwise(Greedy()), loss="crf").fit(X, Y)


def test_one_of_many_is_a_choice(one_of_many):
    """Where exactly one label is there, the pairwise machine comes close to the multiclass one."""
    X, Y, X_test, Y_test = one_of_many
    choice = MulticlassClassifier(regularization=1e-2).fit(X, Y.argmax(axis=1))
    pairs = MultilabelClassifier(structure="pairwise", regularization=1e-2).fit(X, Y)
    assert pairs.score(X_test, Y_test) > choice.score(X_test, Y_test.argmax(axis=1)) - 0.1
