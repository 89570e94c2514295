"""One rule says what is not known: None, NaN and pandas' NA, and -1 where an example has several labels.

Whatever the sign and the container, training and scoring are those of None in a list.
"""

from decimal import Decimal

import numpy as np
import pytest
from sklearn.base import clone

from maximand import (
    GraphLabeler,
    LabelRanker,
    MulticlassClassifier,
    MulticlassTask,
    MultilabelClassifier,
    OracleTask,
    OrdinalClassifier,
    SequenceTagger,
    StructuredPredictor,
)
from maximand.tasks import OrdinalTask

try:
    from pandas import NA
except ImportError:  # no test of ours needs it otherwise
    NA = None

rng = np.random.default_rng(0)
X = rng.normal(size=(12, 3))
LEVELS = [0, 1, 2] * 4
LENGTHS = [4, 3, 5]
WORDS = np.split(X, [4, 7])
GRAPHS = [(nodes, [(i, i + 1) for i in range(len(nodes) - 1)]) for nodes in WORDS]
RANKINGS = [[a, (a + 1) % 3, (a + 2) % 3] for a in LEVELS]
SETS = [[int(a > 0), int(a == 1), 1] for a in LEVELS]


def grouped(labels):
    return [labels[:4], labels[4:7], labels[7:]]


def flat(make, labels, sign):
    """Put the sign in place of two labels."""
    return make([sign if i in (1, 8) else label for i, label in enumerate(labels)])


def by_group(make, labels, sign):
    return [make(group) for group in grouped(flat(list, labels, sign))]


def by_row(make, rows, sign):
    return make(
        [[sign if (i, j) in ((1, 2), (8, 0)) else label for j, label in enumerate(row)] for i, row in enumerate(rows)]
    )


def whole_rows(make, rows, sign):
    return [sign if i in (1, 8) else row for i, row in enumerate(rows)]


def objects(values):
    """Return an array that holds the values as they are."""
    return np.array(values, dtype=object)


def scalars(values):
    """Return numpy scalars in a list."""
    return [scalars(value) if isinstance(value, list) else np.asarray(value)[()] for value in values]


CASES = {
    "MulticlassClassifier": (MulticlassClassifier(), X, LEVELS, flat, False),
    "MulticlassTask": (StructuredPredictor(MulticlassTask()), X, LEVELS, flat, False),
    "OrdinalClassifier": (OrdinalClassifier(), X, LEVELS, flat, False),
    "OrdinalTask": (StructuredPredictor(OrdinalTask()), X, LEVELS, flat, False),
    "SequenceTagger": (SequenceTagger(), WORDS, LEVELS, by_group, True),
    "SequenceTagger, flat": (SequenceTagger(), WORDS, LEVELS, flat, True),
    "GraphLabeler": (GraphLabeler(), GRAPHS, LEVELS, by_group, True),
    "MultilabelClassifier": (MultilabelClassifier(), X, SETS, by_row, True),
    "MultilabelClassifier, rows": (MultilabelClassifier(), X, SETS, whole_rows, False),
    "LabelRanker": (LabelRanker(), X, RANKINGS, by_row, True),
    "LabelRanker, rows": (LabelRanker(), X, RANKINGS, whole_rows, False),
    "OracleTask": (
        StructuredPredictor(OracleTask(lambda theta, _: (theta > 0).astype(float), lambda x: np.outer(x, [1.0, 2.0]))),
        X, SETS, by_row, True,
    ),
    "OracleTask, rows": (
        StructuredPredictor(OracleTask(lambda theta, _: (theta > 0).astype(float), lambda x: np.outer(x, [1.0, 2.0]))),
        X, SETS, whole_rows, False,
    ),
}  # fmt: skip
SIGNS = [None, float("nan"), np.float32("nan"), np.float64("nan"), Decimal("nan"), np.datetime64("NaT"), NA]
CODES = [-1, -1.0, np.int8(-1), np.int64(-1), np.float32(-1)]
CONTAINERS = [list, scalars, np.array, objects]


def fitted(estimator, X, y):
    model = type(estimator)(**estimator.get_params()).fit(X, y)
    return model.weights_, model.score(X, y)


@pytest.mark.parametrize("name", CASES)
def test_every_sign_in_every_container_is_none(name):
    estimator, inputs, labels, holed, codes = CASES[name]
    weights, score = fitted(estimator, inputs, holed(list, labels, None))
    known = grouped(labels) if holed is by_group else labels
    assert not np.array_equal(weights, fitted(estimator, inputs, known)[0])
    for sign in SIGNS + (CODES if codes else []):
        for container in CONTAINERS:
            if container is np.array and sign is not None and not isinstance(sign, (float, int, np.number)):
                continue  # an array of pandas' NA holds objects
            again = fitted(estimator, inputs, holed(container, labels, sign))
            np.testing.assert_array_equal(again[0], weights, err_msg=f"{sign!r} in {container.__name__}")
            assert again[1] == score, (sign, container)


def masked(values):
    """Return an array that hides None behind its mask."""
    hidden = [[value is None for value in row] if isinstance(row, list) else row is None for row in values]
    return np.ma.array(np.where(hidden, 0, values).astype(int), mask=hidden)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[3] is not whole_rows])
def test_what_is_masked_is_not_known(name):
    estimator, inputs, labels, holed, _ = CASES[name]
    expected, found = (fitted(estimator, inputs, holed(make, labels, None)) for make in (list, masked))
    np.testing.assert_array_equal(found[0], expected[0])
    assert found[1] == expected[1]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case[4] and case[3] is flat])
def test_minus_one_is_a_label_where_an_example_has_one(name):
    estimator, inputs, labels, *_ = CASES[name]
    model = estimator.fit(inputs, np.array(labels) - 1)
    assert set(model.classes_.tolist()) == {-1, 0, 1}


def with_set(name, members):
    """Return labels of a case with a set of these members in place of the first."""
    labels = [members, *LEVELS[1:]]
    return grouped(labels) if CASES[name][3] is by_group else labels


CANDIDATES = [name for name, case in CASES.items() if case[2] is LEVELS and "Ordinal" not in name]


@pytest.mark.parametrize("make", [set, frozenset])
@pytest.mark.parametrize("name", CANDIDATES)
def test_a_set_of_candidates_has_the_same_rule(name, make):
    estimator, inputs, *_, codes = CASES[name]
    model = type(estimator)(**estimator.get_params()).fit(inputs, with_set(name, 0))
    for sign in SIGNS + (CODES if codes else []):
        for members in ([0, sign], [sign]):
            for train in (True, False):
                wrong = with_set(name, make(members))
                with pytest.raises(ValueError, match=r"set of candidates one of which is not known"):
                    clone(model).fit(inputs, wrong) if train else model.score(inputs, wrong)
    model.fit(inputs, with_set(name, make([0, 1])))
    assert model.score(inputs, with_set(name, make([0, 1]))) >= model.score(inputs, with_set(name, 0))
    if codes:
        listed = clone(model).set_params(classes=[-1, 0, 1, 2]).fit(inputs, with_set(name, make([0, -1])))
        assert listed.classes_.tolist() == [-1, 0, 1, 2]
    else:
        assert -1 in model.fit(inputs, with_set(name, make([0, -1]))).classes_


def test_ties_and_collections_have_the_same_rule():
    ties, known = [[{0, 1}, 2], *RANKINGS[1:]], LabelRanker()
    weights = known.fit(X, ties).weights_
    for sign in SIGNS + CODES:
        np.testing.assert_array_equal(known.fit(X, [[{0, 1, sign}, 2], *RANKINGS[1:]]).weights_, weights)
        for collection in ({0, sign}, [sign], {sign}):
            with pytest.raises(ValueError, match=r"y\[0\] is .*; a collection names the labels that are there"):
                MultilabelClassifier().fit(X, [collection, *[{0}, {1, 2}] * 5, {0, 2}])
    model = MultilabelClassifier(classes=[-1, 0, 1]).fit(X, [{0, -1}] * 6 + [{1}] * 6)
    assert {frozenset(labels) for labels in model.predict(X)} == {frozenset({-1, 0}), frozenset({1})}


@pytest.mark.parametrize("name", ["SequenceTagger", "GraphLabeler"])
def test_a_user_may_list_minus_one_among_the_classes(name):
    estimator, inputs, labels, *_ = CASES[name]
    spins = grouped([2 * (label > 0) - 1 for label in labels])
    model = type(estimator)(classes=[-1, 1]).fit(inputs, spins)
    assert model.classes_.tolist() == [-1, 1]
    assert {label for tags in model.predict(inputs) for label in tags} == {-1, 1}
    assert model.score(inputs, spins) == np.mean(np.concatenate(model.predict(inputs)) == np.concatenate(spins))


def test_a_flat_array_with_lengths_has_the_same_rule():
    tags = np.array(LEVELS)
    tags[[1, 8]] = -1
    flat_model = SequenceTagger().fit(X, tags, lengths=LENGTHS)
    assert flat_model.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(flat_model.weights_, SequenceTagger().fit(WORDS, grouped(tags.tolist())).weights_)


@pytest.mark.parametrize("name", ["SequenceTagger", "GraphLabeler"])
def test_nothing_may_be_known_of_an_example(name):
    estimator, inputs, labels, *_ = CASES[name]
    tags = grouped(labels)
    hidden = type(estimator)().fit(inputs, [tags[0], [None] * 3, tags[2]])
    np.testing.assert_array_equal(type(estimator)().fit(inputs, [tags[0], None, tags[2]]).weights_, hidden.weights_)


def test_classes_hold_labels_only():
    with pytest.raises(ValueError, match="classes holds nan, which says that a label is not known"):
        MulticlassClassifier(classes=[0, 1, float("nan")]).fit(X, LEVELS)
    with pytest.raises(ValueError, match=r"y\[1\] is \{None\}; a collection names the labels that are there"):
        MultilabelClassifier().fit(X[:2], [{"a"}, {None}])


@pytest.mark.parametrize("estimator", [MulticlassClassifier, OrdinalClassifier])
@pytest.mark.parametrize("dtypes", [(np.int64, np.uint64), (np.uint64, np.int64), (np.int64, object)])
def test_integers_beyond_the_precision_of_floats_are_told_apart(estimator, dtypes):
    here, there = dtypes
    labels = [2**53, 2**53 + 1, 2**53 + 2] * 4
    model = estimator().fit(X, np.array(labels, dtype=here))
    assert sorted(model.classes_.tolist()) == labels[:3]
    same, swapped = np.array(labels, dtype=there), np.array([labels[1], labels[0], labels[2]] * 4, dtype=there)
    codes = model.task_.annotation(model.task_.encode(X), same).codes
    assert codes.tolist() == [0, 1, 2] * 4
    assert model.task_.annotation(model.task_.encode(X), swapped).codes.tolist() == [1, 0, 2] * 4
    with pytest.raises(ValueError, match="has the unknown label 9007199254740995"):
        model.task_.annotation(model.task_.encode(X), np.array([2**53 + 3] * 12, dtype=there))
