"""Sequences from a hidden Markov model."""

from __future__ import annotations

import numpy as np

from maximand.support import Array, Ints


def simulate_chains(
    n_sequences: int = 200,
    n_labels: int = 5,
    n_features: int = 10,
    mean_length: float = 12.0,
    persistence: float = 3.0,
    noise: float = 1.5,
    random_state: int = 0,
) -> tuple[list[Array], list[Ints]]:
    """Return inputs (token, feature) and labels of sequences whose labels form a Markov chain.

    Each label has a random centre; a token is its label's centre plus normal noise. The logarithms of the transition
    probabilities are normal, with `persistence` added for staying, so neighbours tell something about a token.
    """
    rng = np.random.default_rng(random_state)
    centres = rng.normal(size=(n_labels, n_features))
    logits = rng.normal(size=(n_labels, n_labels)) + persistence * np.eye(n_labels)
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    X, Y = [], []
    for _ in range(n_sequences):
        length = 1 + rng.poisson(mean_length - 1.0)
        labels = np.empty(length, dtype=np.int64)
        labels[0] = rng.integers(n_labels)
        for t in range(1, length):
            labels[t] = rng.choice(n_labels, p=chances[labels[t - 1]])
        Y.append(labels)
        X.append(centres[labels] + noise * rng.normal(size=(length, n_features)))
    return X, Y
