"""Maxima that are minimised by soft ones."""

import numpy as np
import pytest

from maximand import OracleTask, SequenceTagger, Smoothing, StructuredPredictor
from maximand.datasets import simulate_chains


def test_noisy_chains_are_certified_and_agree_with_planes():
    rng = np.random.default_rng(0)
    X, Y = simulate_chains(40)
    Y = [np.where(rng.random(len(y)) < 0.3, rng.permutation(y), y) for y in Y]
    model = SequenceTagger(loss="hinge", solver=Smoothing(tolerance=1e-2), regularization=1e-3).fit(X, Y)
    assert model.gap_is_certificate_
    assert model.gap_ <= 1e-2 * model.objective_
    planes = SequenceTagger(loss="hinge", regularization=1e-3, tolerance=1e-2).fit(X, Y)
    assert abs(model.objective_ - planes.objective_) <= max(model.gap_, planes.gap_)


def test_maxima_without_soft_forms_are_refused():
    task = OracleTask(lambda theta, instance: (theta > 0).astype(float))
    X, Y = [np.eye(2), np.eye(2)], [np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    with pytest.raises(ValueError, match=r"in a space with marginals or projections of its own, and hinge has none"):
        StructuredPredictor(task, loss="hinge", solver=Smoothing()).fit(X, Y)
