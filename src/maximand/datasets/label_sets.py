"""Made-up tables with label sets."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from maximand.support import Array, Ints


def topics(
    n_rows: int, rng: np.random.Generator, n_labels: int = 6, n_words: int = 6000, length: int = 40, share: float = 0.22
) -> tuple[csr_array, Ints]:
    """Return texts as rows of unit length, each with the label of one topic or, one in fifty, with none.

    A word comes from the vocabulary of the topic, a block of the words, or with probability 1 - share from anywhere. So
    each label can be told by a linear function of the words alone, though it helps to know that topics exclude each
    other.
    """
    block = n_words // n_labels
    topic = rng.integers(n_labels, size=n_rows)
    labels = np.eye(n_labels, dtype=np.int64)[topic]
    none = rng.random(n_rows) < 0.02
    labels[none] = 0
    words = rng.integers(n_words, size=(n_rows, length))
    rank = np.floor(block * rng.random((n_rows, length)) ** 3).astype(np.int64)  # some words are much more common
    own = topic[:, None] * block + rank
    words = np.where((rng.random((n_rows, length)) < share) & ~none[:, None], own, words)
    rows = np.repeat(np.arange(n_rows), length)
    counts = csr_array((np.ones(rows.size), (rows, words.ravel())), shape=(n_rows, n_words))
    counts.sum_duplicates()
    norms = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return csr_array(counts.multiply(1.0 / norms[:, None])), labels


def one_of_many(n_rows: int, rng: np.random.Generator, directions: Array, noise: float = 0.3) -> tuple[Array, Ints]:
    """Return rows of normal numbers, each with the one label whose direction has the largest noisy product with it.

    Rows are of very different sizes, which do not matter to the label. So no label can be told by itself: how large its
    product is says little. Weights of pairs have to say that there is exactly one.
    """
    n_labels, n_features = directions.shape
    X = rng.normal(size=(n_rows, n_features))
    scores = X @ directions.T + noise * np.linalg.norm(directions, axis=1) * rng.normal(size=(n_rows, n_labels))
    sizes = np.exp(rng.normal(size=(n_rows, 1)))
    return sizes * X / np.sqrt(n_features), np.eye(n_labels, dtype=np.int64)[scores.argmax(axis=1)]
