import numpy as np
import pytest
from graph_samples import random_graphs, smooth_grid


@pytest.fixture(scope="module")
def grids():
    rng = np.random.default_rng(0)
    found = [smooth_grid(rng, 3 + i % 2, 4) for i in range(40)]
    X, Y = [x for x, _ in found], [y for _, y in found]
    return X[:20], Y[:20], X[20:], Y[20:]


@pytest.fixture(scope="module")
def graphs():
    return random_graphs(np.random.default_rng(1), 25)
