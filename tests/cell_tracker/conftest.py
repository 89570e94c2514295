"""Movies to learn from and to predict."""

import pytest
from tracking_samples import movie, parted


@pytest.fixture(scope="session")
def movies():
    return parted([movie(seed) for seed in (0, 1)])


@pytest.fixture(scope="session")
def unseen():
    return parted([movie(2)])
