"""Best permutations against scipy and enumeration."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from maximand.numerics.assignment import best_assignments, match, matching_room, total_support


def assign(scores):
    values, means = np.empty(len(scores)), np.full(scores.shape, np.nan)
    best_assignments(scores, values, means)
    return values, means


def scipy_value(scores):
    try:
        return scores[linear_sum_assignment(scores, maximize=True)].sum()
    except ValueError:
        return -np.inf


def random_scores(rng, kind, n, k):
    scores = rng.normal(size=(n, k, k))
    if kind == "ties":
        scores = rng.integers(0, 3, scores.shape).astype(float)
    if kind == "masked":
        scores[rng.random(scores.shape) < 0.4] = -np.inf
    if kind == "masked ties":
        scores = np.where(rng.random(scores.shape) < 0.5, -np.inf, rng.integers(0, 2, scores.shape).astype(float))
    if kind == "rank one":
        scores = scores[:, :, :1] * scores[:, :1, :]
    if kind == "large":
        scores = 1e8 + scores
    return scores


KINDS = ("normal", "ties", "masked", "masked ties", "rank one", "large")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 2, 3, 5, 9, 30])
def test_assignments_are_permutations_of_the_value_scipy_finds(kind, k):
    rng = np.random.default_rng(k)
    scores = random_scores(rng, kind, 60, k)
    values, means = assign(scores)
    for own, value, mean in zip(scores, values, means, strict=True):
        wanted = scipy_value(own)
        if wanted == -np.inf:
            assert value == -np.inf
            assert not mean.any()
            continue
        assert value == pytest.approx(wanted, rel=1e-13, abs=1e-12)
        assert value == pytest.approx(own[mean == 1.0].sum(), rel=1e-15, abs=1e-12)
        assert set(np.unique(mean)) <= {0.0, 1.0}
        assert np.all(mean.sum(axis=0) == 1.0)
        assert np.all(mean.sum(axis=1) == 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_assignments_are_best_among_all(kind):
    rng = np.random.default_rng(0)
    scores = random_scores(rng, kind, 100, 4)
    permutations = np.array(list(itertools.permutations(range(4))))
    sums = scores[:, np.arange(4), permutations].sum(axis=2)
    np.testing.assert_allclose(assign(scores)[0], sums.max(axis=1), rtol=1e-13, atol=1e-12)


@pytest.mark.parametrize("kind", ["normal", "ties", "rank one"])
def test_prices_prove_the_assignment(kind):
    rng = np.random.default_rng(1)
    for own in random_scores(rng, kind, 20, 12):
        prices, room = np.empty(12), matching_room(12)
        assert match(own, prices, room)
        profits = own - prices
        np.testing.assert_allclose(profits[np.arange(12), room[1]], profits.max(axis=1), atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 7, 40])
def test_equal_scores_give_the_identity(k):
    np.testing.assert_array_equal(assign(np.full((2, k, k), 0.3))[1], np.broadcast_to(np.eye(k), (2, k, k)))


def test_assignments_do_not_depend_on_the_batch():
    scores = np.random.default_rng(2).normal(size=(30, 8, 8))
    values, means = assign(scores)
    for i in range(30):
        value, mean = assign(scores[i : i + 1])
        assert value[0] == values[i]
        np.testing.assert_array_equal(mean[0], means[i])


@pytest.mark.parametrize("chance", [0.3, 0.5, 0.7])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_total_support_keeps_what_permutations_use(k, chance):
    rng = np.random.default_rng(k)
    allowed = rng.random((100, k, k)) < chance
    permutations = np.array(list(itertools.permutations(range(k))))
    used = np.zeros_like(allowed)
    for own, out in zip(allowed, used, strict=True):
        for columns in permutations[own[np.arange(k), permutations].all(axis=1)]:
            out[np.arange(k), columns] = True
    feasible = np.empty(100, dtype=bool)
    total_support(allowed, feasible)
    np.testing.assert_array_equal(allowed, used)
    np.testing.assert_array_equal(feasible, used.any(axis=(1, 2)))
