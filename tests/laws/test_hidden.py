"""Soft maxima over what is annotated of those over what is not, against enumeration; the losses made of them."""

from itertools import groupby

import numpy as np
import pytest
from cases import CASES, GRAPHS, HIDDEN_CASES
from enumeration import agreeing, part_places, scores_of
from hypothesis import given
from hypothesis import strategies as st

from maximand.capabilities import Can
from maximand.inference import Exhaustive, Structure
from maximand.losses import AUGMENTED_CRF, CRF, HINGE, marginal
from maximand.oracles import Over, Soft, Target
from maximand.solvers import CCCP, OneSlack, Result, Smoothing
from maximand.spaces import Graph, Product
from maximand.spaces.labelled import joined_hidden
from maximand.support import Guarantee
from thinning import tries

TEMPERATURES = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.3, 0.7), (0.7, 0.3), (0.5, 0.5), (1.0, 0.0)]
MIXING = [case for case in (*CASES, *HIDDEN_CASES) if Can.MIXED in case.space.can]
EVERY_CASE = pytest.mark.parametrize("case", MIXING, ids=lambda case: case.name)
EVERY_PAIR = pytest.mark.parametrize("temperatures", TEMPERATURES, ids=str)
SEEDS = st.integers(0, 10_000)


def softened(values, means, temperature):
    """Return the soft maximum of values, and the mean of the means by their shares in it."""
    if not len(values) or np.isneginf(values).all():
        return -np.inf, 0.0 * means.sum(axis=0)
    if temperature == 0.0:
        best = int(np.argmax(values))
        return values[best], means[best]
    shares = np.exp((values - values.max()) / temperature)
    return values.max() + temperature * np.log(shares.sum()), shares @ means / shares.sum()


def visible_labels(space, annotation, psi):
    """Return the labels that an output of one example has where it is visible."""
    if isinstance(space, Product):
        parts = zip(space.factors, annotation.factors, space.split(psi), strict=True)
        return [label for factor, own, part in parts for label in visible_labels(factor, own, part)]
    visible = ~joined_hidden(space, space.open(annotation))
    label_of = np.arange(space.n_labels) if space.states is None else space.states.label_of
    return label_of[np.atleast_1d(space.decode(psi)[0])][visible].tolist()


def enumerated(case, theta, annotation, temperatures, over):
    """Return value and mean of every example, listing all outputs, those of the same visible labels together."""
    values, mean = [], np.zeros(case.space.n_parts)
    for examples, one in case.singles():
        parts, own = part_places(case.space, examples), annotation.take(examples)
        outputs = one.outputs()
        if over is Over.ANNOTATED:
            outputs = outputs[agreeing(one, outputs, own)]
        labelled = [(visible_labels(one, own, psi), psi) for psi in outputs]
        labelled.sort(key=lambda pair: pair[0])
        groups = [np.array([psi for _, psi in group]) for _, group in groupby(labelled, key=lambda pair: pair[0])]
        inside = [softened(scores_of(group, theta[parts]), group, temperatures[1]) for group in groups]
        value, mean[parts] = softened(
            np.array([value for value, _ in inside]), np.array([psi for _, psi in inside]), temperatures[0]
        )
        values.append(value)
    return np.array(values), mean


@EVERY_PAIR
@EVERY_CASE
@given(seed=SEEDS)
@tries(6)
def test_values_and_means_are_those_of_enumeration(case, temperatures, seed):
    rng = np.random.default_rng(seed)
    theta = case.theta(rng)
    for annotation in (case.full, case.partial, case.unknown):
        for over in (Over.ALL, Over.ANNOTATED):
            target = Target(case.space, annotation, case.costs[0])
            found = Soft(over, temperature=temperatures)(case.space, theta, target)
            value, mean = enumerated(case, theta, annotation, temperatures, over)
            assert found.guarantee is Guarantee.EXACT
            np.testing.assert_allclose(found.value, value, atol=1e-9)
            np.testing.assert_allclose(found.mean, mean, atol=1e-9)


@EVERY_PAIR
@EVERY_CASE
@given(seed=SEEDS)
@tries(6)
def test_the_loss_bounds_the_expected_cost_of_the_prediction(case, temperatures, seed):
    """ping2014, lemma 1: the prediction maximises over visible labels the soft maximum over hidden ones."""
    rng = np.random.default_rng(seed)
    theta, loss = case.theta(rng), marginal(*temperatures)
    for annotation in (case.full, case.partial, case.unknown):
        for cost in case.costs:
            target = Target(case.space, annotation, cost)
            vector, constant = target.cost_linear
            predicted = case.space.mixed(theta, (0.0, temperatures[1]), target.open)
            expected = case.space.layout.dot(vector, predicted.mean) + constant
            losses = loss(case.space, theta, target).value
            assert loss.nonnegative
            assert (losses >= -1e-9).all()
            assert (losses >= expected - 1e-9).all()


@EVERY_CASE
@given(seed=SEEDS)
@tries(6)
def test_limits(case, seed):
    """As temperatures fall to 0 the loss falls to the latent structured SVM's, and so does each of them alone."""
    theta = case.theta(np.random.default_rng(seed))
    target = Target(case.space, case.partial, case.costs[0])
    for goal in ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0)):
        near = tuple(heat or 1e-4 for heat in goal)
        for over in (Over.ALL, Over.ANNOTATED):
            exact, close = (Soft(over, 1.0, pair)(case.space, theta, target).value for pair in (goal, near))
            np.testing.assert_allclose(close, exact, atol=1e-2)
            assert (close >= exact - 1e-9).all()


@EVERY_CASE
@given(seed=SEEDS)
@tries(6)
def test_known_members_of_the_family(case, seed):
    theta = case.theta(np.random.default_rng(seed))
    for annotation in (case.full, case.partial):
        target = Target(case.space, annotation, case.costs[0])
        same = [(marginal(0.0, 0.0), HINGE), (marginal(1.0, 1.0, cost=0.0), CRF), (marginal(1.0, 1.0), AUGMENTED_CRF)]
        if annotation.full.all():  # nothing is hidden
            same += [(marginal(0.0, heat), HINGE) for heat in (0.3, 1.0)]
            same += [(marginal(1.0, heat, cost=0.0), CRF) for heat in (0.3, 2.0)]
        for one, other in same:
            ours, theirs = (loss(case.space, theta, target) for loss in (one, other))
            np.testing.assert_allclose(ours.value, theirs.value, atol=1e-9)
            np.testing.assert_allclose(ours.mean, theirs.mean, atol=1e-9)


@EVERY_PAIR
@pytest.mark.parametrize("case", HIDDEN_CASES, ids=lambda case: case.name)
def test_rounds_never_increase_the_objective(case, temperatures):
    objective = case.objective(marginal(*temperatures), case.partial)
    start = Result.start(case.weights(np.random.default_rng(0)))
    found = CCCP(tolerance=1e-9, max_iterations=8).minimize(objective, start)
    values = np.array([record.value for record in found.history])
    assert len(values) > 2
    assert (np.diff(values) <= 1e-9 * np.abs(values[:-1])).all()
    assert values[-1] < 0.9 * objective.value(start.weights)


@pytest.mark.parametrize("heat", [0.3, 1.0])
@pytest.mark.parametrize("case", HIDDEN_CASES, ids=lambda case: case.name)
def test_rounds_have_certificates_that_soft_maxima_over_outputs_make(case, heat):
    """Averages of outputs bound maxima over them from below, while what is hidden stays soft at its temperature."""
    objective = case.objective(marginal(0.0, heat), case.partial)
    frozen = objective.linearized(case.weights(np.random.default_rng(0)))
    least = OneSlack(tolerance=1e-7, max_iterations=5000).minimize(frozen)
    found = Smoothing(tolerance=1e-4).minimize(frozen)
    assert least.certified and found.certified and found.converged
    assert found.value <= least.value * (1.0 + 1e-4)
    for record in found.history:
        assert record.gap is None or record.value - record.gap <= least.value * (1.0 + 1e-9)


def test_qualities_are_derived():
    assert not marginal(0, 1).penalty.smooth and not marginal(0, 1).penalty.polyhedral
    assert marginal(0, 1).convex(full=True) and not marginal(0, 1).convex(full=False)
    assert marginal(0.5, 0.5).smooth(full=False) and marginal(0, 0).penalty.polyhedral
    assert marginal().name == "marginal"
    assert marginal(0.0, 0.7).on(np.ones(3, dtype=bool)).needs == HINGE.needs  # nothing is hidden
    for wrong in ((-1, 1), (0, np.nan), (np.nan, 0), (0, np.inf), ("0", 1), (0, 1, np.nan), (0, 1, -1)):
        with pytest.raises(ValueError, match=r"marginal\(\) has the temperatures .*; give finite numbers, at least 0"):
            marginal(*wrong)


def test_labels_of_some_slots_hide_the_others():
    """The third argument of `mixed` is beside what the space hides itself."""
    structures = [Structure.of(*graph, 2) for graph in GRAPHS]
    always = np.random.default_rng(0).random(11) < 0.3
    space, plain = Graph(structures, Exhaustive(), always), Graph(structures, Exhaustive())
    theta = np.random.default_rng(1).normal(size=space.n_parts)
    also = np.random.default_rng(2).random(11) < 0.3
    np.testing.assert_allclose(space.mixed(theta, (0, 1), also).mean, plain.mixed(theta, (0, 1), always | also).mean)
    np.testing.assert_allclose(space.mixed(theta, (0, 1)).mean, plain.mixed(theta, (0, 1), always).mean)
