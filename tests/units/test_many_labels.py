"""Chains: side by side, at any temperature and with many labels, and means that wait until they are read."""

import numpy as np
import pytest

from maximand import Chain
from maximand.numerics.products import TOGETHER, add_products, raise_to_best_sums
from maximand.spaces import Legality
from maximand.spaces.paths import Paths

LENGTHS = np.array([3, 1, 9, 4, 4, 7, 2])


def answers(space, theta, temperature):
    return space.argmax(theta), space.marginals(theta, temperature)


def logarithms(nodes, table, temperature):
    """The soft maximum of one chain and its means of nodes, with nothing but sums on logarithms."""
    nodes, table, k = nodes / temperature, table / temperature, nodes.shape[1]
    forward, backward = [nodes[0]], [np.zeros(k)]
    for scores in nodes[1:]:
        forward.append(np.logaddexp.reduce(forward[-1][:, None] + table, axis=0) + scores)
    for scores in nodes[:0:-1]:
        backward.append(np.logaddexp.reduce(table + scores + backward[-1], axis=1))
    total = np.logaddexp.reduce(forward[-1])
    return temperature * total, np.exp(np.array(forward) + np.array(backward[::-1]) - total)


@pytest.mark.parametrize("n_labels", [2, 9, 70])
@pytest.mark.parametrize("temperature", [10.0, 1.0, 0.02, 1e-3, 1e-6])
def test_any_temperature_and_any_number_of_labels(n_labels, temperature):
    space = Chain(LENGTHS, n_labels)
    theta = np.random.default_rng(n_labels).normal(size=space.layout.n_scores)
    found = space.marginals(theta, temperature)
    for i, (start, stop) in enumerate(zip(space.offsets[:-1], space.offsets[1:], strict=True)):
        value, means = logarithms(space.nodes(theta)[start:stop], space.transitions(theta)[0], temperature)
        assert found.value[i] == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(space.nodes(found.mean)[start:stop], means, atol=1e-9)
    # A pair has the means of its labels: what leaves each label, summed up over positions.
    leaving = space.transitions(found.mean).sum(axis=2)
    for i, (start, stop) in enumerate(zip(space.offsets[:-1], space.offsets[1:], strict=True)):
        np.testing.assert_allclose(leaving[i], space.nodes(found.mean)[start : stop - 1].sum(axis=0), atol=1e-9)


@pytest.mark.parametrize("temperature", [1.0, 1e-3])
@pytest.mark.parametrize("n_labels", [3, 60])
def test_side_by_side_as_alone(n_labels, temperature):
    """In the same bits, whether scores of transitions are given once or for each example."""
    rng = np.random.default_rng(0)
    space = Chain(rng.integers(1, 6, size=40), n_labels)
    theta = rng.normal(size=space.layout.n_scores)
    for together, apart in zip(
        answers(space, theta, temperature), answers(space, space.layout.expand(theta), temperature), strict=True
    ):
        np.testing.assert_array_equal(together.value, apart.value)
        np.testing.assert_array_equal(together.mean, apart.mean)
    for i in range(space.n_examples):
        one, number = space.take(slice(i, i + 1)), np.array([i])
        alone = answers(one, space.layout.pick(theta, number, one.layout), temperature)
        for together, support in zip(answers(space, theta, temperature), alone, strict=True):
            assert together.value[i] == support.value[0]
            np.testing.assert_array_equal(space.layout.pick(together.mean, number, one.layout), support.mean)


@pytest.mark.parametrize("temperature", [1.0, 1e-3])
def test_what_waits_answers_as_the_mean_does(temperature):
    rng = np.random.default_rng(1)
    legality = Legality.of(np.ones(4, bool), rng.random((4, 4)) < 0.8, np.ones(4, bool))
    space = Chain(LENGTHS, 4, legality)
    layout, theta, other = space.layout, *rng.normal(size=(2, space.layout.n_scores))
    weight, some = rng.random(LENGTHS.size), np.array([2, 0, 5])
    known = Paths(space, rng.integers(-1, 4, size=LENGTHS.sum()))
    for support in answers(space, theta, temperature):
        waiting = support.held
        assert not isinstance(waiting, np.ndarray)
        total = layout.total(waiting, weight)
        np.testing.assert_allclose(total, layout.total(support.mean, weight), atol=1e-12)
        np.testing.assert_allclose(total @ other, weight @ layout.dot(other, support.mean), rtol=1e-12)
        np.testing.assert_allclose(layout.dot(other, waiting), layout.dot(other, support.mean), rtol=1e-10)
        found, expected = layout.less(waiting, known, some), layout.nonzeros(support.mean - known.array(), some)
        for one, same in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, same)


def test_equal_paths_differ_nowhere():
    space, codes = Chain(LENGTHS, 3), np.arange(LENGTHS.sum()) % 3
    pointers, parts, values = Paths(space, codes).less(Paths(space, codes.copy()), np.array([2, 0]))
    assert pointers.tolist() == [0, 0, 0]
    assert parts.size == values.size == 0
    assert values.dtype == np.float64


def test_totals_are_the_transpose_of_expanded_scores():
    rng = np.random.default_rng(2)
    layout = Chain(LENGTHS, 3).layout
    theta, mean, weight = rng.normal(size=layout.n_scores), rng.normal(size=layout.n_parts), rng.random(LENGTHS.size)
    assert theta @ layout.total(mean) == pytest.approx(layout.expand(theta) @ mean)
    assert theta @ layout.total(mean, weight) == pytest.approx(weight @ layout.dot(theta, mean))


def test_no_label_is_lost_at_its_position_where_transitions_are_forbidden():
    """After the best label at the start all others are bad; after one whose exponential is 0 they are good."""
    allowed = np.array([[False, False, True], [False, True, False], [False, False, True]])
    space = Chain(np.array([4]), 3, Legality.of(np.array([True, True, False]), allowed, np.ones(3, bool)))
    theta = np.zeros(space.layout.n_scores)
    space.nodes(theta)[0, 1], space.nodes(theta)[1:, 2] = -709.0, -709.5 / 3.0
    found = space.marginals(theta, 1.0)
    share = 1.0 / (1.0 + np.exp(-0.5))
    assert found.value[0] == pytest.approx(-709.0 - np.log(share), rel=1e-12)
    after = [[0.0, share, 1.0 - share]] * 3
    np.testing.assert_allclose(space.nodes(found.mean), [[1.0 - share, share, 0.0], *after], atol=1e-12)


def test_products_of_several_vectors():
    rng = np.random.default_rng(3)
    vectors, matrix, out = rng.normal(size=(6, 16)), rng.normal(size=(16, 16)), rng.normal(size=(9, 16))
    rows, places = np.array([5, 0, 3, 3]), np.array([1, 8, 2, 4])
    assert rows.size == TOGETHER
    sums, best = out.copy(), out.copy()
    sums[places] += vectors[rows] @ matrix
    best[places] = np.maximum(best[places], (vectors[rows][:, :, None] + matrix).max(axis=1))
    found = out.copy()
    add_products(vectors, rows, matrix, found, places)
    np.testing.assert_allclose(found, sums, atol=1e-12)
    raise_to_best_sums(vectors, rows, matrix, out, places)
    np.testing.assert_array_equal(out, best)
