import pickle
import time

import numpy as np
import pytest
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
    Kendall,
    LabelRanker,
    MaxScore,
    ModelFileError,
    RegularizationCV,
    RowStochastic,
    Sized,
    Squared,
    load,
    regularization_path,
    save,
)
from maximand.estimators.predictor import probabilistic, soft
from maximand.models import dump
from maximand.spaces import Matching

KERNELS = [
    AdditiveChi2Sampler(),
    Nystroem(n_components=30, random_state=0),
    PolynomialCountSketch(n_components=30, random_state=0),
    RBFSampler(n_components=30, random_state=0),
    SkewedChi2Sampler(n_components=30, random_state=0),
]
NAMES = np.array(["ash", "birch", "cedar", "elm"])


@pytest.fixture(scope="module")
def table():
    """200 rows whose labels are ordered by noisy linear scores; half to train on, half to test."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    liking = X @ rng.normal(size=(5, 4)) + 0.3 * rng.normal(size=(200, 4))
    Y = NAMES[np.argsort(-liking, axis=1)]
    return X[:100], Y[:100], X[100:], Y[100:]


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


BAD = [
    ({}, [["ash", "ash"]], r"y\[0\] lists the label 'ash' twice; a label has one place in a ranking"),
    ({}, [["ash"]], r"The rankings hold 1 label; ordering needs at least 2. Name all with classes="),
    ({}, "ash>elm", r"y is 'ash>elm'; give a ranking for each row"),
    ({}, [{"ash": 1, "elm": 2}], r"y\[0\] is {'ash': 1, 'elm': 2}; list the labels in order"),
    ({}, [{"ash", "elm"}], r"y\[0\] is {.*}; list the labels in order"),
    ({}, [3], r"y\[0\] is 3; list the labels in order"),
    ({}, [[["ash"], "elm"]], r"y\[0\] is \[\['ash'\], 'elm'\]; labels are strings, numbers or tuples"),
    ({"classes": ["ash", "elm"]}, [["ash", "oak"]], r"y\[0\] has the unknown label 'oak'; the labels are 'ash', 'elm'"),
    ({}, [["ash", "elm"], ["elm", "ash"]], r"X has 1 rows but y has 2 rankings; each row needs one"),
    ({"encoding": "tensor"}, [["ash", "elm"]], r"encoding is 'tensor'; choose one of 'matrix', 'vector'"),
    ({"unlisted": "nowhere"}, [["ash", "elm"]], r"unlisted is 'nowhere'; choose one of 'anywhere', 'below'"),
    (
        {"projection": "round"},
        [["ash", "elm"]],
        r"There is no projection 'round'; choose euclidean, .*RowStochastic\(\)",
    ),
    (
        {"projection": "crf"},
        [["ash", "elm"]],
        r"crf needs marginals, which rankings have not; use projection='euclidean'",
    ),
    ({"classes": 4}, [["ash", "elm"]], r"classes is 4; list all labels, or give None for those that occur"),
    ({"classes": "ab"}, [["ash", "elm"]], r"classes is 'ab'; list all labels"),
    ({"n_threads": 0}, [["ash", "elm"]], r"n_threads is 0; give a whole number, at least 1, or None for one per core"),
    ({"n_threads": -1}, [["ash", "elm"]], r"n_threads is -1; give"),
    ({"n_threads": "a"}, [["ash", "elm"]], r"n_threads is 'a'; give"),
    ({"tolerance": -1e-3}, [["ash", "elm"]], r"tolerance is -0.001; give a number that is not negative, or None"),
    ({"tolerance": "tight"}, [["ash", "elm"]], r"tolerance is 'tight'; give"),
    ({"max_iterations": 0}, [["ash", "elm"]], r"max_iterations is 0; give a whole number, at least 1"),
    ({"max_iterations": 2.5}, [["ash", "elm"]], r"max_iterations is 2.5; give"),
    ({"max_seconds": None}, [["ash", "elm"]], r"max_seconds is None; give a positive number, numpy.inf for no limit"),
    ({"max_seconds": 0}, [["ash", "elm"]], r"max_seconds is 0; give"),
    ({"regularization": None}, [["ash", "elm"]], r"regularization is None; it must be positive"),
    ({"regularization": np.inf}, [["ash", "elm"]], r"regularization is inf; it must be positive"),
    (
        {"projection": Euclidean(Cube()), "encoding": "vector"},
        [["ash", "elm"]],
        r"Cube\(\) does not contain all outputs",
    ),
    ({"projection": "hinge", "cost": Kendall()}, [["ash", "elm"]], r"Kendall's distance is not affine in the parts"),
    (
        {"projection": "hinge", "cost": Absolute(), "encoding": "vector"},
        [["a", "b", "c"]],
        r"not affine in the weights",
    ),
    ({}, None, r"LabelRanker requires y to be passed"),
]
UNDECODABLE = [
    ({"cost": Kendall()}, r"Kendall's distance is not affine in the parts of a Matching; use Squared\(\)"),
    ({"cost": Absolute(), "encoding": "vector"}, r"not affine in the weights of positions"),
    (
        {"cost": DifferentParts(), "encoding": "vector"},
        r"DifferentParts\(\) is for parts that occur once or not at all",
    ),
    ({"cost": "hamming"}, r"cost is 'hamming'; give a Cost such as Hamming\(\)"),
    ({"cost": Hamming}, r"cost is <class .*Hamming'>; give a Cost such as Hamming\(\)"),
    ({"decoding": "x"}, r"decoding is 'x'; give a Decoder such as MaxScore\(\) or Calibrated\(\)"),
    ({"decoding": MaxScore}, r"decoding is <class .*MaxScore'>; give a Decoder"),
    ({"decoding": MaxScore("greedy")}, r"Matching finds its outputs exactly; leave the inference out"),
    (
        {"decoding": Calibrated(Absolute(), Euclidean()), "encoding": "vector"},
        r"not affine in the weights of positions",
    ),
    ({"decoding": Calibrated(Absolute(), Euclidean(Sized(5)))}, r"Sized\(least=5, most=None\) does not contain"),
    (
        {"decoding": Calibrated(Absolute())},
        r"layer Soft\(temperature=1\) of Calibrated needs marginals, .* of this Matching; give layer=Euclidean\(\)",
    ),
]


@pytest.mark.parametrize(("settings", "message"), UNDECODABLE)
def test_what_cannot_be_decoded_is_refused_before_training(table, settings, message, monkeypatch):
    X, Y, _, _ = table
    monkeypatch.setattr(LabelRanker, "_minimized", lambda *_: pytest.fail("it trains"))
    with pytest.raises(ValueError, match=message):
        LabelRanker(**settings).fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("hamming",), r"The cost of Calibrated is 'hamming'; give a Cost such as Hamming\(\)"),
        ((Hamming,), r"The cost of Calibrated is <class .*Hamming'>; give a Cost"),
        ((Hamming(), "crf"), r"The layer of Calibrated is 'crf'; give one such as Euclidean\(\)"),
        ((Hamming(), Euclidean), r"The layer of Calibrated is <class .*Euclidean'>; give one"),
    ],
)
def test_decoders_are_made_of_objects(settings, message):
    with pytest.raises(ValueError, match=message):
        Calibrated(*settings)


def test_projections_are_onto_sets():
    with pytest.raises(ValueError, match=r"is a way to project .* Euclidean\(Hull\(ActiveSet\(\)\)\)"):
        Euclidean(ActiveSet())
    with pytest.raises(ValueError, match=r"Entropic projects onto <class .*, which is no set; give one such"):
        Entropic(Cube)


def test_the_cure_is_a_projection():
    with pytest.raises(AttributeError, match="use projection='euclidean' or 'entropic'"):
        soft(LabelRanker(projection="hinge"))
    with pytest.raises(AttributeError, match="use projection='euclidean' or 'entropic'"):
        probabilistic(LabelRanker(projection="squared"))


def test_it_says_that_it_is_not_fitted(table):
    X, Y, _, _ = table
    model = LabelRanker()
    for question in (
        lambda: model.score(X, Y),
        lambda: model.costs(X, Y),
        lambda: model.predict_positions(X),
        lambda: model.predict_soft(X),
        lambda: model.coef_,
        lambda: model.intercept_,
    ):
        with pytest.raises(NotFittedError, match="This LabelRanker instance is not fitted yet"):
            question()


@pytest.mark.parametrize(("settings", "Y", "message"), BAD)
def test_bad_rankings_get_one_sentence(settings, Y, message):
    with pytest.raises(ValueError, match=message):
        LabelRanker(**settings).fit(np.ones((1, 2)), Y)


def test_scores_need_rankings(table):
    X, Y, _, _ = table
    model = LabelRanker().fit(X, Y)
    with pytest.raises(ValueError, match="y holds no two labels in a known order"):
        model.score(X[:2], [["ash"], None])
    with pytest.raises(ValueError, match="X has 3 rows but y has 2 rankings"):
        model.score(X[:3], Y[:2])
    with pytest.raises(ValueError, match="All examples with something known weigh 0"):
        model.score(X[:2], [["ash", "elm"], None], sample_weight=[0.0, 1.0])


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


def test_files_with_other_numbers_of_weights_are_refused(table):
    X, Y, _, _ = table
    model = LabelRanker().fit(X, Y)
    model.task_.encoding = "vector"
    with pytest.raises(ModelFileError, match="do not fit"):
        load(dump(model))


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
