"""Model files of older versions are read, and predict what they did."""

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

from maximand import CCCP, Guarantee, ModelFileError, MulticlassClassifier, NSlack, load
from maximand.cards import all_cards
from maximand.cards.steps import predictor_of
from maximand.files.container import from_bytes, to_bytes
from maximand.models import TRANSFORMERS, dump
from older_files import NAMES, stored

GONE = "steps=Decreasing(scale=1.0), "  # of Perceptron, which has only steps of length one
ADDED = ", hidden=0.0", ", easier=None", "wide=None", ", warm_start=False", ", margin=0.0"  # at their defaults
CAME_LATER = {"CellTracker"}


@pytest.mark.parametrize("name", NAMES)
def test_an_older_model_predicts_what_it_did(name):
    then = stored(name)
    model = load(then.path)
    for method, answer in then.answers.items():
        found = getattr(model, method)(then.X)
        if method == "predict_soft" and name == "graphs-grid":
            found = [means.reshape(-1, means.shape[-1]) for means in found]  # grids had no shape there
        same(found, answer)


def same(found, expected):
    """Labels are equal, numbers to rounding."""
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        if np.asarray(theirs).dtype.kind == "f":
            assert np.shape(mine) == np.shape(theirs)
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
        else:
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", NAMES)
def test_an_older_model_knows_how_it_was_trained(name):
    then = stored(name)
    model = load(then.path)
    steps = model if isinstance(model, Pipeline) else [model]
    assert [type(step).__name__ for step in steps] == then.steps
    predictor = predictor_of(model)
    parameters = predictor.get_params(deep=False)
    with np.printoptions(precision=8, floatmode="maxprec"):  # whatever other tests have set
        known = {key: without((GONE, *ADDED), text) for key, text in then.parameters.items()}
        assert {key: without(ADDED, repr(parameters[key])) for key in then.parameters} == known
    assert (predictor.stop_reason_, predictor.n_iter_) == (then.stop_reason, then.iterations)
    assert predictor.objective_ == then.objective
    assert len(predictor.history_) == then.history
    assert (predictor.shortfall_ is None) == (then.shortfall is None)
    if then.shortfall is not None:
        assert list(vars(predictor.shortfall_).values()) == then.shortfall


def without(pieces, text):
    for piece in pieces:
        text = text.replace(piece, "")
    return text


def test_fields_that_came_later_have_their_defaults():
    model = MulticlassClassifier(loss="ramp", solver=CCCP(inner=NSlack(), max_iterations=7)).fit([[0.0], [1.0]], [0, 1])
    header, arrays = from_bytes(dump(model), "model")
    _, solver = header["steps"][0][1]["parameters"]["solver"]["object"]
    solver.pop("max_iterations")
    assert load(to_bytes("model", header, arrays)).solver == CCCP(inner=NSlack())
    wrong = header["steps"][0][1]["fitted"]["task_"]["object"][1]
    wrong.pop("features")
    with pytest.raises(ModelFileError, match="BoundMulticlass does not have the fields it should"):
        load(to_bytes("model", header, arrays))


def test_the_older_models_are_of_every_kind():
    steps = {step for name in NAMES for step in stored(name).steps}
    predictors = {card.estimator.__name__ for card in all_cards()} - CAME_LATER
    assert steps == predictors | {kind.__name__ for kind in TRANSFORMERS}
    assert {stored(name).steps[-1] for name in NAMES} == predictors


def test_a_model_trained_with_lower_bounds_has_its_intervals():
    model = load(stored("multilabel-greedy").path)
    assert model.guarantee_ is Guarantee.UNDER
    found, most = model.shortfall_.intervals(0.5).slack
    assert most > found
