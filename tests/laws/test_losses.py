"""Laws of losses, from the papers' lemmas."""

import numpy as np
import pytest
from cases import CASES, NAMES, PAIR_NAMES, PAIRS
from enumeration import agrees, contradicts, enumerated, part_places, scores_of
from hypothesis import given
from hypothesis import strategies as st

from maximand.losses import (
    AUGMENTED_CRF,
    BRIDGE,
    CLPL,
    CRF,
    ENTROPIC,
    EUCLIDEAN,
    HINGE,
    MAX,
    MAX_MINUS_COST,
    PAIR,
    PERCEPTRON,
    RAMP,
    RAMP_MINUS_COST,
    SLACK_HINGE,
)  # fmt: skip
from maximand.oracles import Over, Rescaled, Soft, Target
from maximand.spaces import Choice
from maximand.spaces.listing import one_versus_all
from maximand.support import Guarantee
from thinning import tries

EVERY_CASE = pytest.mark.parametrize("case", CASES, ids=NAMES)
EVERY_PAIR = pytest.mark.parametrize(("case", "loss"), PAIRS, ids=PAIR_NAMES)
SEEDS = st.integers(0, 10_000)


def value(case, loss, theta, annotation):
    target = Target(case.space, annotation, case.costs[0])
    penalty = loss.penalty(case.space, theta, target).value
    return penalty - (0.0 if loss.reward is None else loss.reward(case.space, theta, target).value)


def annotations(case, loss):
    return [case.full] if loss is SLACK_HINGE else [case.full, case.partial, case.unknown]


@EVERY_PAIR
@given(seed=SEEDS)
@tries(8)
def test_gradients_equal_difference_quotients(case, loss, seed):
    rng = np.random.default_rng(seed)
    theta, direction, step = case.theta(rng), case.theta(rng), 1e-7
    for annotation in annotations(case, loss):
        target = Target(case.space, annotation, case.costs[0])
        for side in (loss.penalty, loss.reward):
            if side is None:
                continue
            support = side(case.space, theta, target)
            finite = support.value > -np.inf
            slope = case.space.layout.dot(support.mean, direction)
            up = side(case.space, theta + step * direction, target).value
            down = side(case.space, theta - step * direction, target).value
            # convexity: the gradient lies between the one-sided quotients, also at kinks
            scale = 1e-6 * (1 + np.abs(slope[finite]))
            if support.guarantee is Guarantee.EXACT:
                assert ((up - support.value)[finite] / step >= slope[finite] - scale).all()
                assert ((support.value - down)[finite] / step <= slope[finite] + scale).all()


@EVERY_PAIR
@given(seed=SEEDS)
@tries(10)
def test_losses_that_bound_the_cost_do(case, loss, seed):
    """loss >= cost of the prediction for the losses built on a margin; all but minus-cost losses are >= 0.

    The augmented crf does so on full annotations only: a sum over several outputs that agree may exceed the prediction.
    """
    theta = case.theta(np.random.default_rng(seed))
    for annotation in annotations(case, loss):
        target = Target(case.space, annotation, case.costs[0])
        losses = value(case, loss, theta, annotation)
        assert (losses >= -1e-9).all()
        bounds = (HINGE, RAMP, MAX, BRIDGE, RAMP_MINUS_COST, MAX_MINUS_COST)
        if loss in bounds or (loss is AUGMENTED_CRF and annotation.full.all()):
            vector, constant = target.cost_linear
            cost = case.space.layout.dot(vector, case.space.argmax(theta).mean) + constant
            assert (losses >= cost - 1e-9).all()
        if loss is SLACK_HINGE and Rescaled()(case.space, theta, target).guarantee is Guarantee.EXACT:
            vector, constant = target.cost_linear
            cost = case.space.layout.dot(vector, case.space.argmax(theta).mean) + constant
            assert (losses >= cost - 1e-9).all()


@EVERY_CASE
@given(seed=SEEDS)
@tries(20)
def test_ramp_lies_between_costs_and_below_hinge(case, seed):
    """do2008, lemma 2 with margin rescaling: cost(y, y_bar) >= ramp >= cost(y, y_hat); and ramp <= hinge."""
    theta = case.theta(np.random.default_rng(seed))
    for annotation in (case.full, case.partial):
        target = Target(case.space, annotation, case.costs[0])
        vector, constant = target.cost_linear
        ramp = value(case, RAMP, theta, annotation)
        violator = RAMP.penalty(case.space, theta, target).mean
        prediction = case.space.argmax(theta).mean
        assert (ramp <= case.space.layout.dot(vector, violator) + constant + 1e-9).all()
        assert (ramp >= case.space.layout.dot(vector, prediction) + constant - 1e-9).all()
        assert (ramp <= value(case, HINGE, theta, annotation) + 1e-9).all()


@EVERY_CASE
@given(seed=SEEDS)
@tries(20)
def test_four_losses_are_two_when_agreement_costs_nothing(case, seed):
    """lou2012: bridge == hinge and max == ramp, identically, as the cost is 0 on Y*."""
    theta = case.theta(np.random.default_rng(seed))
    for annotation in (case.full, case.partial, case.unknown):
        pairs = ((BRIDGE, HINGE), (MAX, RAMP), (MAX_MINUS_COST, RAMP_MINUS_COST))
        for one, other in pairs:
            np.testing.assert_allclose(
                value(case, one, theta, annotation), value(case, other, theta, annotation), atol=1e-9
            )


@EVERY_CASE
@given(seed=SEEDS)
@tries(20)
def test_pair_compares_the_best_outputs_that_agree_and_that_contradict(case, seed):
    """lou2012, section 3.2: the hinge of their difference, so at least 1 where the prediction contradicts."""
    theta = case.theta(np.random.default_rng(seed))
    for annotation in (case.full, case.partial):
        losses = value(case, PAIR, theta, annotation)
        agreeing = list(enumerated(case, theta, agrees(annotation)))
        for i, (_, parts, others) in enumerate(enumerated(case, theta, contradicts(annotation))):
            known = scores_of(agreeing[i][2], theta[parts]).max()
            margin = known - scores_of(others, theta[parts]).max(initial=-np.inf)
            np.testing.assert_allclose(losses[i], max(0.0, 1.0 - margin), atol=1e-9)
            assert losses[i] >= 1.0 or margin >= 0.0


@pytest.mark.parametrize("case", [case for case in CASES if case.answers(CLPL)], ids=lambda case: case.name)
@given(seed=SEEDS)
@tries(10)
def test_one_versus_all_is_a_sum_over_outputs(case, seed):
    """lou2012, equation 3: l(mean score over Y*) + the sum over Y° of l(-score), l the hinge."""
    theta = case.theta(np.random.default_rng(seed))
    for annotation in (case.full, case.partial):
        losses = value(case, CLPL, theta, annotation)
        agreeing = list(enumerated(case, theta, agrees(annotation)))
        for i, (_, parts, others) in enumerate(enumerated(case, theta, contradicts(annotation))):
            known, wrong = (scores_of(outputs, theta[parts]) for outputs in (agreeing[i][2], others))
            expected = max(0.0, 1.0 - known.mean()) + np.maximum(0.0, 1.0 + wrong).sum()
            np.testing.assert_allclose(losses[i], expected, rtol=1e-12)


@pytest.mark.parametrize("case", [case for case in CASES if isinstance(case.space, Choice)], ids=lambda case: case.name)
def test_of_classes_one_versus_all_needs_no_list(case):
    """lou2012, equations 2 and 3 are the same; on full annotations it is the hinge of each label against the others."""
    theta = case.theta(np.random.default_rng(5))
    for annotation in (case.full, case.partial, case.unknown):
        target = Target(case.space, annotation, case.costs[0])
        direct, by_list = CLPL(case.space, theta, target), one_versus_all(case.space, theta, target.listed)
        np.testing.assert_allclose(direct.value, by_list.value, rtol=1e-14)
        np.testing.assert_array_equal(direct.mean, by_list.mean)
    signs = 2.0 * case.space.nodes(case.space.encode(case.full)) - 1.0
    hinges = np.maximum(0.0, 1.0 - signs * case.space.nodes(theta)).sum(axis=1)
    np.testing.assert_allclose(value(case, CLPL, theta, case.full), hinges, rtol=1e-14)


@EVERY_CASE
def test_without_annotation_max_bridge_and_pair_are_zero(case):
    theta = case.theta(np.random.default_rng(4))
    for loss in (MAX, BRIDGE, PAIR, PERCEPTRON, HINGE, CRF, EUCLIDEAN, ENTROPIC):
        if not case.answers(loss):
            continue
        np.testing.assert_allclose(value(case, loss, theta, case.unknown), 0.0, atol=1e-9)


@pytest.mark.parametrize("case", [case for case in CASES if case.soft], ids=lambda case: case.name)
@given(seed=SEEDS)
@tries(10)
def test_soft_maxima_tend_to_maxima(case, seed):
    theta = case.theta(np.random.default_rng(seed))
    target = Target(case.space, case.partial, case.costs[0])
    for over in Over:
        for cost in (-1.0, 0.0, 1.0):
            hard = Soft(over, cost)(case.space, theta, target).value
            soft = Soft(over, cost, temperature=1e-4)(case.space, theta, target).value
            finite = hard > -np.inf
            np.testing.assert_array_equal(finite, soft > -np.inf)
            assert (soft[finite] >= hard[finite] - 1e-9).all()
            np.testing.assert_allclose(soft[finite], hard[finite], atol=1e-3)


@EVERY_CASE
@given(seed=SEEDS)
@tries(20)
def test_rescaled_slack_against_enumeration(case, seed):
    """Exact where it says so, a lower bound otherwise; always exact for a choice."""
    theta = case.theta(np.random.default_rng(seed))
    for cost in case.costs:
        target = Target(case.space, case.full, cost)
        support = Rescaled()(case.space, theta, target)
        vector, constant = target.cost_linear
        assert support.guarantee in (Guarantee.EXACT, Guarantee.UNDER)
        if case.name.startswith("choice"):
            assert support.guarantee is Guarantee.EXACT
        for i, (examples, one) in enumerate(case.singles()):
            parts = part_places(case.space, examples)
            outputs = one.outputs()
            costs = outputs @ vector[parts] + constant[i]
            margins = 1.0 + scores_of(outputs, theta[parts]) - target.psi[parts] @ theta[parts]
            best = (costs * margins).max()
            assert support.value[i] <= best + 1e-9
            if support.guarantee is Guarantee.EXACT:
                np.testing.assert_allclose(support.value[i], best, atol=1e-9)


def test_slack_search_is_mostly_exact():
    """On small chains the search over scaled costs finds the maximum in most examples, and never more than it."""
    case = CASES[NAMES.index("chain")]
    hits = []
    for seed in range(50):
        theta = case.theta(np.random.default_rng(seed))
        target = Target(case.space, case.full, case.costs[0])
        support = Rescaled()(case.space, theta, target)
        vector, constant = target.cost_linear
        for i, (examples, one) in enumerate(case.singles()):
            parts = part_places(case.space, examples)
            outputs = one.outputs()
            margins = 1.0 + scores_of(outputs, theta[parts]) - target.psi[parts] @ theta[parts]
            hits.append(support.value[i] >= ((outputs @ vector[parts] + constant[i]) * margins).max() - 1e-9)
    assert np.mean(hits) > 0.9


@EVERY_CASE
def test_enumeration_of_contradictions_is_the_complement(case):
    for examples, one in case.singles():
        outputs = one.outputs()
        other = contradicts(case.partial)(one, outputs, examples)
        value_of_other = one.argmax_other(np.zeros(one.n_parts), case.partial.take(examples)).value[0]
        assert other.any() == (value_of_other > -np.inf)
