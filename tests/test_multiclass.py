import pickle
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from maximand import LOSSES, BlockFrankWolfe, Calibrated, CostMatrix, MulticlassClassifier, OneSlack
from thinning import scikit_learn_checks


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


# Tight, because one of the checks compares two fits to seven digits.
@scikit_learn_checks(
    [
        MulticlassClassifier(tolerance=1e-12, regularization=0.1),
        MulticlassClassifier(loss="crf", tolerance=1e-12, regularization=0.1),
    ]
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_hinge_reaches_the_optimum_of_liblinear(digits):
    X, y = digits
    C = 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = LinearSVC(multi_class="crammer_singer", C=C, fit_intercept=True, tol=1e-6, max_iter=20000).fit(X, y)
    ours = MulticlassClassifier(regularization=1 / (C * len(y)), tolerance=1e-6).fit(X, y)
    scores = X @ peer.coef_.T + peer.intercept_
    right = scores[np.arange(len(y)), y]
    augmented = scores + 1
    augmented[np.arange(len(y)), y] -= 1
    squared = (peer.coef_**2).sum() + (peer.intercept_**2).sum()
    optimum = 0.5 * squared + C * (augmented.max(axis=1) - right).sum()
    assert ours.objective_ * C * len(y) == pytest.approx(optimum, rel=1e-4)
    assert ours.gap_is_certificate_


def test_crf_is_multinomial_logistic_regression(digits):
    X, y = digits[0][:500], digits[1][:500]
    ours = MulticlassClassifier(loss="crf", regularization=0.01, fit_intercept=False, tolerance=1e-10).fit(X, y)
    peer = LogisticRegression(C=1 / (0.01 * len(y)), fit_intercept=False, tol=1e-8, max_iter=5000).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_learns_iris_with_strings(loss):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = make_pipeline(StandardScaler(), MulticlassClassifier(loss=loss))
    assert model.fit(X, names).score(X, names) > (0.8 if loss == "squared" else 0.9)  # it knows no bounds
    assert set(model.predict(X)) <= set(names)


def test_dense_and_sparse_inputs_agree(digits):
    X, y = digits[0][:300], digits[1][:300]
    for loss in ("hinge", "crf"):
        dense = MulticlassClassifier(loss=loss, tolerance=1e-8).fit(X, y)
        sparse = MulticlassClassifier(loss=loss, tolerance=1e-8).fit(csr_matrix(X), y)
        assert dense.objective_ == pytest.approx(sparse.objective_, rel=1e-7)
        np.testing.assert_array_equal(dense.predict(X), sparse.predict(csr_matrix(X)))


def test_candidate_sets_and_unknown_labels(digits):
    X, y = digits
    rng = np.random.default_rng(0)
    partial = [
        None if rng.random() < 0.2 else {int(label), int(rng.integers(10))} if rng.random() < 0.5 else int(label)
        for label in y[:900]
    ]
    for loss in ("hinge", "crf", "ramp", "bridge"):
        model = MulticlassClassifier(loss=loss).fit(X[:900], partial)
        assert model.score(X[900:], y[900:]) > 0.85
        assert not model.gap_is_certificate_
    assert MulticlassClassifier().fit(X[:900], list(y[:900])).gap_is_certificate_


def test_scores_of_candidates_and_unknown_labels(digits):
    X, y = digits[0][:300], digits[1][:300]
    model = MulticlassClassifier().fit(X, y)
    right = model.predict(X) == y
    unknown = np.where(np.arange(300) < 100, np.nan, y)
    for form in (unknown, unknown.astype(object), [None if np.isnan(label) else int(label) for label in unknown]):
        assert model.score(X, form) == right[100:].mean()
        np.testing.assert_array_equal(
            MulticlassClassifier().fit(X, form).weights_, MulticlassClassifier().fit(X, unknown).weights_
        )
    assert model.score(X, [{int(guess), -1} for guess in model.predict(X)]) == 1.0
    with pytest.raises(ValueError, match="no label that is known"):
        model.score(X[:2], [None, None])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(X[:3], [None, 1])


def test_it_says_that_it_is_not_fitted(digits):
    X, y = digits
    model = MulticlassClassifier(loss="crf")
    for question in (
        lambda: model.score(X, y),
        lambda: model.costs(X, y),
        lambda: model.predict_proba(X),
        lambda: model.coef_,
        lambda: model.intercept_,
    ):
        with pytest.raises(NotFittedError, match="This MulticlassClassifier instance is not fitted yet"):
            question()


def test_fully_ambiguous_training_data_are_learnt_as_full_ones(digits):
    X, y = digits[0][:200], digits[1][:200]
    sets = [{int(label)} for label in y]
    full, ambiguous = MulticlassClassifier().fit(X, y), MulticlassClassifier().fit(X, sets)
    np.testing.assert_array_equal(full.weights_, ambiguous.weights_)


def test_grid_search_and_clone(digits):
    X, y = digits[0][:300], digits[1][:300]
    search = GridSearchCV(MulticlassClassifier(), {"regularization": [1e-3, 1.0], "loss": ["hinge", "crf"]}, cv=3).fit(
        X, y
    )
    assert search.best_score_ > 0.85
    model = MulticlassClassifier(solver=OneSlack(tolerance=1e-2), cost=CostMatrix(1 - np.eye(10)))
    assert repr(clone(model).get_params()) == repr(model.get_params())


def test_classes_that_a_fold_does_not_hold(digits):
    X, y = digits
    kept = y < 9
    model = MulticlassClassifier(loss="crf", classes=np.arange(10)).fit(X[kept], y[kept])
    assert model.predict_proba(X).shape == (len(y), 10)
    np.testing.assert_array_equal(model.classes_, np.arange(10))
    assert MulticlassClassifier().fit(X[kept], y[kept]).score(X, y) > 0.8


def test_class_weights_move_the_boundary():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (300, 1)), rng.normal(1, 1, (30, 1))]
    y = np.r_[np.zeros(300), np.ones(30)]
    plain = MulticlassClassifier(loss="crf", regularization=1e-4).fit(X, y)
    balanced = MulticlassClassifier(loss="crf", regularization=1e-4, class_weight="balanced").fit(X, y)
    chosen = MulticlassClassifier(loss="crf", regularization=1e-4, class_weight={1.0: 10.0}).fit(X, y)
    assert (plain.predict(X) == 1).mean() < 0.1 < (balanced.predict(X) == 1).mean()
    np.testing.assert_array_equal(balanced.predict(X), chosen.predict(X))


def test_calibrated_decoding_follows_the_cost(digits):
    X, y = digits[0][:400], digits[1][:400]
    costs = 1.0 - np.eye(10)
    costs[:, 0] = 1e-3  # saying zero is never expensive
    np.fill_diagonal(costs, 0.0)
    model = MulticlassClassifier(loss="crf", decoder=Calibrated(CostMatrix(costs))).fit(X, y)
    assert (model.predict(X) == 0).mean() > 0.2
    assert (MulticlassClassifier(loss="crf").fit(X, y).predict(X) == 0).mean() < 0.12


def test_models_pickle_and_threads_agree(digits):
    X, y = digits
    one, two = (MulticlassClassifier(loss="crf", n_threads=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.weights_, two.weights_)
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.predict(X), one.predict(X))


def test_stopping_early_warns_and_says_why(digits):
    X, y = digits
    with pytest.warns(ConvergenceWarning, match="max_iterations=2 was reached"):
        model = MulticlassClassifier(solver=OneSlack(max_iterations=2)).fit(X, y)
    assert model.n_iter_ == 2
    assert model.stop_reason_ == "max_iterations=2 was reached"
    assert model.history_[-1].gap == model.gap_


def test_weights_of_seen_pairs_only():
    X = csr_matrix(np.array([[1.0, 0, 2], [0, 1, 0], [1, 0, 0], [0, 1, 1]]))
    model = MulticlassClassifier(pairs="seen", loss="crf").fit(X, ["a", "b", "c", "b"])
    assert model.weights_.size == 5 + 3
    assert model.coef_.shape == (3, 3)
    assert model.coef_[0, 1] == 0.0


BAD = [
    ({}, np.array([[1.0, np.nan]] * 4), [0, 1, 0, 1], r"X\[0\] contains NaN in feature 1; impute it"),
    ({}, np.array([[1.0, np.inf]] * 4), [0, 1, 0, 1], r"X\[0\] contains infinity in feature 1"),
    ({}, np.ones((4, 2)), [1, 1, 1, 1], r"hold 1 class; learning to choose needs at least 2 classes"),
    ({}, np.ones((4, 2)), [0, 1, 0], r"X has 4 rows but y has 3 labels"),
    ({}, np.ones((0, 2)), [], r"0 sample"),
    ({}, np.ones((2, 2)), [set(), {1}], r"1 class|empty set"),
    ({}, np.ones((3, 2)), [0, 1, set()], r"y\[2\] is an empty set; give its candidates"),
    ({"classes": [0, 1]}, np.ones((3, 2)), [0, 1, 7], r"y\[2\] has the unknown label 7; the labels are 0, 1"),
    (
        {"loss": "hing"},
        np.ones((3, 2)),
        [0, 1, 1],
        r"There is no loss 'hing'; choose one of perceptron, hinge",
    ),
    ({"loss": ["hinge"]}, np.ones((3, 2)), [0, 1, 1], r"There is no loss \['hinge'\]; choose one of perceptron"),
    ({"solver": np.ones(2)}, np.ones((3, 2)), [0, 1, 1], r"solver is array.*; give 'auto' or a Solver"),
    ({"n_threads": True}, np.ones((3, 2)), [0, 1, 1], r"n_threads is True; give a whole number"),
    ({"pairs": "sen"}, np.ones((3, 2)), [0, 1, 1], r"pairs is 'sen'; choose one of 'all', 'seen'"),
    ({"solver": "sgd"}, np.ones((3, 2)), [0, 1, 1], r"solver is 'sgd'; give 'auto' or a Solver"),
    ({"regularization": 0.0}, np.ones((3, 2)), [0, 1, 1], r"regularization is 0.0; it must be positive"),
    (
        {"loss": "slack_hinge"},
        np.ones((3, 2)),
        [0, 1, None],
        r"slack_hinge needs full annotations and example 2",
    ),
    (
        {"loss": "crf", "solver": BlockFrankWolfe()},
        np.ones((3, 2)),
        [0, 1, 1],
        r"BlockFrankWolfe needs a nonsmooth",
    ),
    (
        {"cost": CostMatrix([[0, 1], [1, 0]])},
        np.ones((3, 2)),
        [0, 1, 2],
        r"has 2 rows but there are 3 labels",
    ),
]


@pytest.mark.parametrize(("settings", "X", "y", "message"), BAD)
def test_bad_input_gets_one_sentence(settings, X, y, message):
    with pytest.raises(ValueError, match=message):
        MulticlassClassifier(**settings).fit(X, y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -1, 1], r"sample_weight\[1\] is -1.0"),
        ([0, 0, 0], "sample_weight is zero everywhere"),
        ([1, 1], r"expected \(3,\)"),
    ],
)
def test_bad_weights_are_named(weight, message):
    with pytest.raises(ValueError, match=message):
        MulticlassClassifier().fit(np.eye(3), [0, 1, 2], sample_weight=weight)


def test_hinge_has_no_probabilities():
    model = MulticlassClassifier().fit(np.eye(3), [0, 1, 2])
    assert not hasattr(model, "predict_proba")


def test_classes_may_be_given_in_any_order():
    X = np.array([[-1.0], [1.0], [-2.0], [2.0]])
    y = np.array(["low", "high", "low", "high"])
    model = MulticlassClassifier(classes=["low", "high"]).fit(X, y)
    assert model.classes_.tolist() == ["low", "high"]
    assert model.predict(X).tolist() == y.tolist()
