"""Laws of spaces: argmax, soft maxima and their gradients against enumeration, over Y, Y* and Y°."""

import numpy as np
import pytest
from cases import CASES, NAMES
from enumeration import agrees, contradicts, enumerated, everything, part_places, scores_of
from hypothesis import given
from hypothesis import strategies as st

from maximand.spaces import Matching, Ranking, Tracking
from maximand.support import Geometry, Guarantee
from thinning import tries

pytestmark = pytest.mark.parametrize("case", CASES, ids=NAMES)
SEEDS = st.integers(0, 10_000)


def check_maximum(case, support, theta, keep):
    for i, (_, parts, outputs) in enumerate(enumerated(case, theta, keep)):
        if len(outputs) == 0:
            assert support.value[i] == -np.inf
            assert not support.mean[parts].any()
            continue
        scores = scores_of(outputs, theta[parts])
        finite = theta[parts][np.isfinite(theta[parts])]
        rounding = np.finfo(float).eps * np.abs(finite).sum()  # large terms may cancel in a small sum
        np.testing.assert_allclose(support.value[i], scores.max(), rtol=1e-12, atol=rounding)
        assert (outputs == support.mean[parts]).all(axis=1).any()
        found = scores_of(support.mean[parts][None], theta[parts])[0]
        np.testing.assert_allclose(found, scores.max(), rtol=1e-12, atol=rounding)


def check_soft_maximum(case, support, theta, keep, temperature):
    for i, (_, parts, outputs) in enumerate(enumerated(case, theta, keep)):
        if len(outputs) == 0:
            assert support.value[i] == -np.inf
            assert not support.mean[parts].any()
            continue
        scores = scores_of(outputs, theta[parts]) / temperature
        weights = np.exp(scores - scores.max())
        value = temperature * (scores.max() + np.log(weights.sum()))
        np.testing.assert_allclose(support.value[i], value, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(support.mean[parts], weights @ outputs / weights.sum(), atol=1e-11)


@given(seed=SEEDS, scale=st.sampled_from([0.0, 1.0, 30.0]))
@tries(25)
def test_argmax_beats_every_output(case, seed, scale):
    theta = scale * case.theta(np.random.default_rng(seed))
    for annotation in (case.full, case.partial, case.unknown):
        check_maximum(case, case.space.argmax_given(theta, annotation), theta, agrees(annotation))
        check_maximum(case, case.space.argmax_other(theta, annotation), theta, contradicts(annotation))
    support = case.space.argmax(theta)
    check_maximum(case, support, theta, everything)
    assert support.guarantee is Guarantee.EXACT


def has_marginals(case):
    """Whether a case has marginals; where not, make sure that it says so."""
    if not case.soft:
        for answer in (case.space.marginals, lambda theta: case.space.marginals_given(theta, case.partial)):
            with pytest.raises(ValueError, match=f"{type(case.space).__name__} has no marginals"):
                answer(np.zeros(case.space.n_parts))
    return case.soft


@given(seed=SEEDS, temperature=st.sampled_from([1.0, 0.3, 5.0, 1e-3]), scale=st.sampled_from([1.0, 200.0]))
@tries(25)
def test_marginals_equal_enumeration(case, seed, temperature, scale):
    theta = scale * case.theta(np.random.default_rng(seed))
    space = case.space
    if not has_marginals(case):
        return
    check_soft_maximum(case, space.marginals(theta, temperature), theta, everything, temperature)
    for annotation in (case.full, case.partial, case.unknown):
        support = space.marginals_given(theta, annotation, temperature)
        check_soft_maximum(case, support, theta, agrees(annotation), temperature)
        support = space.marginals_other(theta, annotation, temperature)
        check_soft_maximum(case, support, theta, contradicts(annotation), temperature)


@given(seed=SEEDS)
@tries(10)
def test_marginals_are_the_gradient_of_the_log_sum(case, seed):
    rng = np.random.default_rng(seed)
    theta, direction, step = case.theta(rng), case.theta(rng), 1e-5
    if not has_marginals(case):
        return
    up = case.space.marginals(theta + step * direction).value.sum()
    down = case.space.marginals(theta - step * direction).value.sum()
    slope = case.space.marginals(theta).mean @ direction
    np.testing.assert_allclose((up - down) / (2 * step), slope, rtol=1e-7, atol=1e-7)


def flat(output):
    """A decoded output, be it a number, an array or a tuple of such, as one array."""
    return np.hstack(output) if isinstance(output, tuple) else np.atleast_1d(output)


def test_decode_inverts_encode(case):
    space = case.space
    for psi in (space.encode(case.full), space.argmax(case.theta(np.random.default_rng(1))).mean):
        outputs = space.decode(psi)
        again = []
        for (examples, one), y in zip(case.singles(), outputs, strict=True):
            matches = [row for row in one.outputs() if np.array_equal(flat(one.decode(row)[0]), flat(y))]
            assert len(matches) == 1
            again.append((part_places(space, examples), matches[0]))
        for parts, row in again:
            np.testing.assert_array_equal(psi[parts], row)


def test_enumerated_outputs_are_distinct(case):
    for _, one in case.singles():
        outputs = one.outputs()
        assert len(np.unique(outputs, axis=0)) == len(outputs)


@given(seed=SEEDS)
@tries(10)
def test_a_batch_answers_like_its_examples_one_by_one(case, seed):
    theta = case.theta(np.random.default_rng(seed))

    def answers(space, theta, partial):
        yield space.argmax(theta)
        yield space.argmax_other(theta, partial)
        if case.soft:
            yield space.marginals(theta)
        for geometry in Geometry:
            yield space.project(theta, geometry)
            yield space.project_given(theta, partial, geometry)

    whole = list(answers(case.space, theta, case.partial))
    for i, (examples, one) in enumerate(case.singles()):
        parts = part_places(case.space, examples)
        single = answers(one, theta[parts], case.partial.take(examples))
        for together, alone in zip(whole, single, strict=True):
            assert together.value[i] == alone.value[0]
            np.testing.assert_array_equal(together.mean[parts], alone.mean)


def test_ties_break_towards_the_lowest_index(case):
    if case.name == "user oracle":
        pytest.skip("the order of ties is the user's own")
    items_in_order = isinstance(case.space, (Matching, Ranking))  # elsewhere the last slot counts most
    for _, one in case.singles():
        if isinstance(one, Tracking):  # the simplex method has an order of its own; what is promised is that it is one
            first, again = (one.argmax(np.zeros(one.n_parts)) for _ in range(2))
            np.testing.assert_array_equal(first.mean, again.mean)
            continue
        step = 1 if items_in_order else -1
        tied = [tuple(flat(one.decode(row)[0])[::step]) for row in one.outputs()]
        best = one.decode(one.argmax(np.zeros(one.n_parts)).mean)[0]
        assert tuple(flat(best)[::step]) == min(tied)


def test_forbidding_every_part_leaves_nothing_but_an_output_without_parts(case):
    support = case.space.argmax(np.full(case.space.n_parts, -np.inf))
    without = [(one.outputs() == 0).all(axis=1).any() for _, one in case.singles()]
    np.testing.assert_array_equal(support.value, np.where(without, 0.0, -np.inf))
    assert not support.mean.any()


def test_slices_and_lists_of_examples_agree(case):
    n = case.space.n_examples
    chosen = np.arange(1, n)
    theta = case.theta(np.random.default_rng(3))
    parts = part_places(case.space, chosen)
    for other in (case.space.take(slice(1, n)), case.space.take(chosen)):
        np.testing.assert_array_equal(other.argmax(theta[parts]).value, case.space.argmax(theta).value[1:])
    for annotation in (case.full, case.partial):
        first, second = annotation.take(slice(1, n)), annotation.take(chosen)
        np.testing.assert_array_equal(first.full, second.full)
        np.testing.assert_array_equal(first.full, annotation.full[1:])
