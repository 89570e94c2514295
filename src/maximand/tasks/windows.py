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

from maximand.tasks.interned import AFTER, BEFORE, JOINT, Interned, Numbered
from maximand.tasks.sequences import Ragged

Token = str | Sequence[str]
WORTH_A_TABLE = 12  # looking up a token by names takes as long as bringing so many names into a table of integers
BATCH = 1 << 12  # tokens that are looked up in the table at once


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

    _interned: Interned | None = None  # see `_table`

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
        rows = _Gathered()
        for sentence in X:
            if not rows.lengths:
                self.n_columns_ = 1 if isinstance(sentence[0], str) else len(sentence[0])
            names = self._names(sentence)
            rows.add([vocabulary.setdefault(name, len(vocabulary)) for name in token] for token in names)
        if not vocabulary:
            raise ValueError("There are no tokens to learn features from.")
        self.vocabulary_ = vocabulary
        return rows.ragged(len(vocabulary))

    def transform(self, X: Iterable[Sequence[Token]]) -> Ragged:
        """Return the rows of the tokens."""
        check_is_fitted(self, "vocabulary_")
        known, table = self.vocabulary_, self._table
        rows = _Gathered()
        for sentence in X:
            if table is None and WORTH_A_TABLE * len(rows.pointers) > len(known):
                table = self._interned = self._intern()
            numbered = None if table is None else table.numbered(sentence)
            if table is None or numbered is None:
                names = self._names(sentence)
                rows.add([known[name] for name in token if name in known] for token in names)
            else:
                rows.wait(table, numbered)
        return rows.ragged(len(known))

    def frozen(self) -> Self:
        """Return a copy that is fast from the first sentence on, and does not change when this one learns again."""
        check_is_fitted(self, "vocabulary_")
        twin = copy(self)
        twin._interned = self._table or self._intern()
        return twin

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns."""
        check_is_fitted(self, "vocabulary_")
        return np.array(list(self.vocabulary_), dtype=object)

    def __getstate__(self) -> Any:
        """Leave the table out, which can be made again."""
        return {name: value for name, value in super().__getstate__().items() if name != "_interned"}

    @property
    def _table(self) -> Interned | None:
        """The table, if it was made of what is known now."""
        return self._interned if self._interned is not None and self._interned.is_of(*self._source) else None

    @property
    def _source(self) -> tuple[dict[str, int], int, int, int]:
        return self.vocabulary_, self.n_columns_, self.window, self.affixes

    def _intern(self) -> Interned:
        known, longest = self.vocabulary_, self.affixes

        def of_word(word: str) -> list[int]:
            return [known[name] for name in _affixes(word, longest) if name in known]

        return Interned.of(*self._source, of_word if longest else None)

    def _names(self, sentence: Sequence[Token]) -> Iterator[list[str]]:
        """Yield the names of the features of each token; positions outside the sentence are marked."""
        tokens = [(token,) if isinstance(token, str) else tuple(token) for token in sentence]
        n, window = len(tokens), self.window
        reach = range(-window, window + 1)
        for t in range(n):
            names = []
            for column in range(len(tokens[t])):
                around = [tokens[t + d][column] if 0 <= t + d < n else (BEFORE if t + d < 0 else AFTER) for d in reach]
                names += [f"{column}[{d}]={value}" for d, value in zip(reach, around, strict=True)]
                for length in (2,) if column == 0 else (2, 3):
                    for first in range(len(around) - length + 1):
                        start = reach[first]
                        if column == 0 and not start <= 0 < start + length:
                            continue
                        names.append(f"{column}[{start}:{start + length}]={JOINT.join(around[first : first + length])}")
            if self.affixes:
                names += _affixes(tokens[t][0], self.affixes)
            yield names


class _Gathered:
    """Rows of tokens, sentence by sentence; some may wait to be looked up together."""

    def __init__(self) -> None:
        self.columns, self.pointers, self.lengths = array("i"), array("q", [0]), array("q")
        self._waiting: list[Numbered] = []
        self._table: Interned | None = None
        self._n_waiting = 0

    def add(self, tokens: Iterable[list[int]]) -> None:
        """Add a sentence, given the columns of each token."""
        self._look_up()
        before = len(self.pointers)
        for columns in tokens:
            self.columns.extend(columns)
            self.pointers.append(len(self.columns))
        self.lengths.append(len(self.pointers) - before)

    def wait(self, table: Interned, sentence: Numbered) -> None:
        """Add a sentence that the table is to be asked for."""
        self._table = table
        self._waiting.append(sentence)
        self._n_waiting += sentence.length
        self.lengths.append(sentence.length)
        if self._n_waiting >= BATCH:
            self._look_up()

    def _look_up(self) -> None:
        if self._table is not None and self._waiting:
            columns, ends = self._table.columns(self._waiting)
            ends += self.pointers[-1]
            self.columns.frombytes(columns.tobytes())
            self.pointers.frombytes(ends.tobytes())
            self._waiting, self._n_waiting = [], 0

    def ragged(self, n_columns: int) -> Ragged:
        """Return the rows of all sentences, in as many columns."""
        self._look_up()
        matrix = csr_array((len(self.pointers) - 1, n_columns))
        matrix.indices = np.frombuffer(self.columns, dtype=np.int32) if self.columns else np.empty(0, dtype=np.int32)
        starts = np.frombuffer(self.pointers, dtype=np.int64)
        matrix.indptr = starts.astype(np.int32) if len(self.columns) < 1 << 31 else starts
        matrix.data = np.ones(len(self.columns))
        return Ragged(matrix, np.array(self.lengths, dtype=np.int64))


def _affixes(word: str, longest: int) -> list[str]:
    names = [
        "shape=" + "".join("X" if c.isupper() else "0" if c.isdigit() else "x" if c.isalpha() else c for c in word)
    ]
    for length in range(1, min(longest, len(word)) + 1):
        names += [f"starts={word[:length]}", f"ends={word[-length:]}"]
    return names
