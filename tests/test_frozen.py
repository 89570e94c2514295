"""Laws of frozen predictors: each answers what its model did when it was frozen, whoever asks and whatever follows."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from card_laws import SAMPLES
from maximand import (
    FrozenPredictor,
    MulticlassClassifier,
    OracleTask,
    Ragged,
    RegularizationCV,
    SequenceTagger,
    StructuredPredictor,
    WindowVectorizer,
    load,
)
from maximand.cards import all_cards
from maximand.cards.data import NOTHING_KNOWN
from maximand.cards.steps import predictor_of, transformed
from maximand.datasets import simulate_chains
from maximand.models import dump

METHODS = ("predict", "decision_function", "predict_soft", "predict_proba", "predict_positions")
THREADS = 8
FORMATS = [(card, form) for card in all_cards() for form in card.formats]


def batched(options):
    """Pairs of a flag and its value."""
    return zip(options[::2], options[1::2], strict=True)


def fitted(card, form, loss, folder):
    """A model of each kind, and the inputs that it was trained on."""
    sample = SAMPLES[form.name](folder, np.random.default_rng(0))
    flags = {flag.lstrip("-"): value for flag, value in batched(sample.options)}
    options = {option.name: flags.get(option.name, option.default) for option in form.options}
    data = form.read(str(sample.path), NOTHING_KNOWN, options)
    model = card.build(data, {card.loss_parameter: loss}, {option.name: option.default for option in card.options})
    X = data.X if hasattr(data.X, "shape") else list(data.X)
    return model.fit(X, data.y), X


def same(one, other):
    """Compare answers bit by bit."""
    assert type(one) is type(other)
    if isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            same(one[key], other[key])
    else:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
@pytest.mark.parametrize(("card", "form"), FORMATS, ids=[form.name for _, form in FORMATS])
def test_it_answers_what_the_model_answers_from_any_thread(card, form, soft, tmp_path):
    loss = card.soft_loss if soft else "hinge"
    model, X = fitted(card, form, loss, tmp_path)
    frozen, last = FrozenPredictor(model), predictor_of(model)
    copies = frozen, pickle.loads(pickle.dumps(frozen)), FrozenPredictor(load(dump(model)))
    expected = {}
    for method in METHODS:
        assert hasattr(frozen, method) == hasattr(last, method)
        if hasattr(last, method):
            expected[method] = getattr(last, method)(transformed(model, X))
            same(getattr(frozen, method)(X[:1]), getattr(last, method)(transformed(model, X[:1])))
            for copy in copies:
                same(getattr(copy, method)(X), expected[method])
    with ThreadPoolExecutor(THREADS) as pool:
        for answer in pool.map(lambda _: frozen.predict(X), range(4 * THREADS)):
            same(answer, expected["predict"])
    last.weights_ *= -1.0
    last.task_.features = None
    for method, answer in expected.items():
        same(getattr(frozen, method)(X), answer)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return X, np.array(["a", "b", "c"])[X[:, :3].argmax(axis=1)]


def test_training_again_does_not_reach_it(table):
    X, y = table
    model = make_pipeline(StandardScaler(), MulticlassClassifier()).fit(X, y)
    frozen, expected = FrozenPredictor(model), model.predict(X)
    model.fit(100 * X[:20] + 7, y[:20][::-1])
    assert (model.predict(X) != expected).any()
    same(frozen.predict(X), expected)


def test_a_vectoriser_that_learns_again_does_not_reach_it():
    sentences = [["the", "dog", "ran"], ["a", "cat", "sat"]] * 3
    model = make_pipeline(WindowVectorizer(affixes=2), SequenceTagger()).fit(sentences, [["D", "N", "V"]] * 6)
    frozen, expected = FrozenPredictor(model), model.predict(sentences)
    model[0].fit([["x", "y"]])
    same(frozen.predict(sentences), expected)


def test_searches_are_frozen_with_what_they_chose(table):
    X, y = table
    searches = (
        RegularizationCV(MulticlassClassifier(), regularizations=[0.1, 1.0], cv=2).fit(X, y),
        GridSearchCV(MulticlassClassifier(), {"regularization": [0.1, 1.0]}, cv=2).fit(X, y),
        make_pipeline(StandardScaler(), RegularizationCV(MulticlassClassifier(), regularizations=[0.1], cv=2)).fit(
            X, y
        ),
        GridSearchCV(make_pipeline(StandardScaler(), MulticlassClassifier()), {}, cv=2).fit(X, y),
    )
    for search in searches:
        same(FrozenPredictor(search).predict(X), search.predict(X))
    same(searches[0].predictor().predict(X), searches[0].predict(X))


def test_sequences_come_in_all_forms_and_best_few_are_ranked():
    X, Y = simulate_chains(30)
    model = SequenceTagger().fit(X, Y)
    frozen, lengths = model.predictor(), [len(x) for x in X]
    same(frozen.predict(np.vstack(X), lengths=lengths), model.predict(np.vstack(X), lengths=lengths))
    same(frozen.predict(Ragged(np.vstack(X), lengths)), model.predict(X))
    same(frozen.predict_k_best(X, 3), model.predict_k_best(X, 3))
    same(frozen.predict([X[0], X[1][:0]]), model.predict([X[0], X[1][:0]]))
    assert not hasattr(MulticlassClassifier().fit([[0.0], [1.0]], [0, 1]).predictor(), "predict_k_best")


def test_wrong_inputs_are_refused_as_by_the_model(table):
    X, y = table
    frozen = MulticlassClassifier().fit(X, y).predictor()
    for wrong in (X[:, :2], X[0], np.where(X > 0, np.nan, X), X[:0]):
        with pytest.raises(ValueError, match=r"X|array"):
            frozen.predict(wrong)


def test_only_fitted_models_of_this_library_are_frozen(table):
    with pytest.raises(NotFittedError):
        MulticlassClassifier().predictor()
    with pytest.raises(NotFittedError):
        RegularizationCV(MulticlassClassifier()).predictor()
    with pytest.raises(ValueError, match="LogisticRegression"):
        FrozenPredictor(LogisticRegression().fit(*table))


def test_a_task_of_ones_own_is_frozen():
    def best(theta, length):
        return np.eye(3)[theta.argmax()]

    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 2)) for _ in range(12)]
    model = StructuredPredictor(OracleTask(best)).fit(X, [np.eye(3)[x[:, 0].argmax()] for x in X])
    same(model.predictor().predict(X), model.predict(X))
