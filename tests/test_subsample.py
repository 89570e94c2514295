"""Partial annotations made of full ones, in whatever form these are."""

from collections import Counter
from itertools import chain

import numpy as np
import pytest

from maximand import MultilabelClassifier, SequenceTagger, subsample
from maximand.spaces import Labels, Parts
from maximand.tasks.label_names import unknown


def left(labels):
    return [label for label in labels if not unknown(label)]


def test_containers_and_labels_stay_what_they_are():
    tags, classes = [["D", "N", "V"], ("D", None)], np.array([1.5, 2.5, 2.5])
    grid, types = np.array([[0, 1], [-1, 2]]), [{"word": ["a", "b"], "page": "x"}, {"word": None, "page": "y"}]
    assert subsample(tags, 1.0) == tags
    assert subsample(classes, 1.0).tolist() == classes.tolist()
    assert subsample([grid], 1.0)[0].tolist() == [[0, 1], [None, 2]]  # -1 says nothing where there are several slots
    assert subsample([-1, 1], 1.0) == [-1, 1]  # and is a label where there is one
    assert subsample(types, 1.0) == types
    assert subsample([{"a", "b"}, {"c"}, None], 1.0) == [{"a", "b"}, {"c"}, None]


def test_rare_labels_are_left_and_shares_are_equal():
    Y = [["O"] * 40 + ["B"] * 10, ["rare"]]
    copies = {share: subsample(Y, share, random_state=7) for share in (0.01, 0.2, 0.5)}
    counts = {share: Counter(left(chain(*copy))) for share, copy in copies.items()}
    assert counts[0.01] == {"O": 1, "B": 1, "rare": 1}
    assert counts[0.2] == {"O": 8, "B": 2, "rare": 1}
    assert counts[0.5] == {"O": 20, "B": 5, "rare": 1}
    pairs = zip(chain(*copies[0.2]), chain(*copies[0.5]), strict=True)
    assert all(more == less for less, more in pairs if less is not None)
    assert copies[0.5] == subsample(Y, 0.5, random_state=7) != subsample(Y, 0.5, random_state=8)


def test_strata_may_be_others_than_labels():
    rng = np.random.default_rng(0)
    Y = (rng.random((200, 3)) < [0.5, 0.02, 0.01]).astype(int)
    Y[:2, 1:] = 1
    copy = subsample(Y, 0.05, strata=Y * np.arange(1, 4))
    assert all(1 in copy[:, label].tolist() for label in range(3))
    masked = subsample(["a", "b", "a"], 1.0, strata=[0, None, 1])
    assert masked == ["a", None, "a"]
    labels = Labels(np.array([0, 0, 0, -1]), np.array([0, 2, 4]), 2)
    assert subsample(labels, 0.1, strata=np.array([0, 1, -1, 1])).codes.tolist() == [0, 0, -1, -1]
    assert sorted(subsample(Parts(np.array([0.0, 1.0, 0.0]), np.array([0, 3])), 0.1).psi) == [-1, 0, 1]


def test_estimators_take_what_is_left():
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(6, 3)) for _ in range(8)]
    Y = [(x[:, 0] > 0).astype(int) for x in X]
    assert SequenceTagger(loss="crf").fit(X, subsample(Y, 0.5)).score(X, Y) > -0.5
    table, sets = np.vstack(X), np.vstack([np.outer(y, [1, 0]) for y in Y])
    MultilabelClassifier(loss="hinge").fit(table, subsample(sets, 0.5))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"share": 0.0}, "share is 0.0; give a number above 0"),
        ({"share": 0.5, "strata": [1]}, "strata has 1 entries but Y has 2 labels"),
    ],
)
def test_refusals(arguments, words):
    with pytest.raises(ValueError, match=words):
        subsample(["a", "b"], **arguments)


def test_strata_of_an_annotation_have_its_shape():
    with pytest.raises(ValueError, match=r"strata has shape \(2,\) but there are 1 slots"):
        subsample(Labels.single(np.array([0]), 2), 0.5, strata=[1, 2])
