"""Problems of ping2014 are what the paper minimises, and are solved as its algorithms say."""

from itertools import islice, product

import numpy as np
import pytest
from scipy.special import logsumexp

from maximand.estimators import GraphLabeler
from maximand.papers.ping2014.simulators import STATES, Lattice, Spread
from maximand.papers.ping2014.training import CONCAVE, METHODS, RANDOM, SGD, ZERO, Problem, descent, fitted, rounds
from maximand.papers.ping2014.trials import Paired, accuracies, drawn


def small(shared=True, nodes=4, count=3):
    return Problem(Lattice(nodes), Spread(), shared, (count, 5), np.random.default_rng(0))


def scores(problem, graph, weights):
    """Return the scores of all joint states (states of outputs, states of hidden nodes) of a graph."""
    sizes = STATES * np.array([graph.nodes[kind].shape[1] for kind in "yh"])
    *own, tables = np.split(weights, np.cumsum(sizes))
    by_state = [graph.nodes[kind] @ rows.reshape(-1, STATES) for kind, rows in zip("yh", own, strict=True)]
    tables = tables.reshape(-1, STATES, STATES)
    ends = graph.edges["y", "h"]
    types = np.zeros(len(ends), dtype=int) if problem.shared else graph.edge_types["y", "h"]
    found = {}
    for states in product(range(STATES), repeat=problem.lattice.n_nodes):
        y, h = states[: len(by_state[0])], states[len(by_state[0]) :]
        score = sum(by_state[0][v, s] for v, s in enumerate(y)) + sum(by_state[1][v, s] for v, s in enumerate(h))
        found[y, h] = score + sum(tables[t, y[a], h[b]] for t, (a, b) in zip(types, ends, strict=True))
    return found


def by_output(found):
    outputs = sorted({y for y, _ in found})
    return {y: np.array([score for (own, _), score in found.items() if own == y]) for y in outputs}


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("name", METHODS)
def test_objectives_are_the_papers_divided_by_c_and_the_number_of_outputs(name, shared):
    problem, rng = small(shared), np.random.default_rng(1)
    objective = problem.objective(METHODS[name].loss)
    weights = rng.normal(size=objective.n_weights)
    total = 0.5 * weights @ weights
    for graph, y_true in zip(problem.train.graphs(shared), problem.train.outputs, strict=True):
        each = by_output(scores(problem, graph, weights))
        cost = {y: np.not_equal(y, y_true).sum() for y in each}
        own = each[tuple(y_true)]
        if name == "MSSVM":
            total += max(cost[y] + logsumexp(each[y]) for y in each) - logsumexp(own)
        elif name == "LSSVM":
            total += max(cost[y] + each[y].max() for y in each) - own.max()
        else:
            total += logsumexp(np.concatenate(list(each.values()))) - logsumexp(own)
    assert objective.value(weights) / problem.regularization == pytest.approx(total, rel=1e-9)


def test_likelihood_and_accuracy_are_those_of_enumeration():
    problem = small()
    weights = np.random.default_rng(1).normal(size=problem.bound.features.n_weights)
    likelihoods, right = [], {0.0: [], 1.0: []}
    for graph, y_true in zip(problem.test.graphs(True), problem.test.outputs, strict=True):
        each = by_output(scores(problem, graph, weights))
        likelihoods.append(logsumexp(each[tuple(y_true)]) - logsumexp(np.concatenate(list(each.values()))))
        right[1.0].append(np.equal(max(each, key=lambda y: logsumexp(each[y])), y_true))
        right[0.0].append(np.equal(max(each, key=lambda y: each[y].max()), y_true))
    assert problem.log_likelihood(weights) == pytest.approx(np.mean(likelihoods))
    for hidden, found in right.items():
        assert problem.accuracy(weights, hidden) == pytest.approx(100 * np.mean(found))


def test_the_first_examples_alone_are_a_problem():
    whole, problem = small(count=6), small(count=6).only(2)
    assert problem.regularization == pytest.approx(3 * whole.regularization)
    both = [one.objective(METHODS["HCRF"].loss).value(np.zeros(56)) for one in (whole, problem)]
    assert both[0] == pytest.approx(both[1])  # at zero weights all outputs are alike
    assert problem.accuracy(np.zeros(56), 0.0) == whole.accuracy(np.zeros(56), 0.0)


def test_algorithms_take_the_papers_steps():
    problem = small()
    for name, method in METHODS.items():
        objective, start = problem.objective(method.loss), problem.start(RANDOM)
        _, gradient = objective.value_and_gradient(start)
        first = next(descent(objective, start, 0.01))
        np.testing.assert_allclose(first, start - 0.01 * gradient / objective.regularization)
        np.testing.assert_allclose(next(rounds(objective, start, 0.01, 0.0, 5)), first)
        frozen = objective.linearized(start)
        inside = list(islice(rounds(objective, start, 0.01, 0.0, 5), 5))[-1]
        np.testing.assert_allclose(inside, list(islice(descent(frozen, start, 0.01), 5))[-1], err_msg=name)


def test_cccp_ends_no_higher_than_it_starts_and_as_an_estimator_would():
    problem = small(nodes=6, count=10)
    for name, method in METHODS.items():
        objective = problem.objective(method.loss)
        for start in (ZERO, RANDOM):
            weights = fitted(problem, name, CONCAVE, start)
            assert objective.value(weights) <= objective.value(problem.start(start))
    method = METHODS["MSSVM"]
    model = GraphLabeler(
        fit_intercept=False, classes=dict.fromkeys("yh", range(STATES)), loss=method.loss,
        regularization=problem.regularization, tolerance=0.1,
    ).fit(problem.train.graphs(True), problem.train.labels())  # fmt: skip
    predicted = [found["y"] for found in model.predict(problem.test.graphs(True))]
    assert problem.accuracy(model.weights_, 1.0) == pytest.approx(100 * np.mean(predicted == problem.test.outputs))


def test_zero_weights_keep_hidden_states_alike_where_they_are_summed():
    problem = small(nodes=6, count=10)
    for name in ("MSSVM", "HCRF"):
        weights = fitted(problem, name, SGD, ZERO)
        tables = weights[-STATES * STATES :].reshape(STATES, STATES)
        np.testing.assert_allclose(tables, tables[:, :1] + np.zeros(STATES), atol=1e-9)


def test_trials_are_the_same_problems_for_all_methods():
    one, other = drawn("chain", True, 3, 0), drawn("chain", True, 3, 0)
    np.testing.assert_array_equal(one.train.states, other.train.states)
    np.testing.assert_array_equal(one.start(RANDOM), other.start(RANDOM))
    assert not np.array_equal(one.train.states, drawn("chain", True, 4, 0).train.states)
    found = accuracies("chain", True, ZERO, [CONCAVE], [3], 0)["accuracies"]
    assert found["LSSVM, CCCP"] == [one.accuracy(fitted(one, "LSSVM", CONCAVE, ZERO), 0.0)]


def test_paired_differences_have_the_intervals_of_student():
    pair = Paired.of([1.0, 2.0, 6.0], [0.0, 0.0, 0.0])
    assert pair.mean == pytest.approx(3.0)
    assert pair.half == pytest.approx(4.302653 * np.sqrt(7.0 / 3.0), rel=1e-5)
    assert not pair.positive
    assert not pair.negative
    assert Paired.of([5.0, 5.1], [0.0, 0.0]).positive


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("lattice", [Lattice(4), Lattice(2, 2)])
def test_the_true_weights_are_those_of_the_field(lattice, shared):
    problem = Problem(lattice, Spread(), shared, (3, 5), np.random.default_rng(0))
    field, weights = problem.field, problem.truth
    for x, graph in zip(problem.train.inputs, problem.train.graphs(shared), strict=True):
        found = scores(problem, graph, weights)
        for (y, h), score in list(found.items())[:: len(found) // 7]:
            states = np.empty(lattice.n_nodes, dtype=int)
            states[~lattice.hidden], states[lattice.hidden] = y, h
            v = np.arange(lattice.n_nodes)
            expected = field.nodes[v, states].sum() + field.by_input[v, x, states].sum()
            for (a, b), table in zip(lattice.edges, field.tables, strict=True):
                output, hidden = (b, a) if lattice.hidden[a] else (a, b)
                expected += table[states[output], states[hidden]]
            assert score == pytest.approx(expected)
