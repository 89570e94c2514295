"""Feature dicts and lists of names as rows: what scikit-learn's DictVectorizer makes of them, sooner for few."""

from __future__ import annotations

from itertools import accumulate, chain, repeat
from typing import Any

import numpy as np
from scipy.sparse import csr_array

NUMBERS = frozenset((float, int, bool))
TEXT_OR_NUMBERS = NUMBERS | {str}


def looked_up(X: list[Any], vectorizer: Any) -> csr_array | None:
    """Return the rows of all tokens; None for other vectorisers, and for what is rarely met in tokens."""
    if not _looks_up(vectorizer):
        return None
    tokens = list(chain.from_iterable(X))
    kinds = set(map(type, tokens))
    if kinds <= {list, tuple}:
        lengths = list(map(len, tokens))
        names = list(chain.from_iterable(tokens))
        data = np.ones(len(names))
    elif kinds == {dict}:
        lengths, names, values = [], [], []
        for token in tokens:
            kinds = set(map(type, token.values()))
            if kinds <= NUMBERS:
                names += token
                values += token.values()
            elif kinds <= TEXT_OR_NUMBERS:
                joint = vectorizer.separator
                names += [f"{name}{joint}{value}" if type(value) is str else name for name, value in token.items()]
                values += [1.0 if type(value) is str else value for value in token.values()]
            else:
                return None
            lengths.append(len(token))
        data = np.array(values, dtype=np.float64)
    else:
        return None
    known = vectorizer.vocabulary_
    columns = np.fromiter(map(known.get, names, repeat(-1)), np.int32, len(names))
    pointers = np.array([0, *accumulate(lengths)], dtype=np.int32)
    there = columns >= 0
    if not there.all():
        pointers = np.concatenate([[0], np.cumsum(there, dtype=np.int32)], dtype=np.int32)[pointers]
        columns, data = columns[there], data[there]
    found = csr_array((len(tokens), len(known)))  # given arrays, the constructor would look at them
    found.indptr, found.indices, found.data = pointers, columns, data
    found.has_sorted_indices = False
    found.sort_indices()
    return found if found.has_canonical_format else None  # a feature that a token has twice


def _looks_up(vectorizer: Any) -> bool:
    """Whether this is a DictVectorizer as scikit-learn makes it, which need not be imported to know."""
    kind = type(vectorizer)
    return (
        kind.__name__ == "DictVectorizer"
        and kind.__module__.startswith("sklearn.")
        and vectorizer.sparse
        and vectorizer.dtype is np.float64
    )
