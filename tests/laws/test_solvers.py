"""Laws of solvers: one minimum for all, gaps that bound the truth, the same answer on any number of threads."""

from itertools import pairwise

import numpy as np
import pytest
from cases import ANSWERED, CASES, NAMES, PAIR_NAMES, PAIRS, SOLVERS, valid
from python_entries import add_stencils, room_for, write_stencils

from maximand.engine import Threads
from maximand.losses import AUGMENTED_CRF, CLPL, CRF, ENTROPIC, EUCLIDEAN, HINGE, PERCEPTRON, RAMP, SLACK_HINGE, SQUARED
from maximand.solvers import CCCP, LBFGS, BlockFrankWolfe, NSlack, OneSlack, Subgradient, automatic
from maximand.spaces import Choice
from maximand.support import Guarantee
from thinning import cover

CHOICE = CASES[NAMES.index("choice")]
EVERY_CASE = pytest.mark.parametrize("case", CASES, ids=NAMES)
EVERY_KIND = pytest.mark.parametrize("case", cover(CASES, lambda case: {case.kind}), ids=lambda case: case.name)
EVERY_PAIR = pytest.mark.parametrize(("case", "loss"), PAIRS, ids=PAIR_NAMES)


def solved(pairs):
    """Solvers take long: each kind of case occurs with a loss that is smooth and with one that is not."""
    taken = cover(pairs, lambda pair: {pair[0].name, pair[1].name, (pair[0].kind, pair[1].penalty.smooth)})
    return pytest.mark.parametrize(("case", "loss"), taken, ids=[f"{loss.name}-{case.name}" for case, loss in taken])


def has_one_minimum(case, loss):
    """Not where a loss is not convex, or least at zero weights by a law of its own; nor where its oracle is UNDER."""
    return (
        loss.convex(full=True) and not loss.homogeneous and (loss is not SLACK_HINGE or isinstance(case.space, Choice))
    )


@solved([pair for pair in ANSWERED if has_one_minimum(*pair)])
def test_valid_solvers_reach_the_same_value_and_their_gaps_bound_it(case, loss):
    objective = case.objective(loss)
    results = {name: solver.minimize(objective) for name, solver in SOLVERS.items() if valid(solver, objective)}
    assert len(results) >= 3
    best = min(result.value for result in results.values())
    for name, result in results.items():
        assert result.value == pytest.approx(objective.value(result.weights), abs=1e-9)
        loose = 5e-2 if name.startswith("Subgradient") else 1e-5  # it converges like 1 / steps
        assert result.value <= best + loose * max(best, 0.1), name
        if result.gap is not None:
            assert result.certified
            assert result.value - result.gap <= best + 1e-9, name
        bests = [record.value for record in result.history]
        assert all(later <= earlier for earlier, later in pairwise(bests))


@solved([pair for pair in ANSWERED if has_one_minimum(*pair)])
def test_steps_that_nobody_attends_to_reach_the_minimum_or_end_at_a_limit(case, loss):
    objective = case.objective(loss, regularization=1e-3)
    least = automatic(objective, tolerance=1e-4).minimize(objective).value
    result = Subgradient(max_iterations=200 if loss.reads_cost else 1000).minimize(objective)
    assert result.value <= 0.6 * objective.value(np.zeros(objective.n_weights)) or result.value <= 1.05 * least
    assert not result.converged or result.value <= 1.05 * least


@EVERY_KIND
def test_the_perceptron_loss_is_least_at_zero_and_its_solver_leaves_it(case):
    objective = case.objective(PERCEPTRON)
    assert objective.value(np.zeros(objective.n_weights)) == 0.0
    for solver in (
        NSlack(max_iterations=20),
        BlockFrankWolfe(max_iterations=20),
        Subgradient(max_iterations=20),
    ):
        result = solver.minimize(objective)
        assert result.value >= 0.0
        assert result.gap is None or result.value - result.gap <= 1e-12
    assert automatic(objective).minimize(objective).weights.any()


@solved(ANSWERED)
def test_cccp_never_increases_the_objective_and_ends_at_a_stationary_value(case, loss):
    annotation = case.full if loss is SLACK_HINGE else case.partial
    objective = case.objective(loss, annotation)
    inner = LBFGS(tolerance=1e-8) if loss.penalty.smooth else NSlack(tolerance=1e-7, max_iterations=50)
    if loss is SLACK_HINGE:
        inner = OneSlack(max_iterations=50)
    for recycle in (True, False):
        for adaptive in (True, False):
            values = []
            solver = CCCP(inner=inner, recycle=recycle, adaptive=adaptive, tolerance=1e-6)
            result = solver.minimize(objective, callback=lambda record, run, to=values: to.append(record.value))
            assert all(later <= earlier + 1e-12 for earlier, later in pairwise(values))
            assert result.value <= objective.value(np.zeros(objective.n_weights)) + 1e-12
            if objective.convex or loss is SLACK_HINGE:
                continue
            surrogate = objective.linearized(result.weights)
            again = inner.minimize(surrogate)
            assert again.value >= result.value - 1e-4 * max(1.0, abs(result.value))


@EVERY_PAIR
def test_qualities_are_derived_from_loss_and_data(case, loss):
    full = case.objective(loss, case.full)
    if loss is SLACK_HINGE:
        assert full.convex
        assert full.polyhedral
        with pytest.raises(ValueError, match=r"slack_hinge needs full annotations and example \d is partial"):
            case.objective(loss, case.partial)
        return
    partial = case.objective(loss, case.partial)
    smooth = {"crf", "augmented_crf", "euclidean", "entropic", "squared"}
    assert full.convex == (loss.name in {"perceptron", "hinge", "bridge", "pair", "clpl", "marginal", *smooth})
    assert partial.convex == (loss is CLPL)
    assert full.smooth == partial.smooth == (loss.name in smooth)
    assert full.polyhedral == (full.convex and not full.smooth)
    assert partial.linearized(np.zeros(partial.n_weights)).convex


@EVERY_PAIR
def test_planes_touch_the_penalty_and_bound_it_from_below(case, loss):
    objective = case.objective(loss)
    rng = np.random.default_rng(0)
    weights = rng.normal(size=objective.n_weights)
    plane = objective.penalty(weights)
    (shard,) = objective.placed
    examples = shard.planes(loss.penalty, "penalty", weights)
    reference = objective.annotated_score()(weights)
    scores_of, by_example = case.part_scores(weights), []
    for i, offset, own in zip(examples.which, examples.offsets, pairwise(examples.pointers), strict=True):
        parts = examples.parts[slice(*own)]
        by_example.append(offset + examples.coefficients[slice(*own)] @ scores_of(i, parts))
    np.testing.assert_allclose(by_example, examples.values[examples.which], atol=1e-10)
    mean = float(objective.share @ examples.values)
    np.testing.assert_allclose(mean + reference, plane(weights), atol=1e-10)
    if plane.guarantee is not Guarantee.EXACT:
        return
    for _ in range(5):
        other = rng.normal(size=objective.n_weights)
        there = objective.penalty(other)
        if there.guarantee is Guarantee.EXACT:
            assert there(other) >= plane(other) - 1e-10


@EVERY_PAIR
def test_threads_do_not_change_the_answer(case, loss, monkeypatch):
    monkeypatch.setattr("maximand.batch.SMALLEST_CHUNK", 4)
    monkeypatch.setattr("maximand.batch.QUICK", 1)
    monkeypatch.setattr("maximand.batch.CHUNK_PARTS", 16)
    weights = case.weights(np.random.default_rng(0))
    whole = case.objective(loss, engine=Threads(1)).value_and_gradient(weights)
    several = case.objective(loss, engine=Threads(3)).value_and_gradient(weights)
    assert whole[0] == several[0]
    np.testing.assert_array_equal(whole[1], several[1])
    monkeypatch.undo()
    uncut = case.objective(loss, engine=Threads(1)).value_and_gradient(weights)
    np.testing.assert_allclose(uncut[0], whole[0], rtol=1e-12)
    np.testing.assert_allclose(uncut[1], whole[1], atol=1e-12)


@EVERY_PAIR
def test_sample_weight_two_is_a_repeated_example(case, loss):
    n = case.space.n_examples
    weight = np.ones(n)
    weight[:2] = 2.0
    weighted = case.objective(loss, sample_weight=weight)
    longer = case.objective(loss, examples=np.r_[np.arange(n), 0, 1])
    weights = case.weights(np.random.default_rng(0))
    np.testing.assert_allclose(weighted.value(weights), longer.value(weights), rtol=1e-12)


@EVERY_CASE
def test_the_smooth_loss_gradient_equals_a_difference_quotient(case):
    rng = np.random.default_rng(0)
    for loss in (CRF, AUGMENTED_CRF, EUCLIDEAN, ENTROPIC, SQUARED):
        for annotation in (case.full, case.partial) if case.answers(loss) else ():
            objective = case.objective(loss, annotation)
            weights, direction = rng.normal(size=(2, objective.n_weights))
            step = 1e-5
            slope = objective.value_and_gradient(weights)[1] @ direction
            quotient = (objective.value(weights + step * direction) - objective.value(weights - step * direction)) / (
                2 * step
            )
            np.testing.assert_allclose(slope, quotient, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "solver", [OneSlack(), NSlack(), BlockFrankWolfe()], ids=["OneSlack", "NSlack", "BlockFrankWolfe"]
)
@EVERY_KIND
def test_warm_starts_recycle_planes_of_the_same_penalty(case, solver):
    objective = case.objective(HINGE)
    first = solver.minimize(objective)
    again = solver.minimize(objective, start=first)
    assert again.value <= first.value * (1 + 1e-12)
    assert len(again.history) <= max(3, len(first.history))
    foreign = case.objective(HINGE, regularization=0.2)  # other data as far as planes can tell
    assert solver.minimize(foreign, start=first).value == pytest.approx(solver.minimize(foreign).value, rel=2e-3)


def test_automatic_solvers_are_valid_for_what_they_are_chosen():
    for case, loss in PAIRS:
        for annotation in (case.full, case.partial):
            if loss is SLACK_HINGE and annotation is case.partial:
                continue
            objective = case.objective(loss, annotation)
            automatic(objective).check(objective)


def test_a_solver_that_does_not_fit_says_what_does():
    case = CHOICE
    with pytest.raises(ValueError, match=r"LBFGS needs a smooth objective and hinge is not; use OneSlack"):
        LBFGS().minimize(case.objective(HINGE))
    with pytest.raises(ValueError, match=r"OneSlack needs a convex objective and ramp is not; use CCCP"):
        OneSlack().minimize(case.objective(RAMP))
    with pytest.raises(ValueError, match=r"hinge is not on partial annotations; use CCCP|LBFGS"):
        NSlack().minimize(case.objective(HINGE, case.partial))
    with pytest.raises(ValueError, match=r"BlockFrankWolfe needs a nonsmooth objective and crf is not; use LBFGS"):
        BlockFrankWolfe().minimize(case.objective(CRF))


def test_ctrl_c_and_callbacks_keep_the_best_weights():
    objective = CHOICE.objective(HINGE)

    def interrupt(record, run):
        if record.iteration == 3:
            raise KeyboardInterrupt

    result = OneSlack(tolerance=1e-9).minimize(objective, callback=interrupt)
    assert "interrupted by the user" in result.stop_reason
    assert result.value == pytest.approx(objective.value(result.weights))
    assert not result.converged
    asked = iter(range(10**6))

    class Interrupted(OneSlack):
        def iterate(self, objective, state):
            for iterate in super().iterate(objective, state):
                yield iterate
                if next(asked) == 5:
                    raise KeyboardInterrupt

    partial = CHOICE.objective(HINGE, CHOICE.partial)
    result = CCCP(inner=Interrupted(tolerance=1e-9)).minimize(partial)
    assert "interrupted by the user" in result.stop_reason
    assert next(asked) == 6
    stopped = OneSlack(tolerance=1e-9).minimize(objective, callback=lambda record, run: record.iteration == 2)
    assert stopped.stop_reason == "the callback asked to stop"
    assert len(stopped.history) == 2
    limited = Subgradient(max_iterations=2).minimize(objective)
    assert limited.stop_reason == "max_iterations=2 was reached"
    assert limited.gap is None
    assert not limited.certified


@EVERY_KIND
def test_kept_products_are_those_of_the_slopes(case):
    """Planes come and go, and what sweeps know of them stays right; so do the weights that follow their steps."""
    objective = case.objective(HINGE)
    sets = NSlack(tolerance=0.0, max_iterations=8, patience=0).minimize(objective).state.sets
    sets.sweep(np.arange(objective.n_examples))
    stepped = sets.ordered.copy()
    sets.retarget(sets.regularization, sets.reward)
    np.testing.assert_allclose(stepped, sets.ordered, atol=1e-9 * np.abs(stepped).max(initial=1.0))
    planes = objective.placed[0].kept["planes"]
    lists, slopes = planes.lists, np.zeros((planes.count, objective.n_weights))
    for p, slope in enumerate(slopes):
        own = slice(lists.indptr[p], lists.indptr[p + 1])
        size = own.stop - own.start
        room = write_stencils(planes.stencils, planes.owner[p], lists.parts[own], size, room_for(planes.stencils, 1))
        add_stencils(size, lists.data[own], 1.0, room, planes.stencils.dense, slope)
    n_known = 0
    for p in range(planes.count):
        place, q = lists.first_product[p], p
        while q >= 0:
            if not np.isnan(lists.products[place]):
                np.testing.assert_allclose(lists.products[place], slopes[p] @ slopes[q], rtol=1e-9, atol=1e-12)
                n_known += 1
            place, q = place + 1, lists.following[q]
    assert n_known
