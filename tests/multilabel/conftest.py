import numpy as np
import pytest


@pytest.fixture(scope="module")
def table():
    """120 rows, three labels that follow the features and each other; half to train on, half to test."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    Y = (X @ rng.normal(size=(4, 3)) + 0.5 * rng.normal(size=(120, 3)) > 0).astype(int)
    return X[:60], Y[:60], X[60:], Y[60:]


@pytest.fixture(scope="module")
def one_of_many():
    """Rows with exactly one of four labels, and features that say little about which."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 4, 200)
    X = 1.2 * np.eye(4)[labels] + rng.normal(size=(200, 4))
    Y = np.eye(4, dtype=int)[labels]
    return X[:100], Y[:100], X[100:], Y[100:]
