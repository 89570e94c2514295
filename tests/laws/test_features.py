"""Laws of feature maps: scores and sums are transposes, and the rows of single parts make up both."""

import numpy as np
import pytest
from cases import CASES, NAMES
from python_entries import add_stencils, clear_stencils, room_for, write_stencils

from maximand.features import EndBlock, TiedBlock
from maximand.numerics.lowering import by_feature

pytestmark = pytest.mark.parametrize("case", CASES, ids=NAMES)


def test_scores_and_sums_are_transposes(case):
    rng = np.random.default_rng(0)
    weights, mean = case.weights(rng), rng.normal(size=case.space.n_parts)
    np.testing.assert_allclose(
        case.space.layout.dot(case.scores(weights), mean).sum(), weights @ case.sums(mean), rtol=1e-12
    )


def test_scores_are_the_same_by_weights_in_either_form(case):
    weights = case.weights(np.random.default_rng(3))
    theta = case.features.scores(case.examples, weights)
    np.testing.assert_array_equal(theta, case.scores(weights))
    pieces = case.features.pieces(weights)
    assert sum(own.size for _, own in pieces) == weights.size
    assert [block for block, _ in pieces] == [*case.features.blocks]


def test_inputs_laid_out_for_many_passes_have_the_same_scores_and_sums(case):
    rng = np.random.default_rng(4)
    laid_out, features = case.features.laid_out(case.examples), case.features
    weights, mean = features.expand(case.weights(rng)), rng.normal(size=case.space.layout.n_scores)
    theta = features.scores(case.examples, weights)
    np.testing.assert_allclose(features.scores(laid_out, weights), theta, rtol=1e-12, atol=1e-12)
    sums, others = np.zeros((2, features.n_expanded))
    features.add_sums(case.examples, mean, sums)
    features.add_sums(laid_out, mean, others)
    np.testing.assert_allclose(others, sums, rtol=1e-12, atol=1e-12)


def test_rows_of_single_parts_add_up_to_scores_and_sums(case):
    rng = np.random.default_rng(1)
    mean = rng.normal(size=case.space.n_parts) * (rng.random(case.space.n_parts) < 0.4)
    weights = case.weights(rng)
    theta, scores_of = case.scores(weights), case.part_scores(weights)
    rows, everyone = case.features.stencils(case.examples), np.arange(case.space.n_examples)
    pointers, parts, values = case.space.layout.nonzeros(mean, everyone)
    assert values.size == np.count_nonzero(mean)
    room = room_for(rows, 1)  # it grows where needed
    for i in everyone:
        own = slice(pointers[i], pointers[i + 1])
        only = np.zeros(everyone.size)
        only[i] = 1.0
        listed, amounts = parts[own], values[own]
        score = amounts @ scores_of(i, listed)
        np.testing.assert_allclose(score, case.space.layout.dot(theta, mean)[i], atol=1e-12)
        sums = np.zeros(weights.size)
        room = write_stencils(rows, i, listed, listed.size, room)
        add_stencils(listed.size, 0.5 * amounts, 2.0, room, rows.dense, sums)
        alone = case.sums(case.space.layout.scale(mean, only))
        np.testing.assert_allclose(by_feature(rows.blocks, sums), alone, atol=1e-12)
        clear_stencils(listed.size, amounts, room, sums)
        assert not sums.any()


def test_inputs_of_some_examples_have_their_scores(case):
    weights = case.weights(np.random.default_rng(2))
    n = case.space.n_examples
    for examples in (slice(1, n), np.arange(1, n), np.array([n - 1, 0])):
        space = case.space.take(examples)
        whole = case.space.argmax(case.scores(weights)).value
        np.testing.assert_allclose(space.argmax(case.scores(weights, examples)).value, whole[examples], rtol=1e-12)


def test_a_block_knows_what_its_weights_are_for(case):
    """The score of a part depends on a weight only if the block says so, and on a bias or a tied weight as such."""
    for number in range(case.features.n_weights):
        block, own = case.features.block_of(number)
        what, parts = block.meaning(own)
        theta = case.space.layout.expand(case.scores(np.eye(case.features.n_weights)[number]))
        for kind in case.space.layout.kinds:
            scores = case.space.layout.view(theta, kind.name).ravel()
            if kind.name != block.kind:
                assert not scores.any()
                continue
            width = block.tied.size if isinstance(block, TiedBlock) else row_width(block)
            by_row = scores.reshape(-1, width)
            assert set(np.flatnonzero(by_row.any(axis=0))) <= set(parts.tolist())
            if isinstance(what, int):
                column = case.inputs.rows(kind.name).csr.toarray()[:, [what]]
                np.testing.assert_array_equal(by_row[:, parts], np.broadcast_to(column, (len(by_row), parts.size)))
            else:
                ends = what in ("start", "end")
                assert np.isin(by_row[:, parts], (0, 1) if ends else 1).all()
                assert by_row[:, parts].all() != (ends and len(by_row) > case.space.n_examples)


def row_width(block):
    return block.n_weights if isinstance(block, EndBlock) else block.columns.size or block.n_labels
