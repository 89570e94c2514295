import numpy as np
import pytest
from ranking_samples import NAMES


@pytest.fixture(scope="module")
def table():
    """200 rows whose labels are ordered by noisy linear scores; half to train on, half to test."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    liking = X @ rng.normal(size=(5, 4)) + 0.3 * rng.normal(size=(200, 4))
    Y = NAMES[np.argsort(-liking, axis=1)]
    return X[:100], Y[:100], X[100:], Y[100:]
