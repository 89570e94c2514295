"""Soft maxima over sets of bounded size against enumeration in extended precision."""

import itertools

import numpy as np
import pytest

from maximand.numerics.budget import best_subsets
from maximand.numerics.counts import soft_contradictions, soft_subsets

TEMPERATURES = [1.0, 0.3, 5.0, 1e-3]
SCALES = [1e-3, 1.0, 30.0, 400.0]


def apply(kernel, scores, *arguments):
    scores = np.ascontiguousarray(scores, dtype=float)
    values, means = np.full(len(scores), np.nan), np.full(scores.shape, np.nan)
    kernel(scores, *arguments, values, means)
    return values, means


def subsets(k, least, most):
    everything = np.array(list(itertools.product([0.0, 1.0], repeat=k)))
    sizes = everything.sum(axis=1)
    return everything[(sizes >= least) & (sizes <= most)]


def contradicting(sets, known):
    return sets[((sets != known) & (known >= 0)).any(axis=1)]


def enumerated(theta, sets, temperature):
    """Return the soft maximum without the scores of forced labels, and the marginals."""
    forced, forbidden = np.isposinf(theta), np.isneginf(theta)
    sets = sets[(sets[:, forced] == 1.0).all(axis=1) & (sets[:, forbidden] == 0.0).all(axis=1)]
    if not len(sets):
        return -np.inf, np.zeros(theta.size)
    scores = sets.astype(np.longdouble) @ np.where(np.isfinite(theta), theta, 0.0)
    weights = np.exp((scores - scores.max()) / np.longdouble(temperature))
    value = scores.max() + temperature * np.log(weights.sum())
    return float(value), (weights @ sets / weights.sum()).astype(float)


def check(theta, value, mean, sets, temperature):
    scale = np.abs(theta[np.isfinite(theta)]).max(initial=0.0)
    expected_value, expected_mean = enumerated(theta, sets, temperature)
    assert value == pytest.approx(expected_value, rel=0.0, abs=1e-12 * max(1.0, temperature, scale))
    np.testing.assert_allclose(mean, expected_mean, rtol=0.0, atol=1e-12 + 1e-15 * scale / temperature)


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_against_enumeration(k, scale, temperature):
    rng = np.random.default_rng(k)
    for least, most in itertools.combinations_with_replacement(range(k + 1), 2):
        scores = rng.uniform(-scale, scale, size=(4, k))
        known = rng.integers(-1, 2, size=(4, k))
        sets = subsets(k, least, most)
        values, means = apply(soft_subsets, scores, least, most, temperature)
        other_values, other_means = apply(soft_contradictions, scores, known, least, most, temperature)
        for i in range(4):
            check(scores[i], values[i], means[i], sets, temperature)
            check(scores[i], other_values[i], other_means[i], contradicting(sets, known[i]), temperature)


@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_many_labels(temperature):
    rng = np.random.default_rng(7)
    for least, most in [(3, 3), (0, 5), (9, 12), (0, 12), (2, 11)]:
        scores = rng.normal(size=(3, 12)) * 3.0
        known = rng.integers(-1, 2, size=(3, 12))
        known[0] = np.where(scores[0] > 0.0, 1, 0)
        sets = subsets(12, least, most)
        values, means = apply(soft_subsets, scores, least, most, temperature)
        other_values, other_means = apply(soft_contradictions, scores, known, least, most, temperature)
        for i in range(3):
            check(scores[i], values[i], means[i], sets, temperature)
            check(scores[i], other_values[i], other_means[i], contradicting(sets, known[i]), temperature)


@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_contradictions_of_what_is_nearly_certain(temperature):
    """The sets in question weigh exp(-400 / temperature) of all and less."""
    theta = np.array([[400.0, -400.0, 399.0, -400.0]])
    known = np.array([[1, 0, 1, 0]])
    for least, most in [(0, 4), (2, 2), (1, 3)]:
        value, mean = apply(soft_contradictions, theta, known, least, most, temperature)
        check(theta[0], value[0], mean[0], contradicting(subsets(4, least, most), known[0]), temperature)


@pytest.mark.parametrize("k", [1, 3, 5])
def test_forced_and_forbidden_labels(k):
    rng = np.random.default_rng(k)
    choices = [-np.inf, np.inf, -1.0, 0.0, 0.5, 2.0]
    for least, most in itertools.combinations_with_replacement(range(k + 1), 2):
        scores = rng.choice(choices, size=(20, k), p=[0.15, 0.15, 0.15, 0.2, 0.15, 0.2])
        known = rng.integers(-1, 2, size=(20, k))
        sets = subsets(k, least, most)
        values, means = apply(soft_subsets, scores, least, most, 0.7)
        other_values, other_means = apply(soft_contradictions, scores, known, least, most, 0.7)
        for i in range(20):
            check(scores[i], values[i], means[i], sets, 0.7)
            check(scores[i], other_values[i], other_means[i], contradicting(sets, known[i]), 0.7)
            fixed = np.isinf(scores[i])
            if np.isfinite(values[i]):
                np.testing.assert_allclose(means[i][fixed], scores[i][fixed] > 0.0, atol=1e-14)


def test_nothing_known_is_not_contradicted():
    values, means = apply(soft_contradictions, np.ones((2, 3)), np.full((2, 3), -1), 0, 2, 1.0)
    assert values.tolist() == [-np.inf, -np.inf]
    assert not means.any()


@pytest.mark.parametrize(("k", "least", "most"), [(60, 3, 10), (60, 50, 55), (1500, 700, 701)])
def test_long_rows(k, least, most):
    """Equal scores have equal chances; a low temperature finds the best set; the mean is the gradient of the value."""
    _, means = apply(soft_subsets, np.full((1, k), 2.0), least, most, 1e-2)
    np.testing.assert_allclose(means, most / k, rtol=1e-10)
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(1, k)) * 3.0
    value, mean = apply(soft_subsets, scores, least, most, 1e-7)
    best, chosen = apply(best_subsets, scores, least, most)
    assert value[0] == pytest.approx(best[0], abs=1e-4)
    np.testing.assert_allclose(mean, chosen, atol=1e-8)
    value, mean = apply(soft_subsets, scores, least, most, 1.0)
    step = rng.normal(size=(1, k)) * 1e-4
    after, before = (apply(soft_subsets, scores + s * step, least, most, 1.0)[0][0] for s in (1, -1))
    assert after - before == pytest.approx(2.0 * (mean @ step.T).item(), rel=1e-5)
    assert least - 1e-9 <= mean.sum() <= most + 1e-9


def test_batch_is_one_by_one():
    rng = np.random.default_rng(1)
    scores, known = rng.normal(size=(20, 9)), rng.integers(-1, 2, size=(20, 9))
    together = [
        apply(soft_subsets, scores, 2, 4, 0.5),
        apply(soft_subsets, scores, 0, 9, 0.5),
        apply(soft_contradictions, scores, known, 2, 4, 0.5),
    ]
    for i in range(20):
        row = slice(i, i + 1)
        alone = [
            apply(soft_subsets, scores[row], 2, 4, 0.5),
            apply(soft_subsets, scores[row], 0, 9, 0.5),
            apply(soft_contradictions, scores[row], known[row], 2, 4, 0.5),
        ]
        for (values, means), (value, mean) in zip(together, alone, strict=True):
            assert value[0] == values[i]
            np.testing.assert_array_equal(mean[0], means[i])
