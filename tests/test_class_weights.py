"""Weights of classes and examples: they are read or refused, and are numbers by which a mean can be taken."""

import json

import numpy as np
import pytest

from card_laws import SAMPLES
from maximand import Calibrated, Euclidean, GraphLabeler, Hamming, MaxScore, SequenceTagger, load
from maximand.cards import all_cards
from maximand.cards.data import NOTHING_KNOWN
from maximand.cards.findings import IMBALANCED
from maximand.cards.steps import predictor_of
from maximand.cli.main import main
from maximand.losses import LOSSES

WEIGHED = [card for card in all_cards() if "class_weight" in card.estimator().get_params()]
each_card = pytest.mark.parametrize("card", WEIGHED, ids=lambda card: card.estimator.__name__)
BAD = {
    "text": ("1.5", "is '1.5'; weights must be numbers"),
    "nothing": (None, "is None; weights must be numbers"),
    "list": ([1.0], r"is \[1.0\]; weights must be numbers"),
    "complex": (1j, "is 1j; weights must be numbers"),
    "negative": (-1.0, "must be finite and not negative"),
    "nan": (float("nan"), "must be finite and not negative"),
    "infinite": (float("inf"), "must be finite and not negative"),
    "zero": (0.0, "is zero everywhere"),
    "overflow": (1.5e308, "beyond the largest number"),
}


def data_of(card, folder):
    """Return a small data set, and the estimator that the command line builds for it."""
    form = card.formats[-1]
    sample = SAMPLES[form.name](folder, np.random.default_rng(0))
    data = form.read(str(sample.path), NOTHING_KNOWN, {option.name: option.default for option in form.options})
    return data, predictor_of(card.build(data, {}, {option.name: option.default for option in card.options}))


def labels_of(predictor, data):
    """Return the labels that classes are weighed by: those of slots."""
    model = predictor.fit(data.X, data.y)
    return [0, 1] if type(model).__name__ == "MultilabelClassifier" else model.classes_.tolist()


@each_card
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_class_weights_change_the_model_or_are_refused(card, loss, tmp_path):
    data, predictor = data_of(card, tmp_path)
    first, *_ = labels_of(predictor, data)
    predictor.set_params(loss=loss, regularization=0.1, max_iterations=50, tolerance=1e-3)
    weighed = type(predictor)(**predictor.get_params() | {"class_weight": {first: 30.0}})
    try:
        plain = predictor.fit(data.X, data.y)
    except ValueError as refusal:  # not for these outputs
        assert "class_weight" not in str(refusal)
        return
    try:
        weighed.fit(data.X, data.y)
    except ValueError as refusal:
        assert "class_weight is part of the cost" in str(refusal)
        assert "augmented_crf" in str(refusal)
        assert not LOSSES[loss].reads_cost
        return
    if np.array_equal(plain.weights_, weighed.weights_) and loss != "perceptron":  # may have made no mistake
        merits = [model._chosen_decoder(model.task_.cost).merits(*scores(model, data)) for model in (plain, weighed)]
        assert not np.array_equal(*merits)


def scores(model, data):
    examples = model._fitted.encode(data.X)
    return examples.space, model.task_.features.scores(examples, model.task_.features.expand(model.weights_))


@pytest.mark.parametrize("estimator", [SequenceTagger, GraphLabeler])
def test_a_decoder_that_is_given_has_a_cost_of_its_own(estimator):
    X, Y = [np.eye(2), np.eye(2)], [[0, 1], [1, 0]]
    inputs = X if estimator is SequenceTagger else [(x, [(0, 1)]) for x in X]
    for decoder in (MaxScore(), Calibrated(Hamming(), Euclidean())):
        with pytest.raises(ValueError, match="neither the loss euclidean nor the decoder reads"):
            estimator(loss="euclidean", decoder=decoder, class_weight="balanced").fit(inputs, Y)
    estimator(loss="euclidean", class_weight="balanced").fit(inputs, Y)


def test_weights_of_positions_are_read_or_refused():
    X, Y, weights = [np.eye(2)], [[0, 1]], [[1.0, 2.0]]
    with pytest.raises(ValueError, match="position_weight is part of the cost, which the loss crf does not read"):
        SequenceTagger().fit(X, Y, position_weight=weights)
    SequenceTagger(loss="augmented_crf").fit(X, Y, position_weight=weights)


@each_card
@pytest.mark.parametrize("kind", BAD)
def test_class_weights_are_checked_like_sample_weights(card, kind, tmp_path):
    data, predictor = data_of(card, tmp_path)
    labels, (bad, message) = labels_of(predictor, data), BAD[kind]
    predictor.set_params(loss="hinge")
    everywhere = dict.fromkeys(labels, bad) if kind in ("zero", "overflow") else {labels[0]: bad}
    with pytest.raises(ValueError, match=f"class_weight.*{message}"):
        type(predictor)(**predictor.get_params() | {"class_weight": everywhere}).fit(data.X, data.y)
    weight = [1.0] * len(data.y)
    for i in range(len(weight) if kind in ("zero", "overflow") else 1):
        weight[i] = bad
    with pytest.raises(ValueError, match=f"sample_weight.*{message}"):
        predictor.fit(data.X, data.y, sample_weight=weight)


@each_card
@pytest.mark.parametrize("bad", ["even", 3, [1.0, 2.0], object])
def test_weights_of_any_other_form_are_refused(card, bad, tmp_path):
    data, predictor = data_of(card, tmp_path)
    with pytest.raises(
        ValueError, match=r"class_weight is .*; give 'balanced', or a dict with a weight for each class"
    ):
        predictor.set_params(class_weight=bad, loss="hinge").fit(data.X, data.y)
    if isinstance(bad, int):
        return
    with pytest.raises(ValueError, match=r"sample_weight"):
        predictor.set_params(class_weight=None).fit(data.X, data.y, sample_weight=bad)


def test_weights_of_classes_and_examples_are_checked_together(tmp_path):
    [card] = [card for card in WEIGHED if card.estimator.__name__ == "MulticlassClassifier"]
    data, predictor = data_of(card, tmp_path)
    weight = (data.y == 0).astype(float)
    with pytest.raises(ValueError, match="class_weight \\* sample_weight is zero everywhere"):
        predictor.set_params(class_weight={0: 0.0}).fit(data.X, data.y, sample_weight=weight)


def test_a_cost_has_weights_that_are_usable():
    with pytest.raises(ValueError, match="give a finite number for each label, none negative"):
        Hamming([1.0, -1.0])
    with pytest.raises(ValueError, match="There are 1 weights of labels but 2 labels"):
        Hamming([1.0]).matrix(2)


@each_card
def test_the_command_line_weighs_classes(card, tmp_path, capsys):
    form = card.formats[-1]
    sample = SAMPLES[form.name](tmp_path, np.random.default_rng(0))
    label = str(labels_of(*reversed(data_of(card, tmp_path)))[0])
    fit = ["fit", str(sample.path), *sample.options, "--loss", "hinge", "-o", str(tmp_path / "m")]
    assert main(fit) == 0
    plain = predictor_of(load(tmp_path / "m")).weights_
    assert main([*fit, "--class-weight", json.dumps({label: 50.0})]) == 0
    assert not np.array_equal(predictor_of(load(tmp_path / "m")).weights_, plain)
    assert main([*fit, "--class-weight", "balanced"]) == 0
    assert main([*fit, "--class-weight", json.dumps({label: -1.0})]) == 1
    with pytest.raises(SystemExit):
        main([*fit, "--class-weight", "even"])
    assert "even is neither balanced nor a JSON object" in capsys.readouterr().err


def test_doctor_recommends_what_training_accepts(tmp_path, capsys):
    path = tmp_path / "d.conll"
    path.write_text("dog O\n\n" * int(3 * IMBALANCED) + "cat B\n\n")
    for loss, wanted in [("crf", "--loss augmented_crf --class-weight balanced"), ("hinge", "say --class-weight")]:
        assert main(["doctor", str(path), "--loss", loss, "--json"]) == 0
        cures = " ".join(finding["cure"] for finding in json.loads(capsys.readouterr().out)["findings"])
        assert wanted in cures
    fit = ["fit", str(path), "-o", str(tmp_path / "m"), "--class-weight", "balanced"]
    assert main([*fit, "--loss", "augmented_crf"]) == 0
    assert main(fit) == 1
    assert "use loss='augmented_crf'" in capsys.readouterr().err
    assert main(["doctor", str(path), "--loss", "hinge", "--class-weight", "balanced", "--json"]) == 0
    assert "class-weight" not in capsys.readouterr().out
