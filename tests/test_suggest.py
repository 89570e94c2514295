"""What to annotate next, for every estimator; that margins and entropies are right is a law of spaces."""

from collections import Counter

import numpy as np
import pytest
from sklearn.datasets import load_iris

from maximand import (
    GraphLabeler,
    LabelRanker,
    MulticlassClassifier,
    MultilabelClassifier,
    OracleTask,
    OrdinalClassifier,
    SequenceTagger,
    StructuredPredictor,
    suggest,
)

RNG = np.random.default_rng(0)
X, LEVELS = load_iris(return_X_y=True)
X, LEVELS = X[::5] - X.mean(axis=0), LEVELS[::5]
TOKENS = [RNG.normal(size=(n, 3)) for n in (5, 1, 7, 4)]
TAGS = [np.where(x[:, 0] > 0, "up", "down") for x in TOKENS]
GRIDS = [RNG.normal(size=(3, 2, 2)) for _ in range(4)]
PIXELS = [(grid[:, :, 0] > 0).astype(int) for grid in GRIDS]
SETS = (X[:, :3] > 0).astype(int)
ORDERS = [["a", "b", "c"] if level == 0 else ["c", "a", "b"] for level in LEVELS]


def best_pair(theta, rows):
    """The two best of the parts."""
    chosen = np.argsort(-np.asarray(theta), kind="stable")[:2]
    return np.isin(np.arange(len(theta)), chosen).astype(float)


FITTED = {
    "classes": (MulticlassClassifier, X, LEVELS, [0] + [None] * 29),
    "levels": (OrdinalClassifier, X, LEVELS, [0] + [None] * 29),
    "label sets": (MultilabelClassifier, X, SETS, np.vstack([np.full((29, 3), -1), [[1, -1, 0]]])),
    "rankings": (LabelRanker, X, ORDERS, [["a", "b", "c"]] + [None] * 29),
    "tags": (SequenceTagger, TOKENS, TAGS, [None, ["up"], ["down"] + [None] * 6, None]),
    "grids": (GraphLabeler, GRIDS, PIXELS, [None, None, None, np.ones((3, 2), dtype=int)]),
}
LOSSES = {"rankings": ({},), "levels": ({},)}


@pytest.mark.parametrize("name", FITTED)
def test_suggestions_are_of_what_is_not_known(name):
    kind, inputs, outputs, known = FITTED[name]
    for settings in LOSSES.get(name, ({"loss": "crf"}, {"loss": "hinge"})):
        model = kind(regularization=0.01, **settings).fit(inputs, outputs)
        free = suggest(model, inputs, 10_000)
        some = suggest(model, inputs, 10_000, known)
        assert 0 < len(some) < len(free)
        assert {(one.example, one.slot) for one in some} < {(one.example, one.slot) for one in free}
        assert suggest(model, inputs, 10_000, outputs) == []
        assert suggest(model, inputs, 3) == free[:3] == suggest(model, inputs, 3)
        assert all(one.label != one.other and isinstance(one.slot, int) for one in free)
        measure = [-one.entropy if one.margin is None else one.margin for one in free]
        assert measure == sorted(measure)
        assert all((one.entropy is None) == (settings.get("loss") != "crf") for one in free)


def test_labels_are_those_of_the_prediction():
    model = SequenceTagger(loss="hinge", regularization=0.01).fit(TOKENS, TAGS)
    predicted = model.predict(TOKENS)
    for one in suggest(model, TOKENS, 100):
        assert one.label == predicted[one.example][one.slot]
        assert {one.label, one.other} == {"up", "down"}


def test_equals_come_in_their_order():
    model = MulticlassClassifier(loss="hinge").fit(X, LEVELS)
    found = suggest(model, np.zeros((4, 4)), 3)
    assert [one.example for one in found] == [0, 1, 2]
    assert len({one.margin for one in found}) == 1


def test_parts_of_outputs_that_an_argmax_of_ones_own_finds():
    features = [RNG.normal(size=(n, 2)) for n in (4, 5, 6)]
    outputs = [best_pair(rows @ [1.0, -1.0], rows) for rows in features]
    model = StructuredPredictor(OracleTask(best_pair), regularization=0.01).fit(features, outputs)
    found = suggest(model, features, 100)
    assert Counter(one.example for one in found) == {0: 4, 1: 5, 2: 6}
    assert all({one.label, one.other} == {0.0, 1.0} for one in found)
    first = found[0]
    scores = model.decision_function(features)[first.example]
    ordered = np.sort(scores)[::-1]
    assert first.margin == pytest.approx(ordered[1] - ordered[2])
    known = [None, outputs[1], None]
    assert {one.example for one in suggest(model, features, 100, known)} == {0, 2}


def test_refusals():
    model = SequenceTagger(loss="hinge").fit(TOKENS, TAGS)
    with pytest.raises(ValueError, match="n is 0; ask for at least one slot"):
        suggest(model, TOKENS, 0)
    with pytest.raises(ValueError, match="The model is a list; give an estimator of maximand"):
        suggest([], TOKENS)
    labels = ["O", "B-x", "I-x", "B-y", "I-y"]
    model = SequenceTagger(loss="crf", classes=labels, scheme="BIO").fit(TOKENS[:1], [["O", "B-x", "I-x", "O", "B-y"]])
    with pytest.raises(ValueError, match="No output agrees with what is known of example 1"):
        suggest(model, TOKENS[2:], Y=[None, ["O", {"I-x", "I-y"}, None, None]])
