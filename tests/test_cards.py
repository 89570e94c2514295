"""Laws of the cards: one for each estimator, and files, commands and documentation follow from it."""

import argparse
import inspect
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline

import maximand
from card_laws import SAMPLES, check_card
from maximand import MulticlassClassifier, StructuredPredictor, save
from maximand.cards import all_cards, card_of
from maximand.cards.data import NOTHING_KNOWN
from maximand.cards.options import SHARED
from maximand.cli.inspect import largest_weights
from maximand.cli.main import main
from maximand.cli.model_options import add_model_options, own_options
from maximand.features import EndBlock, RowBlock, SumOfBlocks, TiedBlock
from maximand.formats import read_svmlight
from maximand.losses import LOSSES
from maximand.models import dump
from maximand.tasks import BoundTask, Task
from mutants import fuzz
from thinning import EVERYTHING

CARDS = all_cards()
FORMATS = [(card, form) for card in CARDS for form in card.formats]
each_card = pytest.mark.parametrize("card", CARDS, ids=lambda card: card.estimator.__name__)


def test_every_estimator_has_one_card():
    public = (getattr(maximand, name) for name in maximand.__all__)
    estimators = {kind for kind in public if isinstance(kind, type) and issubclass(kind, StructuredPredictor)}
    assert sorted(card.estimator.__name__ for card in CARDS) == sorted(
        kind.__name__ for kind in estimators - {StructuredPredictor}
    )


@each_card
def test_cards_are_complete(card):
    assert card_of(card.estimator()) is card
    assert issubclass(card.task, Task)
    assert issubclass(card.bound, BoundTask)
    assert isinstance(card.estimator()._unbound(), card.task)
    assert card.formats
    assert {card.loss, card.soft_loss} <= set(LOSSES)


def test_names_of_formats_and_options_mean_one_thing():
    names = [form.name for _, form in FORMATS]
    assert len(set(names)) == len(names)
    assert set(SAMPLES) == set(names)
    flags = [option.flag for option in (*SHARED.values(), *own_options())]
    assert len(set(flags)) == len(flags)


def test_shared_parameters_are_those_of_every_estimator():
    parser = argparse.ArgumentParser()
    add_model_options(parser)
    options = parser.parse_args([])
    for card in CARDS:
        defaults = card.estimator().get_params()
        assert {name: getattr(options, option.name) for name, option in SHARED.items()}.items() <= defaults.items()
        assert card.loss_parameter in defaults


@each_card
def test_parameters_stand_in_the_signature(card):
    parameters = inspect.signature(card.estimator).parameters.values()
    assert {parameter.kind for parameter in parameters} == {inspect.Parameter.KEYWORD_ONLY}
    estimator = card.estimator(regularization=0.5, n_threads=1)
    assert {parameter.name for parameter in parameters} == set(estimator.get_params(deep=False))
    for copy in (clone(estimator), pickle.loads(pickle.dumps(estimator))):
        assert copy.get_params() == estimator.get_params()
        assert vars(copy).keys() == vars(estimator).keys() == estimator.get_params(deep=False).keys()
    assert repr(estimator) == f"{card.estimator.__name__}(n_threads=1, regularization=0.5)"
    assert estimator != clone(estimator)


@pytest.mark.parametrize(("card", "form"), FORMATS, ids=[form.name for _, form in FORMATS])
def test_a_data_file_goes_through_all_commands(card, form, tmp_path, capsys, monkeypatch):
    sample = SAMPLES[form.name](tmp_path, np.random.default_rng(0))
    check_card(card, form, sample, tmp_path, capsys, monkeypatch)


@each_card
def test_damaged_models_are_refused_or_predict(card, tmp_path):
    form = card.formats[-1]
    sample = SAMPLES[form.name](tmp_path, np.random.default_rng(0))
    data = form.read(str(sample.path), NOTHING_KNOWN, {option.name: option.default for option in form.options})
    model = card.build(data, {}, {option.name: option.default for option in card.options})
    content = dump(model.fit(data.X, data.y))
    summary = fuzz([(content, data.X, ("predict", "predict_soft"))], 600 if EVERYTHING else 80)
    assert not summary.failures, summary.failures[0]
    assert min(summary.refused, summary.predicted) > 3


def test_files_have_the_columns_of_the_first_step(tmp_path, capsys):
    sample = SAMPLES["svmlight"](tmp_path, np.random.default_rng(0))
    rows = read_svmlight(sample.path)
    model = make_pipeline(Nystroem(n_components=7, random_state=0), MulticlassClassifier()).fit(
        rows.X.toarray(), rows.y
    )
    save(model, tmp_path / "m")
    assert main(["predict", str(tmp_path / "m"), str(sample.path)]) == 0
    assert capsys.readouterr().out.split() == [str(label) for label in model.predict(rows.X)]


def test_cards_are_loaded_only_when_asked_for():
    code = "import sys; from maximand import SequenceTagger; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith("maximand.")}
    assert "maximand.estimators.tagger.estimator" in loaded
    assert not [name for name in loaded if re.match(r"maximand\.(cli|formats|cards\.card|.*\.card$)", name)]


def test_any_feature_map_can_be_inspected():
    X, y = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 3.0]]), ["a", "b", "c"]
    model = MulticlassClassifier().fit(X, y)
    tied = TiedBlock("pairs", np.array([0, 1, -1, 0, 0, 0]), 3)
    model.task_.features = SumOfBlocks(RowBlock("parts", 2, 3, bias=True), tied, EndBlock("parts", 3, last=True))
    model.weights_ = np.arange(15, 0, -1.0)
    named = [(row["weight"], row["label"]) for row in largest_weights(model, 20)]
    assert named[:9] == [(what, label) for what in ("feature 0", "feature 1", "bias") for label in "abc"]
    assert named[9:] == [
        ("pairs", "0, 3, 4, ..."),
        ("pairs", "1"),
        ("pairs", ""),
        ("end", "a"),
        ("end", "b"),
        ("end", "c"),
    ]
