"""Best permutations in a given order, against listing them all."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maximand.numerics.precedence import best_in_order
from maximand.spaces import Matching, Orders, Ranking
from maximand.support import Geometry, Guarantee
from thinning import tries


def in_order(k, groups):
    """The permutations, as positions of items, that agree with the groups."""
    listed = [(a, b) for a in range(k) for b in range(k) if 0 <= groups[a] < groups[b]]
    return np.array([p for p in permutations(range(k)) if all(p[a] < p[b] for a, b in listed)])


def searched(scores, groups, max_nodes=10_000):
    n, k = groups.shape
    values, means, bounds = np.empty(n), np.empty((n, k, k)), np.empty(n)
    best_in_order(scores, groups, max_nodes, values, means, bounds)
    return values, means, bounds


def random_groups(rng, k):
    groups = np.full(k, -1)
    listed = rng.permutation(k)[: rng.integers(0, k + 1)]
    groups[listed] = np.sort(rng.integers(0, max(listed.size, 1), listed.size))
    return groups


@given(seed=st.integers(0, 100_000), k=st.integers(1, 6), kind=st.sampled_from(["real", "whole", "zero", "forbidden"]))
@tries(150)
def test_the_best_of_all_is_found(seed, k, kind):
    rng = np.random.default_rng(seed)
    groups = random_groups(rng, k)
    scores = {"whole": np.round, "zero": np.zeros_like}.get(kind, np.copy)(3 * rng.normal(size=(1, k, k)))
    if kind == "forbidden":
        scores[rng.random(scores.shape) < 0.2] = -np.inf
    values, means, bounds = searched(scores, groups[None])
    positions = in_order(k, groups)
    best = scores[0][np.arange(k), positions].sum(axis=1).max()
    np.testing.assert_allclose(values[0], best, rtol=1e-10, atol=1e-10)
    assert bounds[0] == values[0]
    if best > -np.inf:
        assert (means[0].argmax(axis=1) == positions).all(axis=1).any()
    else:
        assert not means.any()


def test_a_search_that_is_cut_short_says_how_far_it_may_be_off():
    rng = np.random.default_rng(0)
    scores, groups = rng.normal(size=(30, 12, 12)), np.tile(np.r_[np.arange(6), np.full(6, -1)], (30, 1))
    whole, _, _ = searched(scores, groups)
    values, means, bounds = searched(scores, groups, max_nodes=2)
    assert (values <= whole + 1e-9).all()
    assert (whole <= bounds + 1e-9).all()
    assert (bounds > values + 1e-6).any()
    positions = means.argmax(axis=2)
    assert (np.diff(positions[:, :6], axis=1) > 0).all()


@pytest.mark.parametrize("space", [Matching(12, 5), Ranking(12, 5), Ranking(12, 5, np.array([9.0, 4, 2, 0, 0]))])
def test_spaces_respect_orders(space):
    rng = np.random.default_rng(1)
    annotation = Orders.of(np.array([random_groups(rng, 5) for _ in range(12)]))
    theta = rng.normal(size=space.n_parts)
    best, other = space.argmax_given(theta, annotation), space.argmax_other(theta, annotation)
    mean = space.project_given(theta, annotation, Geometry.EUCLIDEAN)
    assert best.guarantee is Guarantee.EXACT
    for i, groups in enumerate(annotation.groups):
        own = space.by_example(theta)[i]
        every = np.array(list(permutations(range(5))))
        agree = (every[:, None] == in_order(5, groups)).all(axis=2).any(axis=1)
        outputs = np.eye(5)[every].reshape(len(every), -1) if isinstance(space, Matching) else space.weights[every]
        np.testing.assert_allclose(best.value[i], (outputs[agree] @ own).max())
        np.testing.assert_allclose(other.value[i], (outputs[~agree] @ own).max(initial=-np.inf))
        slope = own - space.by_example(mean.mean)[i]
        assert (outputs[agree] @ slope).max() <= space.by_example(mean.mean)[i] @ slope + 1e-8


def test_positions_that_orders_allow():
    orders = Orders.of(np.array([[0, 1, 2], [1, 0, -1], [0, 0, 1], [-1, -1, -1]]))
    assert orders.full.tolist() == [True, False, False, False]
    assert orders.allowed_nodes.reshape(4, 3, 3)[1].tolist() == [[False, True, True], [True, True, False], [True] * 3]
    assert orders.allowed_nodes.reshape(4, 3, 3)[2].tolist() == [[True, True, False]] * 2 + [[False, False, True]]
    assert orders.allowed_nodes.reshape(4, 3, 3)[3].all()
    assert orders.loose.tolist() == []
    assert Orders.of(np.array([[1, 0, -1, -1], [0, 0, -1, -1]])).loose.tolist() == [0]
