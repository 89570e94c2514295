"""Tokens are looked up as scikit-learn's DictVectorizer does it, whatever they hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction import DictVectorizer, FeatureHasher

from maximand.tasks.feature_dicts import looked_up
from maximand.tasks.sequences import lay_out

NAMES = st.sampled_from(["a", "b", "c=d", "c", "é", ""])
NUMBERS = st.one_of(st.floats(-5, 5), st.integers(-3, 3), st.booleans())
DICTS = st.dictionaries(NAMES, st.one_of(NUMBERS, st.sampled_from(["d", "e"])), max_size=5)
LISTS = st.lists(NAMES, max_size=5)
TOKENS = (DICTS, st.dictionaries(NAMES, NUMBERS), LISTS, st.lists(NAMES, unique=True), st.one_of(DICTS, LISTS, NAMES))
SEQUENCES = st.one_of([st.lists(st.lists(token, min_size=1, max_size=3), min_size=1, max_size=3) for token in TOKENS])


def as_dicts(X):
    """Named features have the value 1."""
    return [
        token if isinstance(token, dict) else dict.fromkeys([token] if isinstance(token, str) else token, 1.0)
        for x in X
        for token in x
    ]


@settings(max_examples=300, deadline=None)
@given(SEQUENCES, SEQUENCES)
def test_rows_are_those_of_the_vectoriser(training, X):
    vectorizer = DictVectorizer(sort=False).fit([*as_dicts(training), {"b": 1.0}])
    wanted = vectorizer.transform(as_dicts(X))
    rows, _ = lay_out(X, vectorizer, fitting=False)
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(rows.matrix, name), getattr(wanted, name))
    assert rows.matrix.shape == wanted.shape


@pytest.mark.parametrize("X", [[[["a", "b"], ["b"]]], [[{"a": 1.0, "b": 2}]], [[{"a": "b"}, {"c": True}]]])
def test_usual_tokens_take_the_short_way(X):
    found = looked_up(X, DictVectorizer(sort=False).fit(as_dicts(X)))
    assert found is not None
    assert found.shape[0] == len(X[0])


def test_what_is_rare_is_left_to_the_vectoriser():
    vectorizer = DictVectorizer(sort=False).fit([{"a": 1.0, "b": 1.0}])
    for rare in ([[{"a": None}]], [[{"a": ["b", "c"]}]], [[["a", "a"]]], [["a"]], [[{"a": 1.0}, ["b"]]]):
        assert looked_up(rare, vectorizer) is None
    for other in (FeatureHasher(8), DictVectorizer(sparse=False).fit([{"a": 1.0}]), DictVectorizer(dtype=int)):
        assert looked_up([[["a"]]], other) is None
