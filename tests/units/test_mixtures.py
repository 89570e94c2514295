"""Projections by an argmax alone: against enumeration, another solver, and one another."""

import numpy as np
import pytest
from cases import CASES, NAMES
from enumeration import agrees, everything, part_places
from scipy.optimize import minimize

from maximand.inference import Exhaustive, Greedy, LinearProgram, Structure
from maximand.spaces import Chain, Choice, Graph, OracleSpace
from maximand.spaces.mixtures import ActiveSet, AwaySteps
from maximand.support import Geometry, Guarantee

EUCLIDEAN, ENTROPIC = Geometry.EUCLIDEAN, Geometry.ENTROPIC
over_cases = pytest.mark.parametrize("case", CASES, ids=NAMES)
in_both = pytest.mark.parametrize("geometry", list(Geometry), ids=lambda geometry: geometry.value)
METHODS = [ActiveSet(), AwaySteps(tolerance=1e-7)]
with_both = pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)


def slope(theta, mean, geometry):
    """theta - Psi'(mean); the entropic slope is infinite at parts that are not used."""
    if geometry is EUCLIDEAN:
        return theta - mean
    with np.errstate(divide="ignore"):
        return theta - np.log(mean) - 1.0


def gap_of(outputs, theta, mean, geometry):
    """How much better the best output looks along the slope than the mean itself, by enumeration."""
    used = (outputs > 0).any(axis=0)
    g = slope(theta[used], mean[used], geometry)
    return (outputs[:, used] @ g).max() - mean[used] @ g


def value_of(theta, mean, geometry):
    used = mean > 0
    return theta[used] @ mean[used] - geometry.terms(mean).sum()


def examples_of(case, support, mixture, keep=everything):
    """Yield for each example its place, parts, the outputs that may be used, its mean, chances and psi."""
    for i, (examples, one) in enumerate(case.singles()):
        parts, outputs = part_places(case.space, examples), one.outputs()
        yield i, parts, outputs[keep(one, outputs, examples)], support.mean[parts], *mixture.example(i)


def check(case, theta, geometry, support, mixture, keep=everything, accuracy=2e-12):
    """Check that the mean is a mixture of outputs that may be used and that no output improves on it."""
    for i, parts, outputs, mean, chances, psi in examples_of(case, support, mixture, keep):
        outputs = outputs[~np.isneginf(np.where(outputs != 0, theta[parts], 0.0)).any(axis=1)]
        if not len(outputs):
            assert support.value[i] == -np.inf
            assert not mean.any()
            assert not len(chances)
            continue
        assert (chances > 0).all()
        assert (np.diff(chances) <= 0).all()
        np.testing.assert_allclose(chances.sum(), 1.0, rtol=1e-14)
        np.testing.assert_allclose(chances @ psi, mean, rtol=1e-13, atol=1e-15)
        assert all((outputs == row).all(axis=1).any() for row in psi)
        assert len(np.unique(psi, axis=0)) == len(psi)
        np.testing.assert_allclose(support.value[i], value_of(theta[parts], mean, geometry), rtol=1e-13, atol=1e-13)
        assert gap_of(outputs, theta[parts], mean, geometry) <= accuracy * max(1.0, abs(support.value[i]))
    assert support.converged.all()
    assert support.guarantee is Guarantee.EXACT


@over_cases
@in_both
def test_no_output_improves_on_the_projection(case, geometry):
    rng = np.random.default_rng(5)
    for scale in (0.0, 0.1, 1.0, 3.0):
        theta = scale * case.theta(rng)
        check(case, theta, geometry, *ActiveSet().mixture(case.space, theta, geometry))


@over_cases
@in_both
def test_away_steps_find_the_same(case, geometry):
    theta = case.theta(np.random.default_rng(6))
    found, mixture = AwaySteps().mixture(case.space, theta, geometry)
    check(case, theta, geometry, found, mixture, accuracy=2e-9)
    best = ActiveSet()(case.space, theta, geometry)
    np.testing.assert_allclose(found.value, best.value, rtol=2e-9, atol=2e-9)
    np.testing.assert_allclose(found.mean, best.mean, atol=1e-4)  # to the root of the tolerance


@over_cases
@in_both
def test_a_general_solver_finds_the_same(case, geometry):
    theta = case.theta(np.random.default_rng(7))
    support = ActiveSet()(case.space, theta, geometry)
    for i, (examples, one) in enumerate(case.singles()):
        parts, outputs = part_places(case.space, examples), one.outputs()
        if len(outputs) > 12:
            continue

        def loss(chances, outputs=outputs, parts=parts):
            mean = np.maximum(outputs.T @ chances, 1e-12)
            return -value_of(theta[parts], mean, geometry), -outputs @ slope(theta[parts], mean, geometry)

        found = minimize(
            loss, np.full(len(outputs), 1 / len(outputs)), jac=True, method="SLSQP", bounds=[(0, 1)] * len(outputs),
            constraints={"type": "eq", "fun": lambda a: a.sum() - 1, "jac": np.ones_like},
            options={"ftol": 1e-12, "maxiter": 500},
        )  # fmt: skip
        assert -found.fun <= support.value[i] + 1e-9
        np.testing.assert_allclose(support.value[i], -found.fun, rtol=1e-6, atol=1e-6)


@over_cases
def test_a_mean_is_its_own_euclidean_projection(case):
    mean = ActiveSet()(case.space, case.theta(np.random.default_rng(8))).mean
    np.testing.assert_allclose(ActiveSet()(case.space, mean).mean, mean, atol=1e-13)
    psi = case.space.encode(case.full)
    np.testing.assert_allclose(ActiveSet()(case.space, psi).mean, psi, atol=1e-13)


@over_cases
@in_both
@with_both
def test_annotations_restrict_the_hull(case, geometry, method):
    theta = case.theta(np.random.default_rng(9))
    for annotation in (case.partial, case.unknown, case.full):
        support, mixture = method.mixture(case.space, theta, geometry, annotation)
        check(case, theta, geometry, support, mixture, agrees(annotation), 2 * method.tolerance)
        for i, parts, outputs, mean, _, _ in examples_of(case, support, mixture, agrees(annotation)):
            if len(outputs) == 1:
                np.testing.assert_array_equal(mean, outputs[0])
                assert support.value[i] == pytest.approx(value_of(theta[parts], outputs[0], geometry), rel=1e-14)


@over_cases
@in_both
@with_both
def test_forbidden_parts_stay_unused(case, geometry, method):
    rng = np.random.default_rng(10)
    theta = case.theta(rng)
    theta[rng.random(theta.size) < 0.2] = -np.inf
    support, mixture = method.mixture(case.space, theta, geometry)
    assert not support.mean[np.isneginf(theta)].any()
    check(case, theta, geometry, support, mixture, accuracy=2 * method.tolerance)


@over_cases
@in_both
@with_both
def test_a_batch_answers_like_its_examples_one_by_one(case, geometry, method):
    theta = case.theta(np.random.default_rng(11))
    whole, mixture = method.mixture(case.space, theta, geometry)
    for i, (examples, one) in enumerate(case.singles()):
        parts = part_places(case.space, examples)
        alone, own = method.mixture(one, theta[parts], geometry)
        assert alone.value[0] == whole.value[i]
        np.testing.assert_array_equal(alone.mean, whole.mean[parts])
        for together, single in zip(mixture.example(i), own.example(0), strict=True):
            np.testing.assert_array_equal(together, single)


@over_cases
@in_both
def test_mixtures_hold_affinely_independent_outputs(case, geometry):
    rng = np.random.default_rng(12)
    for theta in (case.theta(rng), np.round(case.theta(rng)), np.zeros(case.space.n_parts)):
        support, mixture = ActiveSet().mixture(case.space, theta, geometry)
        for _, _, outputs, _, chances, psi in examples_of(case, support, mixture):
            assert np.linalg.matrix_rank(np.c_[psi, np.ones(len(psi))]) == len(chances)
            assert len(chances) <= np.linalg.matrix_rank(outputs - outputs[0]) + 1


@pytest.mark.parametrize("scale", [30.0, 1e3, 1e6])
@in_both
def test_large_scores_converge(geometry, scale):
    space = Chain(np.array([5, 1, 4]), 4)
    theta = scale * np.random.default_rng(0).normal(size=space.n_parts)
    support = ActiveSet()(space, theta, geometry)
    assert support.guarantee is Guarantee.EXACT
    longer = AwaySteps(tolerance=1e-9)(space, theta, geometry)
    np.testing.assert_allclose(support.value, longer.value, rtol=1e-8)


@in_both
def test_rounding_alone_ends_the_rounds(geometry):
    space = Chain(np.array([5, 3]), 4)
    theta = np.random.default_rng(2).normal(size=space.n_parts)
    support = ActiveSet(tolerance=0.0)(space, theta, geometry)
    assert support.converged.all()
    np.testing.assert_allclose(support.value, ActiveSet()(space, theta, geometry).value, rtol=1e-12)


def test_choices_are_projected_onto_the_simplex():
    theta = np.array([[0.3, 0.1, -2.0], [5.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    sparse = ActiveSet()(Choice(3, 3), theta.ravel()).mean.reshape(3, 3)
    np.testing.assert_allclose(sparse, [[0.6, 0.4, 0.0], [1.0, 0.0, 0.0], [1 / 3] * 3], atol=1e-15)
    soft = ActiveSet()(Choice(3, 3), theta.ravel(), ENTROPIC).mean.reshape(3, 3)
    np.testing.assert_allclose(soft, np.exp(theta) / np.exp(theta).sum(axis=1, keepdims=True), atol=1e-12)


@with_both
@in_both
def test_what_is_short_of_the_tolerance_is_a_lower_bound(geometry, method):
    space = Chain(np.array([6, 5]), 4)
    theta = np.random.default_rng(3).normal(size=space.n_parts)
    best = ActiveSet()(space, theta, geometry)
    for rounds in (1, 2, 5):
        support = type(method)(max_rounds=rounds)(space, theta, geometry)
        assert support.guarantee is Guarantee.UNDER
        assert not support.converged.any()
        assert (support.value <= best.value).all()
        assert (best.value <= support.bound).all()


@with_both
@in_both
def test_approximate_argmaxes_say_so(geometry, method):
    rng = np.random.default_rng(4)
    structures = [Structure.complete(4), Structure.complete(3)]
    exact = Graph(structures, Exhaustive())
    theta = rng.normal(size=exact.n_parts)
    best = ActiveSet()(exact, theta, geometry)
    under = method(exact.using(Greedy()), theta, geometry)
    assert under.guarantee is Guarantee.UNDER
    assert under.bound is None
    assert (under.value <= best.value + 1e-9).all()
    relaxed = method(exact.using(LinearProgram()), theta, geometry)
    assert relaxed.guarantee in (Guarantee.EXACT, Guarantee.ESTIMATE)
    assert (relaxed.value >= best.value - 1e-8).all()
    if relaxed.guarantee is Guarantee.ESTIMATE:
        assert (relaxed.bound >= best.value - 1e-8).all()


@in_both
@with_both
def test_counts_above_one_and_empty_outputs(geometry, method):
    table = np.array([[0, 0, 0], [3, 0, 1], [0, 2, 2], [1, 1, 1]], dtype=float)

    def best(theta, instance):
        return table[np.argmax((table * np.where(table != 0, theta, 0.0)).sum(axis=1))]

    space = OracleSpace(best, [None, None], [3, 3])
    theta = np.array([0.5, 1.0, -0.3, 2.0, -np.inf, 1.0])
    support, mixture = method.mixture(space, theta, geometry)
    for i, usable in enumerate((table, table[[0, 1]])):
        mean = support.mean[3 * i : 3 * i + 3]
        np.testing.assert_allclose(mixture.example(i)[0] @ mixture.example(i)[1], mean, atol=1e-14)
        assert gap_of(usable, theta[3 * i : 3 * i + 3], mean, geometry) <= 10 * method.tolerance


def test_nothing_left_is_said():
    support, mixture = ActiveSet().mixture(Choice(2, 3), np.array([0.0, 1.0, 2.0] + [-np.inf] * 3))
    assert support.value[1] == -np.inf
    assert not support.mean[3:].any()
    assert support.converged.all()
    assert support.guarantee is Guarantee.EXACT
    np.testing.assert_array_equal(np.diff(mixture.offsets), [1, 0])
