"""Laws of feature maps: scores and sums are transposes, and the rows of single parts make up both."""

import numpy as np
import pytest
from cases import CASES, NAMES

from maximand.numerics.block_rows import add_parts, by_feature, by_label, drain_parts, part_scores, room_for

pytestmark = pytest.mark.parametrize("case", CASES, ids=NAMES)


def test_scores_and_sums_are_transposes(case):
    rng = np.random.default_rng(0)
    weights, mean = rng.normal(size=case.features.n_weights), rng.normal(size=case.space.n_parts)
    sums = np.zeros(case.features.n_expanded)
    case.features.add_sums(case.examples, mean, sums)
    theta = case.features.scores(case.examples, case.features.expand(weights))
    np.testing.assert_allclose(
        case.space.layout.dot(theta, mean).sum(), weights @ case.features.reduce(sums), rtol=1e-12
    )


def test_rows_of_single_parts_add_up_to_scores_and_sums(case):
    rng = np.random.default_rng(1)
    mean = rng.normal(size=case.space.n_parts) * (rng.random(case.space.n_parts) < 0.4)
    weights = rng.normal(size=case.features.n_weights)
    theta = case.features.scores(case.examples, case.features.expand(weights))
    rows, everyone = case.features.part_rows(case.examples), np.arange(case.space.n_examples)
    pointers, parts, values = case.space.layout.nonzeros(mean, everyone)
    assert values.size == np.count_nonzero(mean)
    room = room_for(rows)
    for i in everyone:
        own = slice(pointers[i], pointers[i + 1])
        only = np.zeros(everyone.size)
        only[i] = 1.0
        listed, amounts, scores = parts[own], values[own], np.empty(case.space.n_parts)
        part_scores(rows, i, listed, listed.size, by_label(rows.blocks, weights), scores, room)
        score = amounts @ scores[listed]
        np.testing.assert_allclose(score, case.space.layout.dot(theta, mean)[i], atol=1e-12)
        expected, sums = np.zeros(case.features.n_expanded), np.zeros(case.features.n_weights)
        case.features.add_sums(case.examples, case.space.layout.scale(mean, only), expected)
        add_parts(rows, i, listed, 0.5 * amounts, listed.size, 2.0, sums, room, written=False)
        np.testing.assert_allclose(by_feature(rows.blocks, sums), case.features.reduce(expected), atol=1e-12)
        squared = float(sums @ sums)
        np.testing.assert_allclose(
            drain_parts(rows, i, listed, listed.size, sums, room, written=True), squared, atol=1e-12
        )
        assert not sums.any()


def test_inputs_of_some_examples_have_their_scores(case):
    weights = case.features.expand(np.random.default_rng(2).normal(size=case.features.n_weights))
    n = case.space.n_examples
    for examples in (slice(1, n), np.arange(1, n), np.array([n - 1, 0])):
        space = case.space.take(examples)
        theta = case.features.scores(case.examples.take(examples), weights)
        whole = case.space.argmax(case.features.scores(case.examples, weights)).value
        np.testing.assert_allclose(space.argmax(theta).value, whole[examples], rtol=1e-12)
