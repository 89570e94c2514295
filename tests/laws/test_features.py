"""Laws of feature maps: scores and sums are transposes, and slopes are sums example by example."""

import numpy as np
import pytest
from cases import CASES, NAMES

pytestmark = pytest.mark.parametrize("case", CASES, ids=NAMES)


def test_scores_and_sums_are_transposes(case):
    rng = np.random.default_rng(0)
    weights, mean = rng.normal(size=case.features.n_weights), rng.normal(size=case.space.n_parts)
    sums = np.zeros(case.features.n_spread)
    case.features.add_sums(case.inputs, mean, sums)
    theta = case.features.scores(case.inputs, case.features.spread(weights))
    np.testing.assert_allclose(theta @ mean, weights @ case.features.gather(sums), rtol=1e-12)


def test_slopes_are_the_sums_of_single_examples(case):
    rng = np.random.default_rng(1)
    mean = rng.normal(size=case.space.n_parts) * (rng.random(case.space.n_parts) < 0.4)
    slopes = case.features.slopes(case.inputs, mean)
    assert slopes.has_canonical_format
    n = case.space.n_examples
    for i in range(n):
        sums = np.zeros(case.features.n_spread)
        only = np.zeros(n)
        only[i] = 1.0
        case.features.add_sums(case.inputs, case.space.scale(mean, only), sums)
        np.testing.assert_allclose(slopes[[i]].toarray().ravel(), case.features.gather(sums), atol=1e-12)


def test_inputs_of_some_examples_have_their_scores(case):
    weights = case.features.spread(np.random.default_rng(2).normal(size=case.features.n_weights))
    n = case.space.n_examples
    for examples in (slice(1, n), np.arange(1, n), np.array([n - 1, 0])):
        space = case.space.take(examples)
        theta = case.features.scores(case.inputs.take(examples), weights)
        whole = case.space.argmax(case.features.scores(case.inputs, weights)).value
        np.testing.assert_allclose(space.argmax(theta).value, whole[examples], rtol=1e-12)
