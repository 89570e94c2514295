"""The curvature along each weight, from which L-BFGS takes the units of the weights."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from maximand.batch import Batch
from maximand.costs import ZeroOne
from maximand.features import Examples, PerLabel, Rows
from maximand.losses import CRF, EUCLIDEAN
from maximand.objective import Objective
from maximand.solvers.lbfgs import curvature
from maximand.spaces import Choice, Labels


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("loss", "spread"), [(CRF, 1 / 3), (EUCLIDEAN, 1.0)], ids=["crf", "euclidean"])
def test_curvature_is_the_weighted_sum_of_squares(sparse, loss, spread):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(30, 4)), rng.random(30) + 0.5
    examples = Examples(Choice(30, 3), Rows.single(csr_array(X) if sparse else X))
    batch = Batch(examples, Labels.single(rng.integers(0, 3, 30), 3), ZeroOne(), np.ones(30))
    objective = Objective.of(batch, PerLabel(4, 3), loss, 0.01, sample_weight=weight)
    share = objective.share
    squares = np.repeat(share @ X**2, 3)
    expected = 0.01 + spread * np.concatenate([squares, np.full(3, share.sum())])
    np.testing.assert_allclose(curvature(objective, np.zeros(objective.n_weights)), expected, rtol=1e-12)
