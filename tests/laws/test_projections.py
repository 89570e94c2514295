"""Laws of projections: optimality, idempotence, sparsity, and the propositions of blondel2019."""

from itertools import pairwise

import numpy as np
import pytest
from cases import CASES, NAMES
from enumeration import agrees, everything, part_places
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from maximand.decoding import Calibrated
from maximand.losses import generated
from maximand.oracles import Entropic, Euclidean, Target
from maximand.sets import Cube, Everything, Hull, RowStochastic, Sized
from maximand.spaces import ActiveSet, AwaySteps, Labels, Matching, OutputSpace, Ranking, Subset
from maximand.support import Geometry
from thinning import tries

EVERY_CASE = pytest.mark.parametrize("case", CASES, ids=NAMES)
EVERY_GEOMETRY = pytest.mark.parametrize("geometry", list(Geometry), ids=lambda geometry: geometry.name.lower())
SEEDS = st.integers(0, 10_000)
SETS = [Hull(), Cube(), RowStochastic(), Sized(), Everything()]
PROJECTIONS = {Geometry.EUCLIDEAN: Euclidean, Geometry.ENTROPIC: Entropic}


def gradient(theta, mean, geometry):
    """Of theta @ u - Psi(u); where an entropic mean is 0 it is infinite, and no output may use the part."""
    if geometry is Geometry.EUCLIDEAN:
        return theta - mean
    return theta - np.log(np.where(mean > 0, mean, 1.0)) - 1.0


def check_optimal(case, support, theta, keep, geometry):
    """No output is better than the mean to first order, and the mean is a mixture of outputs."""
    for i, (examples, one) in enumerate(case.singles()):
        parts = part_places(case.space, examples)
        outputs = one.outputs()
        outputs = outputs[keep(one, outputs, examples)]
        mean = support.mean[parts]
        if geometry is Geometry.ENTROPIC:
            np.testing.assert_array_equal(mean > 0, (outputs > 0).any(axis=0))
        slope = gradient(theta[parts], mean, geometry)
        assert (outputs @ slope).max() <= mean @ slope + 1e-7 * (1 + np.abs(theta[parts]).max())
        value = theta[parts] @ mean - geometry.terms(mean).sum()
        np.testing.assert_allclose(support.value[i], value, rtol=1e-8, atol=1e-8)
        assert distance_to_hull(outputs, mean) <= 1e-8


def distance_to_hull(outputs, point):
    """How far a point is from the hull of some outputs, by nonnegative least squares with a heavy row for the sum."""
    heavy = 1e3
    system = np.vstack([outputs.T, np.full(len(outputs), heavy)])
    return nnls(system, np.append(point, heavy), maxiter=1000)[1]


@EVERY_CASE
@EVERY_GEOMETRY
@given(seed=SEEDS, scale=st.sampled_from([0.0, 0.3, 1.0, 5.0]))
@tries(8)
def test_projections_are_optimal(case, geometry, seed, scale):
    theta = scale * case.theta(np.random.default_rng(seed))
    check_optimal(case, case.space.project(theta, geometry), theta, everything, geometry)
    for annotation in (case.full, case.partial, case.unknown):
        check_optimal(case, case.space.project_given(theta, annotation, geometry), theta, agrees(annotation), geometry)


@EVERY_CASE
@EVERY_GEOMETRY
def test_projections_equal_long_runs_of_the_active_set_and_of_away_steps(case, geometry):
    theta = case.theta(np.random.default_rng(7))
    found = case.space.project(theta, geometry)
    for method in (ActiveSet(), AwaySteps(tolerance=1e-11, max_rounds=20_000)):
        reference = method(case.space, theta, geometry)
        np.testing.assert_allclose(found.mean, reference.mean, atol=1e-5)
        np.testing.assert_allclose(found.value, reference.value, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.mean, ActiveSet()(case.space, theta, geometry).mean, atol=1e-7)


@EVERY_CASE
@given(seed=SEEDS)
@tries(10)
def test_projecting_again_changes_nothing(case, seed):
    """A mean that is known by its gap alone may be off by d where d^2 / (2 max u) is no more than that gap."""
    theta = case.theta(np.random.default_rng(seed))
    by_gap = type(case.space).project is OutputSpace.project
    for onto in SETS:
        if not onto.contains(case.space):
            continue
        once = onto.project(case.space, theta, Geometry.EUCLIDEAN).mean
        np.testing.assert_allclose(onto.project(case.space, once, Geometry.EUCLIDEAN).mean, once, atol=1e-8)
        once = onto.project(case.space, theta, Geometry.ENTROPIC).mean
        again = onto.project(case.space, 1.0 + np.log(np.maximum(once, 1e-300)), Geometry.ENTROPIC)
        gaps = ActiveSet().tolerance * np.maximum(1.0, np.abs(again.value))
        distance = np.sqrt(2 * once.max() * gaps.max()) if by_gap and onto == Hull() else 1e-8
        np.testing.assert_allclose(again.mean, once, rtol=0, atol=distance)


@EVERY_CASE
def test_euclidean_means_are_sparse_and_entropic_ones_are_not(case):
    theta = 4 * case.theta(np.random.default_rng(3))
    if case.name == "ranking":
        pytest.skip("its parts are weights of positions, which all outputs have")
    sparse = case.space.project(theta, Geometry.EUCLIDEAN).mean
    dense = case.space.project(theta, Geometry.ENTROPIC).mean
    assert (sparse > 1e-9).sum() < (dense > 0).sum()


@EVERY_CASE
@EVERY_GEOMETRY
@given(seed=SEEDS)
@tries(15)
def test_smaller_sets_have_smaller_losses(case, geometry, seed):
    """blondel2019, proposition 1; and (7): the divergence from the projection bounds no loss from above."""
    theta = case.theta(np.random.default_rng(seed))
    target = Target(case.space, case.full, case.costs[0])
    nested = [onto for onto in SETS if onto.contains(case.space)]
    values, means = [], []
    for onto in nested:
        loss = generated(PROJECTIONS[geometry](onto))
        support = loss.penalty(case.space, theta, target)
        values.append(support.value - loss.reward(case.space, theta, target).value)
        means.append(support.mean)
    hull, everything_else, whole = values[0], values[1:-1], values[-1]
    for other in everything_else:
        assert (hull <= other + 1e-9).all()
        assert (other <= whole + 1e-9).all()
    assert (hull <= whole + 1e-9).all()
    if all(isinstance(onto, Cube) or onto in (Hull(), RowStochastic()) for onto in nested[:3]) and len(nested) > 4:
        assert all((small <= large + 1e-9).all() for small, large in pairwise([values[0], values[2], values[1]]))
    for value, mean in zip(values, means, strict=True):
        assert (divergence(case.space, target.psi, mean, geometry) <= value + 1e-8).all()


def divergence(space, psi, mean, geometry):
    """D(psi, mean) of the geometry, for each example."""
    slope = mean if geometry is Geometry.EUCLIDEAN else np.log(np.where(mean > 0, mean, 1.0)) + 1.0
    terms = geometry.terms(psi) - geometry.terms(mean) - slope * (psi - mean)
    return space.layout.dot(np.ones(space.n_parts), terms)


@EVERY_CASE
@EVERY_GEOMETRY
def test_the_loss_is_zero_where_the_projection_is_the_annotation(case, geometry):
    target = Target(case.space, case.full, case.costs[0])
    loss = generated(PROJECTIONS[geometry]())
    psi = target.psi
    theta = psi if geometry is Geometry.EUCLIDEAN else 1.0 + np.log(np.maximum(psi, 1e-300))
    support = loss.penalty(case.space, theta, target)
    value = support.value - loss.reward(case.space, theta, target).value
    np.testing.assert_allclose(support.mean, psi, atol=1e-6)
    np.testing.assert_allclose(value, 0.0, atol=1e-6)


SIMPLE = [CASES[NAMES.index(name)] for name in ("choice", "subset, 1 to 2 of 4", "matching", "ranking", "ordinal")]


@pytest.mark.parametrize("case", SIMPLE, ids=lambda case: case.name)
@EVERY_GEOMETRY
@given(seed=SEEDS)
@tries(25)
def test_calibrated_decoding_is_consistent(case, geometry, seed):
    """blondel2019, proposition 5, for a single x and a known distribution of y.

    The population minimiser has the mean psi as projection; decoding it attains the least risk. At any other theta,
    (excess cost)^2 / (8 beta sigma^2) <= excess loss.
    """
    rng = np.random.default_rng(seed)
    _, space = next(case.singles())
    outputs = space.outputs()
    chances = rng.dirichlet(np.full(len(outputs), 0.5))
    mean = chances @ outputs
    theta = rng.normal(size=space.n_parts) * 2
    sets = [Hull(), *(onto for onto in (Cube(), RowStochastic()) if onto.contains(space))]
    for onto in sets:
        projection = PROJECTIONS[geometry](onto)
        for cost in case.costs:
            vector, constant = cost.linear(space, mean)
            risks = outputs @ vector + constant[0]
            decoder = Calibrated(cost, layer=projection)
            least_risk = risks.min()
            at_mean = mean if geometry is Geometry.EUCLIDEAN else 1.0 + np.log(np.maximum(mean, 1e-300))
            chosen = decoder(space, at_mean)
            np.testing.assert_allclose(chosen @ vector + constant[0], least_risk, atol=1e-7)
            # the surrogate risk: E S(theta, Y) = Omega*(theta) - <theta, mean> + E Omega(psi(Y))
            penalty = projection(space, theta).value[0]
            least = geometry.terms(mean).sum()
            excess_loss = penalty - theta @ mean + least  # least of Omega* - <., mean> is -Omega(mean)
            excess_cost = decoder(space, theta) @ vector + constant[0] - least_risk
            beta, sigma = constants(space, onto, outputs, cost, geometry)
            assert excess_cost**2 / (8 * beta * sigma**2) <= excess_loss + 1e-9


def constants(space, onto, outputs, cost, geometry):
    """beta: Psi is 1/beta-strongly convex over the set; sigma: the largest dual norm of V' psi(y)."""
    zero, _ = cost.linear(space, np.zeros(space.n_parts))
    columns = np.array([cost.linear(space, unit)[0] - zero for unit in np.eye(space.n_parts)])  # V, transposed
    slopes = outputs @ columns.T
    if geometry is Geometry.EUCLIDEAN:
        return 1.0, np.sqrt((slopes**2).sum(axis=1)).max()
    beta = outputs.sum(axis=1).max() if isinstance(onto, Hull) or not isinstance(onto, Cube) else space.n_parts
    return beta, np.abs(slopes).max()


def test_sets_that_do_not_hold_the_outputs_are_refused_with_a_sentence():
    theta = np.zeros(6)
    for projection, space, sentence in [
        (Euclidean(Cube()), Ranking(2, 3), r"Cube\(\) does not contain all outputs of a Ranking; project onto Hull"),
        (Euclidean(RowStochastic()), Subset(2, 3), r"RowStochastic\(\) does not contain all outputs of a Subset"),
        (Entropic(Sized(0, 1)), Subset(2, 3), r"Sized\(least=0, most=1\) does not contain"),
        (Entropic(), Ranking(2, 3, np.array([1.0, 0.0, -1.0])), r"Entropic projections reach nonnegative numbers only"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            projection(space, theta)


def test_weights_of_positions_may_be_negative():
    rng = np.random.default_rng(1)
    space = Ranking(3, 4, np.array([1.0, 0.5, -0.5, -2.0]))
    theta = rng.normal(size=space.n_parts)
    codes = np.array([[0, 1, 2, 3], [0, -1, -1, -1], [-1, -1, -1, -1]])
    annotation = Labels(codes.ravel(), np.arange(4) * 4, 4)
    found = space.project_given(theta, annotation)
    np.testing.assert_allclose(found.mean[:4], space.weights)
    np.testing.assert_allclose(found.mean[4], 1.0)
    whole = space.project(theta)
    np.testing.assert_allclose(found.mean[8:], whole.mean[8:], atol=1e-9)
    np.testing.assert_allclose(found.value[2], whole.value[2])
    rest = Ranking(1, 3, np.array([0.5, -0.5, -2.0])).project(theta[5:8])
    np.testing.assert_allclose(found.mean[5:8], rest.mean, atol=1e-9)
    with pytest.raises(ValueError, match="Some parts of this Ranking are negative; mixtures are of counts"):
        ActiveSet()(space, theta)


def test_warm_starts_change_the_speed_and_not_the_answer():
    rng = np.random.default_rng(0)
    space = Matching(20, 6)
    theta = rng.normal(size=space.n_parts)
    for geometry in Geometry:
        cold = space.project(theta + 1e-2 * rng.normal(size=theta.size), geometry)
        warm = space.project(theta, geometry, cold.state)
        again = space.project(theta, geometry)
        np.testing.assert_allclose(warm.mean, again.mean, atol=1e-8)
        np.testing.assert_allclose(warm.value, again.value, atol=1e-9)
        assert warm.converged.all()
