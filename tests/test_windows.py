"""The table of integers of a `WindowVectorizer` finds what its names say, for any sentences."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from maximand import WindowVectorizer

# Values that other values begin with, that mark the ends of sentences, join values or separate names from values.
VALUES = st.sampled_from(["a", "b", "aB1", "", "=", "0[0]=a", "<s>", "</s>", "é", "a|b", "|", "||"])


def by_names(vectorizer, sentences):
    """The columns of each token, by the names of its features."""
    known = vectorizer.vocabulary_
    return [[known[name] for name in names if name in known] for x in sentences for names in vectorizer._names(x)]


def by_token(ragged):
    """The columns of each token of a matrix of ones."""
    assert (ragged.matrix.data == 1.0).all()
    return [own.tolist() for own in np.split(ragged.matrix.indices, ragged.matrix.indptr[1:-1])]


@st.composite
def corpora(draw):
    """Sentences to learn from, sentences to transform, and the parameters of a vectoriser."""
    n_columns = draw(st.integers(1, 3))
    token = st.tuples(*[VALUES] * n_columns)
    if n_columns == 1:
        token = draw(st.sampled_from([token, VALUES]))
    sentences = st.lists(st.lists(token, min_size=1, max_size=5), min_size=1, max_size=4)
    return draw(sentences), draw(sentences), {"window": draw(st.integers(0, 3)), "affixes": draw(st.integers(0, 2))}


@settings(max_examples=300, deadline=None)
@given(corpora())
def test_the_table_finds_what_the_names_say(corpus):
    training, others, parameters = corpus
    vectorizer = WindowVectorizer(**parameters)
    learnt = vectorizer.fit_transform(training)
    frozen = vectorizer.frozen()
    assert by_token(learnt) == by_token(frozen.transform(training)) == by_names(vectorizer, training)
    found = frozen.transform(others)
    assert by_token(found) == by_names(vectorizer, others)
    assert found.lengths.tolist() == [len(sentence) for sentence in others]
    assert found.matrix.shape[1] == len(vectorizer.vocabulary_)


def sentences(n):
    rng = np.random.default_rng(0)
    return [[(f"w{w}", "NV"[w % 2]) for w in rng.integers(0, 60, 9)] for _ in range(n)]


def test_a_long_stream_is_looked_up_in_the_table():
    vectorizer = WindowVectorizer(affixes=1).fit(sentences(30))
    frozen, stream = vectorizer.frozen(), sentences(700)
    stream[100] = [("w1|w2", "N"), ("w1", "V")]  # in between, one that needs the names
    expected = by_names(vectorizer, stream)
    assert vectorizer._table is None
    for one in (vectorizer, frozen):
        assert by_token(one.transform(iter(stream))) == expected
    assert vectorizer._table is not None


def test_forms_of_tokens_are_all_one():
    vectorizer = WindowVectorizer().fit(sentences(20)).frozen()
    sentence = sentences(1)[0]
    forms = [list(map(list, sentence)), tuple(sentence), [tuple(map(np.str_, token)) for token in sentence]]
    for form in (*forms, np.array(sentence)):
        assert by_token(vectorizer.transform([form])) == by_token(vectorizer.transform([sentence]))
    wider = [(*token, "x") for token in sentence]
    assert by_token(vectorizer.transform([wider])) == by_token(vectorizer.transform([sentence]))
    words = WindowVectorizer().fit([["a", "b"]]).frozen()
    assert by_token(words.transform(["ab", [("a",), "b"], []])) == 2 * by_token(words.transform([["a", "b"]]))


def test_a_table_is_never_older_than_what_is_known():
    stream = sentences(200)
    vectorizer = WindowVectorizer().fit(stream[:10])
    vectorizer.transform(stream)
    del vectorizer.vocabulary_["0[0]=w1"]
    assert by_token(vectorizer.transform(stream)) == by_names(vectorizer, stream)
    vectorizer.set_params(window=1)
    assert by_token(vectorizer.transform(stream)) == by_names(vectorizer, stream)
    vectorizer.fit(stream[:5])
    assert by_token(vectorizer.transform(stream)) == by_names(vectorizer, stream)


def test_pickles_and_clones_have_no_table():
    vectorizer = WindowVectorizer().fit(sentences(5)).frozen()
    small = pickle.dumps(WindowVectorizer().fit(sentences(5)))
    assert len(pickle.dumps(vectorizer)) == len(small)
    assert pickle.loads(pickle.dumps(vectorizer)).vocabulary_ == vectorizer.vocabulary_
    assert clone(vectorizer)._interned is None


@pytest.mark.parametrize(
    "name", ["0[0:1]=a", "00[0]=a", "0[+1]=a", "0[-0]=a", "5[0]=a", "0[7]=a", "0[1:3]=a|b", "0[0", "="]
)
def test_names_that_no_token_has_are_found_nowhere(name):
    vectorizer = WindowVectorizer().fit([["a", "b"]])
    vectorizer.vocabulary_ = {name: 0, "0[0]=a": 1}
    assert by_token(vectorizer.frozen().transform([["a", "b"]])) == [[1], []]
