"""Soft maxima over visible positions of chains of those over hidden ones, against elimination and against listing."""

import numpy as np
import pytest
from scipy.special import logsumexp

from maximand.inference import Tree
from maximand.spaces import Chain, Legality
from maximand.spaces.summed_states import as_graphs

PAIRS = [(0.0, 1.0), (1.0, 0.0), (0.3, 0.7), (0.7, 0.3), (0.0, 1e-3), (1e-3, 1.0), (1.0, 1e-3), (0.0, 0.0), (0.5, 0.5)]
EVERY_PAIR = pytest.mark.parametrize("temperatures", PAIRS, ids=str)
MASKS = ["none", "all", "alternate", "ends", "middle", "some"]


def mask(kind, lengths, rng):
    """Say which positions of chains are hidden."""
    found = {
        "none": np.zeros, "all": np.ones, "alternate": lambda n: np.arange(n) % 2,
        "ends": lambda n: np.abs(2 * np.arange(n) - n + 1) > n / 3, "some": lambda n: rng.random(n) < 0.5,
        "middle": lambda n: np.abs(2 * np.arange(n) - n + 1) < n / 2,
    }[kind]  # fmt: skip
    return np.concatenate([np.asarray(found(n), dtype=bool) for n in lengths])


def random_legality(rng, k):
    return Legality.of(rng.random(k) < 0.8, rng.random((k, k)) < 0.7, rng.random(k) < 0.8)


def eliminated(chain, theta, temperatures, hidden):
    """Return the answer of `Tree`."""
    return Tree().mixed(*as_graphs(chain, theta), temperatures, hidden)


def softened(scores, means, temperature):
    if np.isneginf(scores).all():
        return -np.inf, 0.0 * means[0]
    if temperature == 0.0:
        return scores.max(), means[np.argmax(scores)]
    value = temperature * logsumexp(scores / temperature)
    return value, np.exp((scores - value) / temperature) @ means


def listed(chain, theta, temperatures, hidden):
    """Return the answer for one chain by listing its outputs, in the order of their labels."""
    outputs = chain.outputs()
    scores = np.where(outputs > 0.0, outputs * theta, 0.0).sum(axis=1)
    seen = np.array([chain.decode(psi)[0][~hidden] for psi in outputs])
    inside = []
    for labels in np.unique(seen, axis=0):
        own = (seen == labels).all(axis=1)
        inside.append(softened(scores[own], outputs[own], temperatures[1]))
    return softened(np.array([value for value, _ in inside]), np.array([mean for _, mean in inside]), temperatures[0])


def assert_same(found, expected, tolerance=1e-9):
    scale = max(1.0, np.abs(expected.value[np.isfinite(expected.value)]).max(initial=0.0))
    np.testing.assert_allclose(found.value, expected.value, atol=1e-13 * scale, rtol=1e-13)
    np.testing.assert_allclose(found.mean, expected.mean, atol=tolerance)


@EVERY_PAIR
@pytest.mark.parametrize("kind", MASKS)
def test_the_answer_is_that_of_listing_all_outputs(kind, temperatures):
    rng = np.random.default_rng(0)
    for length, k in ((1, 3), (2, 4), (5, 3), (7, 2)):
        chain = Chain(np.array([length]), k)
        theta, hidden = rng.normal(size=chain.n_parts), mask(kind, [length], rng)
        found = chain.mixed(theta, temperatures, hidden)
        value, mean = listed(chain, theta, temperatures, hidden)
        assert found.value[0] == pytest.approx(value, abs=1e-12)
        np.testing.assert_allclose(found.mean, mean, atol=1e-11)


@EVERY_PAIR
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("scale", [0.1, 3.0, 300.0])
def test_the_answer_is_that_of_elimination(scale, kind, temperatures):
    """Over ranges of scores, forbidden transitions and labels, and tables of all chains or of each."""
    rng = np.random.default_rng(1)
    for k, shared, forbids in ((5, True, False), (5, False, True), (9, True, True), (1, True, False)):
        lengths = rng.integers(1, 14, 5)
        chain = Chain(lengths, k, random_legality(rng, k) if forbids else None)
        theta = scale * rng.normal(size=chain.layout.n_scores if shared else chain.n_parts)
        if forbids:
            chain.nodes(theta)[rng.random((lengths.sum(), k)) < 0.3] = -np.inf
            theta[rng.random(theta.size) < 0.02] = -np.inf
        hidden = mask(kind, lengths, rng)
        assert_same(chain.mixed(theta, temperatures, hidden), eliminated(chain, theta, temperatures, hidden))


@EVERY_PAIR
def test_many_labels_and_long_runs(temperatures):
    rng = np.random.default_rng(2)
    for lengths, k, share in (([12, 3], 70, 0.5), ([1500], 3, 0.99), ([400, 1], 6, 0.02)):
        chain = Chain(np.array(lengths), k)
        theta, hidden = rng.normal(size=chain.layout.n_scores), rng.random(sum(lengths)) < share
        assert_same(chain.mixed(theta, temperatures, hidden), eliminated(chain, theta, temperatures, hidden), 1e-8)


@pytest.mark.parametrize("temperatures", [(0.0, 1e-3), (1e-3, 1.0), (1e-3, 1e-2), (1e-2, 1e-3)])
def test_what_is_far_below_still_counts_where_nothing_else_is_legal(temperatures):
    """A label 1e6 temperatures below the others is the only one that leads on."""
    between = np.ones((3, 3), dtype=bool)
    between[:2, 2] = between[2, :2] = False
    chain = Chain(np.array([9]), 3, Legality.of(np.ones(3, bool), between, np.array([False, False, True])))
    theta = np.zeros(chain.layout.n_scores)
    chain.nodes(theta)[:, 2] = -1e3
    for kind in MASKS:
        found = chain.mixed(theta, temperatures, mask(kind, [9], np.random.default_rng(0)))
        assert found.value[0] == pytest.approx(-9e3, rel=1e-14)
        np.testing.assert_array_equal(chain.nodes(found.mean), np.tile([0.0, 0.0, 1.0], (9, 1)))


@pytest.mark.parametrize("temperatures", [(0.0, 1.0), (1.0, 0.0), (0.0, 0.3)])
@pytest.mark.parametrize("kind", MASKS)
def test_ties_go_to_the_lowest_labels(kind, temperatures):
    chain, rng = Chain(np.array([6, 1, 11]), 4), np.random.default_rng(0)
    hidden = mask(kind, chain.lengths, rng)
    maximised = hidden if temperatures[1] == 0.0 else ~hidden
    nodes = chain.nodes(chain.mixed(np.zeros(chain.layout.n_scores), temperatures, hidden).mean)
    np.testing.assert_array_equal(nodes[maximised], np.tile([1.0, 0.0, 0.0, 0.0], (maximised.sum(), 1)))
    np.testing.assert_allclose(nodes[~maximised], 0.25)


@EVERY_PAIR
def test_the_gradient_is_the_mean(temperatures):
    rng = np.random.default_rng(3)
    chain = Chain(np.array([15, 8]), 4)
    theta, hidden = rng.normal(size=chain.layout.n_scores), rng.random(23) < 0.5
    step = 1e-6 * rng.normal(size=theta.size)
    after, before = (chain.mixed(theta + sign * step, temperatures, hidden).value for sign in (1.0, -1.0))
    held = chain.mixed(theta, temperatures, hidden).held
    np.testing.assert_allclose(after - before, 2.0 * chain.layout.dot(step, held), rtol=1e-4, atol=1e-10)


@EVERY_PAIR
def test_a_batch_is_answered_as_its_chains_are(temperatures):
    rng = np.random.default_rng(4)
    chain = Chain(np.array([7, 1, 20, 4]), 5)
    theta, hidden, weight = rng.normal(size=chain.layout.n_scores), rng.random(32) < 0.5, rng.random(4)
    batch = chain.mixed(theta, temperatures, hidden)
    total = chain.layout.total(batch.held, weight)
    differences = chain.layout.less(batch.held, chain.mixed(theta, temperatures, hidden).mean, np.arange(4))
    np.testing.assert_allclose(total, chain.layout.total(batch.mean, weight), atol=1e-12)
    for i in range(4):
        one = chain.take(np.array([i]))
        own = slice(chain.offsets[i], chain.offsets[i + 1])
        scores = np.concatenate([chain.nodes(theta)[own].ravel(), chain.transitions(theta).ravel()])
        alone = one.mixed(scores, temperatures, hidden[own])
        assert alone.value[0] == batch.value[i]
        np.testing.assert_array_equal(one.nodes(alone.mean), chain.nodes(batch.mean)[own])
        np.testing.assert_array_equal(one.transitions(alone.mean)[0], chain.transitions(batch.mean)[i])
    np.testing.assert_array_equal(differences[0], np.zeros(5))
