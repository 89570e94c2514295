"""What label rankers learn from rankings in any form, and how they are decoded, chosen and saved."""

import pickle
import time

import numpy as np
import pytest
from ranking_samples import NAMES
from scipy.sparse import csr_array
from scipy.stats import kendalltau
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import (
    AdditiveChi2Sampler,
    Nystroem,
    PolynomialCountSketch,
    RBFSampler,
    SkewedChi2Sampler,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from maximand import (
    Absolute,
    ActiveSet,
    Calibrated,
    Cube,
    DifferentParts,
    DiscountedGain,
    Entropic,
    Euclidean,
    Everything,
    Hamming,
    Hull,
    LabelRanker,
    MaxScore,
    RegularizationCV,
    RowStochastic,
    Sized,
    Squared,
    load,
    regularization_path,
    save,
)
from maximand.models import dump
from maximand.spaces import Matching

KERNELS = [
    AdditiveChi2Sampler(),
    Nystroem(n_components=30, random_state=0),
    PolynomialCountSketch(n_components=30, random_state=0),
    RBFSampler(n_components=30, random_state=0),
    SkewedChi2Sampler(n_components=30, random_state=0),
]


@pytest.mark.parametrize("encoding", ["matrix", "vector"])
@pytest.mark.parametrize("projection", ["euclidean", "entropic", "squared", "hinge"])
def test_it_learns(table, encoding, projection):
    X, Y, X_test, Y_test = table
    model = LabelRanker(projection=projection, encoding=encoding).fit(X, Y)
    assert model.score(X_test, Y_test) > 0.6
    assert model.gap_is_certificate_
    predicted = model.predict(X_test)
    assert predicted.shape == Y_test.shape
    assert all(sorted(row) == NAMES.tolist() for row in predicted.tolist())
    positions = model.predict_positions(X_test)
    np.testing.assert_array_equal(np.take_along_axis(NAMES[None], np.argsort(positions, axis=1), axis=1), predicted)
    shape = (5, 4, 4) if encoding == "matrix" else (5, 4)
    assert model.coef_.shape == (*shape[1:], 5)
    assert model.intercept_.shape == shape[1:]
    assert model.decision_function(X_test[:5]).shape == shape
    assert hasattr(model, "predict_soft") == (projection != "hinge")
    assert hasattr(model, "predict_proba") == (projection in ("euclidean", "entropic") and encoding == "matrix")
    if projection != "hinge":
        assert model.predict_soft(X_test[:5]).shape == shape


def test_the_score_is_kendalls_tau(table):
    X, Y, X_test, Y_test = table
    model = LabelRanker().fit(X, Y)
    positions = model.predict_positions(X_test)
    true = np.array([[row.tolist().index(name) for name in NAMES] for row in Y_test])
    taus = [kendalltau(a, b).statistic for a, b in zip(positions, true, strict=True)]
    assert model.score(X_test, Y_test) == pytest.approx(np.mean(taus))
    weights = np.arange(100.0)
    assert model.score(X_test, Y_test, weights) == pytest.approx(np.average(taus, weights=weights))


def test_costs_agree_with_the_cost_of_each_row(table):
    X, Y, X_test, Y_test = table
    true = np.array([[row.tolist().index(name) for name in NAMES] for row in Y_test])
    for cost in (Hamming(), Absolute(), Squared(normalized=True), DiscountedGain(top=2)):
        model = LabelRanker(cost=cost).fit(X, Y)
        pairs = zip(true, model.predict_positions(X_test), strict=True)
        np.testing.assert_allclose(model.costs(X_test, Y_test), [cost(*pair) for pair in pairs])


def test_parts_that_differ_are_twice_the_labels_that_do(table):
    X, Y, X_test, Y_test = table
    parts = LabelRanker(cost=DifferentParts()).fit(X, Y)
    labels = LabelRanker(cost=Hamming()).fit(X, Y)
    np.testing.assert_allclose(parts.costs(X_test, Y_test), 2 * labels.costs(X_test, Y_test))
    with pytest.raises(ValueError, match="does not know which parts the labels of example 1 leave open; use Hamming"):
        parts.costs(X_test[:2], [Y_test[0], Y_test[1][:2]])


def test_soft_permutation_matrices_are_doubly_stochastic(table):
    X, Y, X_test, _ = table
    for projection in (Euclidean(), Entropic()):
        soft = LabelRanker(projection=projection).fit(X, Y).predict_soft(X_test)
        np.testing.assert_allclose(soft.sum(axis=1), 1.0, atol=1e-9)
        np.testing.assert_allclose(soft.sum(axis=2), 1.0, atol=1e-9)
        assert (soft == 0).any() == isinstance(projection, Euclidean)
    rows = LabelRanker(projection=Euclidean(RowStochastic())).fit(X, Y).predict_soft(X_test)
    np.testing.assert_allclose(rows.sum(axis=2), 1.0)
    assert not np.allclose(rows.sum(axis=1), 1.0, atol=1e-3)
    np.testing.assert_allclose(
        LabelRanker(projection=Euclidean(Everything())).fit(X, Y).predict_soft(X_test),
        LabelRanker(projection="squared").fit(X, Y).decision_function(X_test),
    )


def test_the_active_set_trains_to_the_same_weights(table):
    X, Y, _, _ = table
    own = LabelRanker(tolerance=1e-6).fit(X, Y)
    generic = LabelRanker(projection=Euclidean(Hull(ActiveSet())), tolerance=1e-6).fit(X, Y)
    np.testing.assert_allclose(own.weights_, generic.weights_, atol=1e-3)
    assert own.objective_ == pytest.approx(generic.objective_, rel=1e-5)


def test_decoders(table):
    X, Y, X_test, _ = table
    model = LabelRanker().fit(X, Y)
    soft = model.predict_soft(X_test)
    space = Matching(100, 4)
    np.testing.assert_array_equal(
        np.array(space.decode(space.argmax(soft.ravel()).mean)), model.predict_positions(X_test)
    )
    by_score = clone(model).set_params(decoding=MaxScore()).fit(X, Y)
    by_distance = clone(model).set_params(decoding=Calibrated(Squared(), Euclidean())).fit(X, Y)
    for other in (by_score, by_distance):
        assert 0.8 < (other.predict(X_test) == model.predict(X_test)).mean() <= 1.0
    theta = model.decision_function(X_test).ravel()
    cube = Calibrated(DifferentParts(), Euclidean(), among=Cube())(space, theta)
    np.testing.assert_array_equal(cube, (soft.ravel() > 0.5).astype(float))
    rows = Calibrated(DifferentParts(), Euclidean(), among=RowStochastic())(space, theta)
    np.testing.assert_array_equal(rows.reshape(-1, 4).argmax(axis=1), soft.reshape(-1, 4).argmax(axis=1))


FORMS = {
    "lists": lambda Y: Y.tolist(),
    "tuples": lambda Y: tuple(map(tuple, Y.tolist())),
    "text": lambda Y: [" > ".join(row) for row in Y.tolist()],
    "objects": lambda Y: Y.astype(object),
    "arrays": lambda Y: list(Y),
    "sets of one": lambda Y: [[{label} for label in row] for row in Y.tolist()],
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_rankings_agree(table, form):
    X, Y, _, _ = table
    expected, model = LabelRanker().fit(X, Y), LabelRanker().fit(X, FORMS[form](Y))
    np.testing.assert_array_equal(model.weights_, expected.weights_)
    assert model.score(X, FORMS[form](Y)) == expected.score(X, Y)


def test_sparse_tables_weights_and_numbers_as_labels(table):
    X, Y, X_test, _ = table
    dense = LabelRanker(tolerance=1e-7).fit(X, Y)
    sparse = LabelRanker(tolerance=1e-7).fit(csr_array(X), Y)
    np.testing.assert_allclose(sparse.weights_, dense.weights_, atol=1e-4)
    twice = LabelRanker(tolerance=1e-7).fit(np.r_[X, X[:20]], np.r_[Y, Y[:20]])
    weighted = LabelRanker(tolerance=1e-7).fit(X, Y, sample_weight=np.r_[np.full(20, 2.0), np.ones(80)])
    np.testing.assert_allclose(twice.weights_, weighted.weights_, atol=1e-4)
    codes = np.searchsorted(NAMES, Y)
    numbers = LabelRanker(tolerance=1e-7).fit(X, codes)
    np.testing.assert_array_equal(NAMES[numbers.predict(X_test)], dense.predict(X_test))
    with_unseen = LabelRanker(classes=["zelkova", *NAMES]).fit(X, Y.tolist())
    assert with_unseen.predict(X_test).shape == (100, 5)


@pytest.mark.parametrize("encoding", ["matrix", "vector"])
@pytest.mark.parametrize("projection", ["euclidean", "entropic"])
@pytest.mark.filterwarnings("ignore:Training stopped early")
def test_partial_rankings_teach(table, encoding, projection):
    X, Y, X_test, Y_test = table
    rng = np.random.default_rng(1)
    some = [[label for label in row if rng.random() < 0.6] for row in Y.tolist()]
    top = [row[:2] for row in Y.tolist()]
    ties = [[row[0], {row[1], row[2]}, row[3]] for row in Y.tolist()]
    for rankings, unlisted in ((some, "anywhere"), (top, "below"), (ties, "anywhere")):
        model = LabelRanker(
            projection=projection, encoding=encoding, unlisted=unlisted, regularization=1e-2, max_iterations=60
        )
        model.fit(X, rankings)
        assert model.score(X_test, Y_test) > 0.5
        assert not model.gap_is_certificate_
        assert model.score(X, rankings) > 0.5


def test_what_is_not_listed(table):
    X, _, _, _ = table
    model = LabelRanker(classes=NAMES, unlisted="below").fit(X[:2], [["elm"], ["ash", "birch"]])
    labels = model.task_.annotation(model.task_.encode(X[:2]), [["elm"], ["ash", "birch"]])
    allowed = labels.allowed_nodes.reshape(2, 4, 4)
    np.testing.assert_array_equal(allowed[0, 3], [True, False, False, False])
    np.testing.assert_array_equal(allowed[0, 0], [False, True, True, True])
    np.testing.assert_array_equal(allowed[1, 2], [False, False, True, True])
    model = LabelRanker(classes=NAMES).fit(X[:2], [["elm", "ash"], None])
    labels = model.task_.annotation(model.task_.encode(X[:2]), [["elm", "ash"], None])
    allowed = labels.allowed_nodes.reshape(2, 4, 4)
    np.testing.assert_array_equal(allowed[0, 3], [True, True, True, False])
    np.testing.assert_array_equal(allowed[0, 0], [False, True, True, True])
    assert allowed[0, 1].all() and allowed[1].all()


def test_parts_of_bounded_sums(table):
    X, Y, X_test, _ = table
    cube, sized = (LabelRanker(projection=Euclidean(onto)).fit(X, Y) for onto in (Cube(), Sized(-1, 99)))
    np.testing.assert_allclose(sized.predict_soft(X_test), cube.predict_soft(X_test), atol=1e-2)
    np.testing.assert_array_equal(Sized(0, 9).argmax(Matching(1, 2), np.ones(4)).mean, np.ones(4))


def test_it_is_a_citizen_of_scikit_learn(table, tmp_path):
    X, Y, X_test, Y_test = table
    pipeline = make_pipeline(StandardScaler(), LabelRanker(projection=Entropic(RowStochastic())))
    search = GridSearchCV(pipeline, {"labelranker__regularization": [1e-3, 1.0]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"labelranker__regularization": 1e-3}
    again = pickle.loads(pickle.dumps(clone(pipeline).fit(X, Y)))
    np.testing.assert_array_equal(again.predict(X_test), clone(pipeline).fit(X, Y).predict(X_test))
    save(again, tmp_path / "ranker.maximand")
    loaded = load(tmp_path / "ranker.maximand")
    np.testing.assert_array_equal(loaded.predict(X_test), again.predict(X_test))
    np.testing.assert_array_equal(loaded[-1].predict_soft(X_test), again[-1].predict_soft(X_test))
    assert loaded.score(X_test, Y_test) == again.score(X_test, Y_test)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_kernels_are_approximated_in_a_pipeline(table, kernel):
    X, Y, X_test, Y_test = table
    choice = RegularizationCV(LabelRanker(), regularizations=[1e-3, 1e-4], cv=2)
    model = make_pipeline(MinMaxScaler(clip=True), kernel, choice).fit(X, Y)
    assert model.score(X_test, Y_test) > 0.4
    loaded = load(dump(model))
    assert loaded[-1].regularization == choice.regularization_
    np.testing.assert_allclose(loaded[:-1].transform(X_test), model[:-1].transform(X_test))
    np.testing.assert_array_equal(loaded.predict(X_test), model.predict(X_test))
    assert list(loaded[:-1].get_feature_names_out()) == list(model[:-1].get_feature_names_out())


def test_a_search_is_saved_as_its_best_estimator(table):
    X, Y, X_test, _ = table
    search = GridSearchCV(make_pipeline(StandardScaler(), LabelRanker()), {"labelranker__regularization": [1.0, 1e-3]})
    with pytest.raises(NotFittedError):
        dump(search)
    np.testing.assert_array_equal(load(dump(search.fit(X, Y))).predict(X_test), search.predict(X_test))


@pytest.mark.filterwarnings("ignore:Training stopped early")
def test_threads_do_not_change_the_answer():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    Y = np.argsort(-(X @ rng.normal(size=(4, 5)) + rng.normal(size=(2000, 5))), axis=1)
    one, two = (LabelRanker(n_threads=n, max_iterations=20, tolerance=1e-12) for n in (1, 2))
    one.fit(X, Y), two.fit(X, Y)
    np.testing.assert_array_equal(one.weights_, two.weights_)


def test_a_path_begins_where_the_last_model_ended(table):
    X, Y, X_test, Y_test = table
    strengths = [1e-3, 1e-1, 1e-2]
    models = regularization_path(LabelRanker(tolerance=1e-6), X, Y, strengths)
    assert [model.regularization for model in models] == strengths
    for model, strength in zip(models, strengths, strict=True):
        alone = LabelRanker(tolerance=1e-6, regularization=strength).fit(X, Y)
        assert model.objective_ == pytest.approx(alone.objective_, rel=1e-5)
    cold = LabelRanker(tolerance=1e-6, regularization=1e-2).fit(X, Y)
    assert models[2].n_iter_ < cold.n_iter_
    chosen = RegularizationCV(LabelRanker(), regularizations=strengths, cv=3).fit(X, Y)
    assert chosen.scores_.shape == (3, 3)
    assert chosen.regularization_ == strengths[int(chosen.scores_.mean(axis=1).argmax())]
    assert chosen.score(X_test, Y_test) > 0.6
    assert chosen.predict_soft(X_test).shape == (100, 4, 4)
    assert chosen.classes_.tolist() == NAMES.tolist()
    assert not hasattr(RegularizationCV(LabelRanker(projection="hinge")), "predict_soft")
    with pytest.raises(ValueError, match="give positive numbers"):
        RegularizationCV(LabelRanker(), regularizations=[0.0]).fit(X, Y)


def test_large_tables_are_quick():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 9))
    Y = np.argsort(-(X @ rng.normal(size=(9, 5)) + rng.normal(size=(20_000, 5))), axis=1)
    LabelRanker().fit(X[:100], Y[:100])
    began = time.perf_counter()
    LabelRanker(regularization=1e-2).fit(X, Y)
    assert time.perf_counter() - began < 20
