"""What multilabel classifiers learn, and how they keep to scikit-learn's rules."""

import pickle

import numpy as np
import pytest
from label_set_samples import as_sets, right
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.metrics import accuracy_score, average_precision_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from expected_failures import OF_LABEL_SETS, ONE_DIMENSION
from maximand import (
    GraphCut,
    Greedy,
    Guarantee,
    Hamming,
    MaxScore,
    MultilabelClassifier,
    NSlack,
    Pairwise,
)
from thinning import scikit_learn_checks


def expected_failures(estimator):
    failures = dict(OF_LABEL_SETS)
    if estimator.structure == "pairwise":
        failures["check_classifier_multioutput"] = "takes the scores of labels for the whole decision"
    if estimator.loss == "crf":
        wants = "wants two probabilities for one label"
        failures |= {"check_estimator_sparse_array": wants, "check_estimator_sparse_matrix": wants}
        failures["check_decision_proba_consistency"] = ONE_DIMENSION
    else:
        del failures["check_supervised_y_no_nan"]  # NSlack refuses what is not known
    return failures


# Tight, because one of the checks compares two fits to seven digits; others have features that take long.
TIGHT = NSlack(tolerance=1e-9, max_iterations=100)


@scikit_learn_checks(
    [
        MultilabelClassifier(solver=TIGHT, regularization=0.1),
        MultilabelClassifier(structure="pairwise", solver=TIGHT, regularization=0.1 / 3),
        MultilabelClassifier(structure="pairwise", loss="crf", tolerance=1e-12, regularization=0.1),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


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
    settings = {"tolerance": 1e-7, "regularization": 0.01 / 3}
    together = MultilabelClassifier(**settings).fit(X, Y)
    alone = 0.0
    for label in range(3):

        def objective(weights, label=label):
            signs = 2.0 * Y[:, label] - 1.0
            margins = signs * (X @ weights[:-1] + weights[-1])
            return 0.005 / 3 * weights @ weights + np.maximum(0.0, 1.0 - margins).mean()

        own = MultilabelClassifier(**settings).fit(X, Y[:, [label]])
        assert objective(own.weights_) == pytest.approx(own.objective_, rel=1e-9)
        assert minimize(objective, own.weights_, method="Powell").fun > own.objective_ * (1 - 1e-6)
        alone += own.objective_
        distance = np.linalg.norm(together.coef_[label] - own.coef_[0])
        assert distance <= sum(np.sqrt(2.0 * model.gap_ / settings["regularization"]) for model in (together, own))
    assert together.objective_ == pytest.approx(alone, rel=1e-5)
    assert not together.pair_weights_.any()


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
