"""The forms in which sequences come, laid side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from maximand.features import Rows
from maximand.support import Bools, Ints
from maximand.tasks.base import finite_rows
from maximand.tasks.feature_dicts import looked_up


@dataclass(frozen=True)
class Ragged:
    """Sequences given as one matrix (token, feature), dense or sparse, and their lengths."""

    matrix: Any
    lengths: Any

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True)
class HiddenPositions:
    """Sequences in any form, and which of their positions always are hidden: a mask for each, or one for all tokens."""

    sequences: Any
    hidden: Any

    def __len__(self) -> int:
        return len(self.sequences)


def in_one(X: Any, lengths: Any, hidden: Any) -> Any:
    """Return sequences together with their lengths and with which positions are hidden, where these are given."""
    X = X if lengths is None else Ragged(X, lengths)
    return X if hidden is None else HiddenPositions(X, hidden)


def parted(X: Any) -> tuple[Any, Any]:
    """Return sequences and what says which of their positions are hidden, None where nothing does."""
    return (X.sequences, X.hidden) if isinstance(X, HiddenPositions) else (X, None)


def flat_mask(hidden: Any, offsets: Ints) -> Bools | None:
    """Return for all tokens whether they are hidden, checked against their sequences."""
    if hidden is None:
        return None
    if not (isinstance(hidden, np.ndarray) and hidden.ndim == 1 and hidden.dtype != object):
        masks = [np.asarray(mask) for mask in hidden]
        if len(masks) != offsets.size - 1:
            raise ValueError(f"hidden has {len(masks)} masks and X {offsets.size - 1} sequences; give one for each.")
        for i, (mask, length) in enumerate(zip(masks, np.diff(offsets), strict=True)):
            if mask.shape != (length,):
                raise ValueError(f"hidden[{i}] has shape {mask.shape} but X[{i}] has {length} tokens.")
        hidden = np.concatenate(masks)
    if hidden.dtype != np.bool_ or hidden.size != offsets[-1]:
        raise ValueError(
            f"hidden has {hidden.size} entries of type {hidden.dtype}; say True or False of each of the {offsets[-1]} "
            "tokens."
        )
    return hidden


def lay_out(X: Any, vectorizer: Any, fitting: bool) -> tuple[Rows, Any]:
    """Return the tokens of all sequences as rows, and the vectoriser used (None for numbers).

    X is a list of matrices (token, feature), dense or sparse; a `Ragged`; or a list of lists of
    feature dicts (or of lists of feature names), which go through the vectoriser.
    """
    if isinstance(X, Ragged):
        matrix, lengths = X.matrix, np.asarray(X.lengths, dtype=np.int64)
        if matrix.shape[0] != lengths.sum():
            raise ValueError(f"X has {matrix.shape[0]} rows but the lengths add up to {lengths.sum()}.")
    elif issparse(X) or (isinstance(X, np.ndarray) and X.dtype != object and X.ndim == 2):
        raise ValueError(
            "X is a single matrix; say where its sequences end with Ragged(X, lengths), or give a list of matrices."
        )
    else:
        X = list(X)
        if not X:
            raise ValueError("X holds no sequences.")
        lengths = np.array([length_of(x) for x in X], dtype=np.int64)
        filled = next((x for x, length in zip(X, lengths, strict=True) if length), None)
        if (
            filled is not None
            and not issparse(filled)
            and isinstance(filled[0], (Mapping, str, list, tuple, set))
            and (not _numbers(filled[0]))
        ):
            matrix, vectorizer = _vectorized(X, vectorizer, fitting)
        else:
            matrix = _stacked(X, lengths)
    if fitting and (lengths == 0).any():
        raise ValueError(f"X[{int(np.argmin(lengths))}] is an empty sequence; drop it from the training data.")
    matrix = _as_float(matrix)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    finite_rows(matrix, offsets)
    return Rows(matrix, offsets), vectorizer


def length_of(x: Any) -> int:
    """Return the number of tokens of a sequence."""
    return int(x.shape[0]) if hasattr(x, "shape") else len(x)


def _numbers(token: Any) -> bool:
    return isinstance(token, (list, tuple)) and len(token) > 0 and isinstance(token[0], (int, float, np.number))


def _as_float(matrix: Any) -> Any:
    if not issparse(matrix):
        return np.ascontiguousarray(matrix, dtype=np.float64)
    matrix = matrix if isinstance(matrix, csr_array) else csr_array(matrix)
    return matrix if matrix.dtype == np.float64 else matrix.astype(np.float64)


def _stacked(X: list[Any], lengths: Any) -> Any:
    widths: dict[int, int] = {}
    for i, x in enumerate(X):
        x = x if hasattr(x, "shape") else np.asarray(x, dtype=float)
        if lengths[i] and len(x.shape) != 2:
            raise ValueError(f"X[{i}] has {len(x.shape)} dimensions; a sequence is a matrix (token, feature).")
        if lengths[i]:
            widths.setdefault(x.shape[1], i)
    if len(widths) > 1:
        (one, i), (other, j) = list(widths.items())[:2]
        raise ValueError(f"X[{i}] has {one} features but X[{j}] has {other}; all sequences need the same features.")
    filled = [x for x, length in zip(X, lengths, strict=True) if length]
    if not filled:
        return np.empty((0, 0))
    if len(filled) == 1:
        return filled[0]
    return vstack(filled, format="csr") if issparse(filled[0]) else np.vstack(filled)


def _vectorized(X: list[Any], vectorizer: Any, fitting: bool) -> tuple[Any, Any]:
    if fitting:
        vectorizer = _new_vectorizer() if vectorizer is None else vectorizer
        return vectorizer.fit_transform(_tokens(X)), vectorizer
    if vectorizer is None:
        raise ValueError("X holds feature dicts but the model was trained on numbers.")
    found = looked_up(X, vectorizer)
    return vectorizer.transform(_tokens(X)) if found is None else found, vectorizer


def _tokens(X: list[Any]) -> Iterator[Mapping[Any, Any]]:
    """Yield the features of every token; those that are named have the value 1."""
    for x in X:
        for token in x:
            if isinstance(token, Mapping):
                yield token
            else:
                yield dict.fromkeys([token] if isinstance(token, str) else token, 1.0)


def _new_vectorizer() -> Any:
    from sklearn.feature_extraction import DictVectorizer  # slow to import, and not needed for numbers

    # In order of appearance, features that occur together lie close together in memory.
    return DictVectorizer(sort=False)
