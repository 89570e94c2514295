"""What label rankers refuse, each in a sentence that names the culprit."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from maximand import (
    Absolute,
    ActiveSet,
    Calibrated,
    Cube,
    DifferentParts,
    Entropic,
    Euclidean,
    Hamming,
    Kendall,
    LabelRanker,
    MaxScore,
    ModelFileError,
    Sized,
    load,
)
from maximand.estimators.means import probabilistic, soft
from maximand.models import dump

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


def test_files_with_other_numbers_of_weights_are_refused(table):
    X, Y, _, _ = table
    model = LabelRanker().fit(X, Y)
    model.task_.encoding = "vector"
    with pytest.raises(ModelFileError, match="do not fit"):
        load(dump(model))
