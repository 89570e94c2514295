"""M3E and ModLat are what their formulas say, by enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from maximand.papers.ping2014.hidden_chains import COLD, Scores, joint_map, minimized, test_chains, training_chains
from maximand.papers.ping2014.m3e import M3E
from maximand.papers.ping2014.modlat import ModLat
from maximand.papers.ping2014.simulators import STATES, Lattice, Spread
from maximand.papers.ping2014.training import RANDOM, Problem

test_chains.__test__ = False
NODES = (4, 5)  # the last one is hidden, or not


def small(nodes, shared=False, count=3):
    return Problem(Lattice(nodes), Spread(), shared, (count, 4), np.random.default_rng(0))


def weights_of(problem, seed=1):
    return np.random.default_rng(seed).normal(size=problem.bound.features.n_weights)


def tables(chains, scores):
    """Return for each example a dict from outputs to the scores of all hidden states (hidden states, in order)."""
    outputs = list(product(range(STATES), repeat=chains.n_outputs))
    hidden = list(product(range(STATES), repeat=chains.n_hidden))
    found = []
    for own, around in zip(scores.outputs, scores.hidden, strict=True):
        each = {}
        for y in outputs:
            right = [*y[1:], 0]
            first = sum(own[v, s] for v, s in enumerate(y))
            each[y] = np.array([first + sum(around[k, y[k], right[k], s] for k, s in enumerate(h)) for h in hidden])
        found.append(each)
    return found, np.array(hidden)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("nodes", NODES)
def test_scores_around_hidden_nodes_are_those_of_the_graphs(nodes, shared):
    problem = small(nodes, shared)
    chains, weights = training_chains(problem), weights_of(problem)
    each, _ = tables(chains, chains.scores(weights))
    space = chains.examples.space
    sums = space.marginals(problem.theta(chains.examples, weights)).value
    np.testing.assert_allclose([logsumexp(list(one.values())) for one in each], sums)
    change = weights_of(problem, 2)
    mean = Scores(*(np.random.default_rng(3).normal(size=part.shape) for part in chains.scores(weights)))
    if nodes % 2 == 0:
        mean.hidden[:, -1, :, 1:] = 0.0  # there is nothing on the right of the last one
    products = sum((a * b).sum() for a, b in zip(mean, chains.scores(change), strict=True))
    assert chains.gradient(mean) @ change == pytest.approx(products)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 20.0])
@pytest.mark.parametrize("nodes", NODES)
def test_m3e_scores_outputs_by_its_formula(nodes, alpha):
    problem, model = small(nodes), M3E(alpha)
    chains, weights = test_chains(problem), weights_of(problem)
    each, _ = tables(chains, chains.scores(weights))
    for i, one in enumerate(each):
        own = {y: (logsumexp(alpha * s) - logsumexp(s)) / (alpha - 1.0) for y, s in one.items()}
        assert tuple(model.predicted(chains, weights)[i]) == max(own, key=own.get)
    chains = training_chains(problem)
    scores = chains.scores(weights)
    found = model.losses(chains, scores)
    for loss, one, y_true in zip(found, tables(chains, scores)[0], problem.train.outputs, strict=True):
        own = {y: (logsumexp(alpha * s) - logsumexp(s)) / (alpha - 1.0) for y, s in one.items()}
        best = max(score + np.not_equal(y, y_true).sum() for y, score in own.items())
        assert loss == pytest.approx(best - own[tuple(y_true)])


def test_m3e_of_a_large_alpha_is_the_latent_svm():
    problem = small(5)
    chains, weights = training_chains(problem), weights_of(problem)
    scores = chains.scores(weights)
    for loss, one, y_true in zip(
        M3E(1e7).losses(chains, scores), tables(chains, scores)[0], problem.train.outputs, strict=True
    ):
        best = max(s.max() + np.not_equal(y, y_true).sum() for y, s in one.items())
        assert loss == pytest.approx(best - one[tuple(y_true)].max(), abs=1e-4)


def same_gradient(loss, chains, weights):
    found = loss(chains.scores(weights))
    gradient, step = chains.gradient(found.mean), 1e-5
    for direction in np.random.default_rng(0).normal(size=(3, weights.size)):
        ends = [loss(chains.scores(weights + sign * step * direction)).values.sum() for sign in (1, -1)]
        assert gradient @ direction == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("nodes", NODES)
def test_surrogates_of_m3e_touch_the_loss_and_lie_above(nodes):
    problem, model = small(nodes), M3E(2.0)
    chains, weights = training_chains(problem), weights_of(problem)
    before = chains.scores(weights)
    loss = model.surrogate(chains, before, 0.0)
    np.testing.assert_allclose(loss(before).values, model.losses(chains, before), atol=1e-9)
    for seed in range(2, 8):
        other = chains.scores(weights_of(problem, seed))
        assert (loss(other).values >= model.losses(chains, other) - 1e-9).all()
    same_gradient(model.surrogate(chains, before), chains, weights_of(problem, 9))


@pytest.mark.parametrize("nodes", NODES)
def test_modlat_bounds_the_expected_cost(nodes):
    problem, model = small(nodes), ModLat(0.3)
    chains, weights = training_chains(problem), weights_of(problem)
    other = chains.scores(weights_of(problem, 2))
    scores = chains.scores(weights)
    guessed = joint_map(chains, scores)
    found = model.disagreement(chains, guessed)(other)
    (each, hidden), (others, _) = tables(chains, scores), tables(chains, other)
    chances = []
    for i, y_true in enumerate(map(tuple, problem.train.outputs)):
        best = max(each[i], key=lambda y: each[i][y].max())
        h_best = hidden[each[i][best].argmax()]
        np.testing.assert_array_equal(guessed[i], h_best)
        shares = softmax(others[i][y_true])
        wrong = shares @ (hidden != h_best).sum(axis=1)
        differing = shares @ (hidden[:, None] != hidden[None]).sum(axis=2) @ shares
        assert found.values[i] == pytest.approx(wrong - 0.3 * differing)
        expected = [shares @ (hidden != h).sum(axis=1) for h in hidden]
        cost = {y: np.not_equal(y, y_true).sum() + np.array(expected) for y in each[i]}
        bound = max((each[i][y] + cost[y]).max() for y in each[i]) - each[i][y_true].max()
        assert bound >= np.not_equal(best, y_true).sum() + wrong - 1e-9
        chances.append((bound, [[shares[hidden[:, k] == s].sum() for s in range(STATES)] for k in range(len(h_best))]))
    bounds, of_nodes = [bound for bound, _ in chances], np.array([share for _, share in chances])
    np.testing.assert_allclose(model.surrogate(chains, scores, of_nodes, 0.0)(scores).values, bounds)
    same_gradient(model.disagreement(chains, guessed), chains, weights_of(problem, 3))
    same_gradient(model.surrogate(chains, scores, of_nodes), chains, weights_of(problem, 3))


def test_rounds_never_raise_the_loss_of_m3e_by_more_than_soft_maxima_hide():
    problem, model = small(6, shared=True, count=8), M3E(2.0)
    chains, weights = training_chains(problem), problem.start(RANDOM)
    hidden_at_most = COLD * np.log(STATES) * chains.n_outputs

    def objective(w):
        losses = model.losses(chains, chains.scores(w))
        return 0.5 * problem.regularization * w @ w + losses.sum() / problem.train.outputs.size

    values = [objective(weights)]
    for _ in range(3):
        weights, _ = minimized(chains, model.surrogate(chains, chains.scores(weights)), weights)
        values.append(objective(weights))
    assert (np.diff(values) <= hidden_at_most / chains.n_outputs).all()
    assert values[-1] < values[0]
    assert model.accuracy(problem, model.fitted(problem, problem.start(RANDOM))) > 25.0
    modlat = ModLat(0.1)
    assert modlat.accuracy(problem, modlat.fitted(problem, problem.start(RANDOM))) > 25.0
