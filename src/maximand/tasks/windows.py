"""Features of tokens from the columns of their neighbours: what taggers of text use."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from maximand.tasks.sequences import Ragged

Token = str | Sequence[str]


class WindowVectorizer(TransformerMixin, BaseEstimator):
    """Turns sentences into one sparse row for each token, with a column for each feature seen in training.

    A sentence is a list of tokens, a token a word or a tuple of columns (word, part of speech, ...). Features are the
    values of every column at up to `window` tokens to either side, and joined values of neighbouring tokens: pairs with
    the token itself for the first column, pairs and triples in the window for the others. `affixes` adds the first and
    last 1 ... affixes letters of the word and its shape. Works on a stream of sentences and holds no more than the
    matrix and the vocabulary; features that were not seen in training are left out.

    Attributes
    ----------
    vocabulary_ : dict from the name of a feature to its column, in order of appearance
    n_columns_ : int, the number of columns of a token
    """

    def __init__(self, window: int = 2, affixes: int = 0):
        self.window = window
        self.affixes = affixes

    def fit(self, X: Iterable[Sequence[Token]], y: Any = None) -> Self:
        """Learn which features there are."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Iterable[Sequence[Token]], y: Any = None) -> Ragged:
        """Learn which features there are and return the rows of the tokens."""
        vocabulary: dict[str, int] = {}
        columns, pointers, lengths = array("i"), array("q", [0]), array("q")
        for sentence in X:
            if not lengths:
                self.n_columns_ = 1 if isinstance(sentence[0], str) else len(sentence[0])
            for names in self._names(sentence):
                columns.extend([vocabulary.setdefault(name, len(vocabulary)) for name in names])
                pointers.append(len(columns))
            lengths.append(len(sentence))
        if not vocabulary:
            raise ValueError("There are no tokens to learn features from.")
        self.vocabulary_ = vocabulary
        return self._rows(columns, pointers, lengths)

    def transform(self, X: Iterable[Sequence[Token]]) -> Ragged:
        """Return the rows of the tokens."""
        check_is_fitted(self, "vocabulary_")
        known = self.vocabulary_
        columns, pointers, lengths = array("i"), array("q", [0]), array("q")
        for sentence in X:
            for names in self._names(sentence):
                columns.extend([known[name] for name in names if name in known])
                pointers.append(len(columns))
            lengths.append(len(sentence))
        return self._rows(columns, pointers, lengths)

    def frozen(self) -> Self:
        """Return a copy that does not change when this one learns again."""
        return copy(self)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns."""
        check_is_fitted(self, "vocabulary_")
        return np.array(list(self.vocabulary_), dtype=object)

    def _rows(self, columns: array[int], pointers: array[int], lengths: array[int]) -> Ragged:
        n_tokens = len(pointers) - 1
        matrix = csr_array((n_tokens, len(self.vocabulary_)))
        matrix.indices = np.frombuffer(columns, dtype=np.int32) if len(columns) else np.empty(0, dtype=np.int32)
        starts = np.frombuffer(pointers, dtype=np.int64)
        matrix.indptr = starts.astype(np.int32) if len(columns) < 1 << 31 else starts
        matrix.data = np.ones(len(columns))
        return Ragged(matrix, np.array(lengths, dtype=np.int64))

    def _names(self, sentence: Sequence[Token]) -> Iterator[list[str]]:
        """Yield the names of the features of each token; positions outside the sentence are marked."""
        tokens = [(token,) if isinstance(token, str) else tuple(token) for token in sentence]
        n, window = len(tokens), self.window
        reach = range(-window, window + 1)
        for t in range(n):
            names = []
            for column in range(len(tokens[t])):
                around = [tokens[t + d][column] if 0 <= t + d < n else ("<s>" if t + d < 0 else "</s>") for d in reach]
                names += [f"{column}[{d}]={value}" for d, value in zip(reach, around, strict=True)]
                for length in (2,) if column == 0 else (2, 3):
                    for first in range(len(around) - length + 1):
                        start = reach[first]
                        if column == 0 and not start <= 0 < start + length:
                            continue
                        names.append(f"{column}[{start}:{start + length}]={'|'.join(around[first : first + length])}")
            if self.affixes:
                names += _affixes(tokens[t][0], self.affixes)
            yield names


def _affixes(word: str, longest: int) -> list[str]:
    names = [
        "shape=" + "".join("X" if c.isupper() else "0" if c.isdigit() else "x" if c.isalpha() else c for c in word)
    ]
    for length in range(1, min(longest, len(word)) + 1):
        names += [f"starts={word[:length]}", f"ends={word[-length:]}"]
    return names
