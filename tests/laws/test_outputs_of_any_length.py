"""Laws of the mean over rows, tokens and nodes: the regularisation means the same for outputs of any length."""

from dataclasses import replace

import numpy as np
import pytest
from cases import CASES, NAMES, PAIR_NAMES, PAIRS
from feature_maps import one_row
from record import Case, forgotten, labels

from maximand.batch import Batch
from maximand.costs import Hamming
from maximand.features import Examples, PerLabel, Rows
from maximand.losses import AUGMENTED_CRF, CRF, EUCLIDEAN, HINGE, PERCEPTRON, RAMP, SLACK_HINGE
from maximand.objective import Objective
from maximand.spaces import Annotations, Choices, Subset

ADD_UP = [PERCEPTRON, HINGE, RAMP, CRF, AUGMENTED_CRF, EUCLIDEAN]
TAGS = np.array([0, 2, 1, 1, 0, 2, 2, 0, 1, 1])
EVERY_PAIR = pytest.mark.parametrize(("case", "loss"), PAIRS, ids=PAIR_NAMES)
EVERY_LOSS_THAT_ADDS_UP = pytest.mark.parametrize("loss", ADD_UP, ids=lambda loss: loss.name)


def without(annotation, example):
    """The annotation, and nothing of one example."""
    if isinstance(annotation, Annotations):
        return Annotations(tuple(without(factor, example) for factor in annotation.factors))
    return forgotten(annotation, np.arange(*annotation.offsets[example : example + 2]))


def same(first, second, weights):
    for one, other in zip(first.value_and_gradient(weights), second.value_and_gradient(weights), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


@EVERY_PAIR
def test_examples_of_which_nothing_is_known_change_nothing(case, loss):
    if loss is SLACK_HINGE:
        return
    weights, n = case.weights(np.random.default_rng(0)), case.space.n_examples
    annotation = without(case.full, 0)
    same(case.objective(loss, annotation), case.objective(loss, annotation, examples=np.arange(1, n)), weights)
    nothing = case.objective(loss, case.unknown)
    assert nothing.value(weights) == pytest.approx(0.025 * weights @ weights, rel=1e-14)
    assert not nothing.share.any()


@EVERY_PAIR
def test_shards_have_one_mean(case, loss):
    weights, n = case.weights(np.random.default_rng(0)), case.space.n_examples
    annotation = case.full if loss is SLACK_HINGE else case.partial
    whole = case.batch(annotation)
    sample_weight = np.linspace(1.0, 2.0, n)
    several = Objective.of(
        [whole.take(slice(0, 1)), whole.take(slice(1, n))], case.features, loss, 0.05, sample_weight=sample_weight
    )
    same(several, case.objective(loss, annotation, sample_weight=sample_weight), weights)


@EVERY_PAIR
def test_mini_batches_are_right_on_average(case, loss):
    n = case.space.n_examples
    weights, sample_weight = case.weights(np.random.default_rng(0)), np.linspace(1.0, 2.0, n)
    objective = case.objective(loss, sample_weight=sample_weight)
    found = [objective.sampled_gradient(weights, np.array([i])) for i in range(n)]
    chances = objective.share / objective.share.sum()
    value, gradient = objective.value_and_gradient(weights)
    assert chances @ [own for own, _ in found] == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(chances @ [slope for _, slope in found], gradient, atol=1e-10)


def tokens(lengths, loss, space):
    """The objective of ten tokens as sequences of such lengths, whose weights are those of tokens alone."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.random.default_rng(0).normal(size=(10, 2))
    annotation = replace(labels(3, TAGS), offsets=offsets)
    batch = Batch(Examples(space, Rows(rows, offsets)), annotation, Hamming(), np.ones(len(lengths)))
    return Objective.of(batch, PerLabel(2, 3), loss, 0.1)


@EVERY_LOSS_THAT_ADDS_UP
def test_sequences_joined_without_transitions_are_the_same_problem(loss):
    """Slots that share their weights count one by one."""
    weights = np.random.default_rng(1).normal(size=9)
    apart = tokens([1] * 10, loss, Choices(10, 1, 3))
    for length in (2, 5, 10):
        same(tokens([length] * (10 // length), loss, Choices(10 // length, length, 3)), apart, weights)


@EVERY_LOSS_THAT_ADDS_UP
def test_a_set_of_labels_is_as_many_separate_problems(loss):
    """A label has weights of its own, so that it is learnt as if there were no others."""
    codes = np.array([[1, 0, 0, 1], [0, 1, 0, -1], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]])
    annotation = replace(labels(2, list(codes)), one_row=True)
    together = Case("together", Subset(5, 4), annotation, [Hamming()], one_row, partial=annotation)
    whole = together.objective(loss)
    weights = together.weights(np.random.default_rng(0))
    rows = weights.reshape(-1, 4)
    alone = 0.0
    for label in range(4):
        own = replace(labels(2, list(codes[:, [label]])), one_row=True)
        batch = Batch(Examples(Subset(5, 1), together.inputs), own, Hamming(), np.ones(5))
        one = Objective.of(batch, PerLabel(together.features.n_features, 1), loss, 0.05)
        factor = np.mean(codes[:, label] >= 0)  # rows of which nothing is known count for the others alone
        weight = rows[:, label]
        alone += factor * (one.value(weight) - 0.025 * weight @ weight) + 0.025 * weight @ weight
    assert whole.value(weights) == pytest.approx(alone, rel=1e-12)


def test_what_is_known_is_counted():
    chain = labels(3, [[0, 2, 1], [2], [1, 1, 0, 2]])
    np.testing.assert_array_equal(chain.n_annotated, [3, 1, 4])
    some = forgotten(chain, np.array([0, 3]), np.array([4]))
    np.testing.assert_array_equal(some.n_annotated, [2, 0, 4])
    anything = replace(some, candidates=np.ones((1, 3), dtype=bool))
    np.testing.assert_array_equal(anything.n_annotated, [2, 0, 3])
    np.testing.assert_array_equal(replace(some, one_row=True).n_annotated, [1, 0, 1])
    for case in CASES:
        assert (case.unknown.n_annotated == 0).all()
        assert (case.full.n_annotated > 0).all()
    sized = CASES[NAMES.index("subset with sizes")].partial
    np.testing.assert_array_equal(replace(sized, one_row=True).n_annotated, np.ones(5))
    orders = CASES[NAMES.index("matching in order")].partial
    np.testing.assert_array_equal(orders.n_annotated, np.ones(4))
    lone = type(orders).of(np.array([[0, -1, -1, -1], [0, 0, 0, 0]]))
    np.testing.assert_array_equal(lone.n_annotated, [0, 0])
