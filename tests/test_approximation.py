"""What training with approximate oracles is worth: intervals, certificates and words (finley2008)."""

from itertools import product

import numpy as np
import pytest

from maximand import (
    CCCP,
    LBFGS,
    BeliefPropagation,
    BlockFrankWolfe,
    Combine,
    Exhaustive,
    GraphCut,
    GraphLabeler,
    Greedy,
    Guarantee,
    Hamming,
    IteratedModes,
    LinearProgram,
    MultilabelClassifier,
    MultilabelTask,
    NSlack,
    OneSlack,
    Pairwise,
    RhoApproximate,
    Subgradient,
)
from maximand.answers import Answered, Tally
from maximand.batch import Batch
from maximand.losses import LOSSES
from maximand.objective import Objective
from maximand.solvers.approximation import Shortfall, in_words

REGULARIZATION = 0.02 / 4
SETS = np.array(list(product((0, 1), repeat=4)))
RHOS = [1.0, 0.95, 0.8, 0.5]


@pytest.fixture(scope="module")
def table():
    """Rows with one of four labels, and features that say little about which: relaxations are fractional."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 40)
    return np.eye(4)[labels] + rng.normal(size=(40, 4)), np.eye(4, dtype=int)[labels], rng.random(40) + 0.1


def objective_of(table, inference, loss="hinge", weighted=False, Y=None):
    X, full, weight = table
    bound, examples, annotation = MultilabelTask(Pairwise(inference)).bind(X, full if Y is None else Y)
    batch = Batch(examples, annotation, bound.cost, np.ones(len(X)))
    return Objective.of(batch, bound.features, LOSSES[loss], REGULARIZATION, sample_weight=weight if weighted else None)


class Truth:
    """Slack, objective and the cost of predictions at given weights, by enumeration."""

    def __init__(self, table, weights, weighted=False, rho=1.0):
        X, Y, weight = table
        share = weight / weight.sum() if weighted else np.full(len(X), 1 / len(X))
        own, bias, pairs = weights[:16].reshape(4, 4), weights[16:20], weights[20:]
        both = np.array([[s[l] * s[m] for l in range(4) for m in range(l + 1, 4)] for s in SETS])
        scores = (X @ own + bias) @ SETS.T + both @ pairs
        costs = (SETS[None] != Y[:, None]).sum(axis=2)
        annotated = (scores * (costs == 0)).sum(axis=1)
        self.slack = share @ ((scores + costs).max(axis=1) - annotated)
        self.annotated = share @ np.maximum(annotated, 0.0)
        self.objective = 0.5 * REGULARIZATION * weights @ weights + self.slack
        # The worst prediction with rho of the best score.
        best = scores.max(axis=1, keepdims=True)
        allowed = scores >= np.where(best > 0, rho * best, best) - 1e-12
        self.risk = share @ np.where(allowed, costs, 0.0).max(axis=1)
        self.n_allowed = allowed.sum(axis=1).mean()


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_hold_the_truth(table, rho, weighted):
    objective = objective_of(table, RhoApproximate(rho), weighted=weighted)
    result = BlockFrankWolfe(tolerance=1e-3, max_iterations=300).minimize(objective)
    assert result.guarantee is (Guarantee.EXACT if rho == 1.0 else Guarantee.UNDER)
    assert result.certified == (rho == 1.0)
    rng = np.random.default_rng(0)
    elsewhere = [scale * rng.normal(size=result.weights.size) for scale in (0.04, 0.4, 4.0, 40.0) for _ in range(5)]
    # Single labels of high score, all of them within rho of the best: the annotated one is the best that is found.
    singles = 4 * np.concatenate([np.eye(4).ravel(), np.full(4, 100.0), np.full(6, -300.0)])
    n_allowed = []
    for weights in [*elsewhere, singles, result.weights]:
        truth, intervals = Truth(table, weights, weighted, rho), Shortfall.at(objective, weights).intervals(rho)
        rounding = 1e-12 * (1.0 + truth.slack)
        assert intervals.rho == rho
        assert intervals.slack[0] - rounding <= truth.slack <= intervals.slack[1] + rounding
        assert intervals.objective[0] - rounding <= truth.objective <= intervals.objective[1] + rounding
        bound = truth.slack + (1.0 - rho) * truth.annotated
        assert intervals.risk[0] - rounding <= bound <= intervals.risk[1] + rounding
        assert truth.risk <= intervals.risk[1] + rounding
        n_allowed.append(truth.n_allowed)
    if rho == 1.0:
        assert intervals.slack[0] == intervals.slack[1] == pytest.approx(truth.slack)
        assert result.shortfall is None
        with pytest.raises(ValueError, match=r"There are such intervals for the hinge loss on full annotations"):
            result.intervals(rho)
    else:
        assert result.intervals(rho) == intervals
        assert truth.slack > intervals.slack[0] + 1e-4  # too little was found indeed
        assert max(n_allowed) > 1.0  # predictions that are not the best were among those
        assert rho > 0.8 or truth.n_allowed > 1.0  # at the trained weights too; within 5 % there may be none of 40 rows
        assert result.value >= intervals.objective[0] - 1e-12


def test_a_promise_that_is_too_good_is_broken(table):
    """The intervals of a larger share than the oracle finds need not hold the truth: rho matters."""
    objective = objective_of(table, RhoApproximate(0.5))
    result = BlockFrankWolfe(tolerance=1e-3).minimize(objective)
    truth = Truth(table, result.weights)
    assert truth.objective > result.intervals(0.99).objective[1]
    widths = [np.diff(result.intervals(rho).objective)[0] for rho in (1.0, 0.9, 0.7, 0.5)]
    assert widths[0] == 0.0
    assert widths == sorted(widths)


def test_intervals_reach_the_estimators(table):
    X, Y, weight = table
    model = MultilabelClassifier(structure=Pairwise(RhoApproximate(0.8)), regularization=REGULARIZATION)
    model.fit(X, Y, sample_weight=weight)
    truth, intervals = Truth(table, model.weights_, True, 0.8), model.shortfall_.intervals(0.8)
    assert intervals.objective[0] <= truth.objective <= intervals.objective[1]
    predicted = np.average((model.predict(X) != Y).sum(axis=1), weights=weight)
    assert predicted == pytest.approx(np.average(model.costs(X, Y), weights=weight))
    assert predicted <= min(intervals.risk[1], truth.risk)
    assert MultilabelClassifier().fit(X, Y).shortfall_ is None


def test_intervals_need_a_share():
    shortfall = Shortfall(0.1, 0.5, 0.2, 0.05)
    for rho in (0.0, -1.0, 1.5, np.nan):
        with pytest.raises(ValueError, match=r"rho is .*; it must be above 0 and at most 1"):
            shortfall.intervals(rho)
    halves = shortfall.intervals(0.5)
    assert halves.slack == (0.1, 0.6)
    assert halves.objective == pytest.approx((0.15, 0.65))
    assert halves.risk == pytest.approx((0.1, 0.7))


def test_other_losses_have_no_intervals(table):
    _, Y, _ = table
    hidden = np.where(np.arange(40)[:, None] < 5, -1, Y)
    partial = CCCP(max_iterations=3).minimize(objective_of(table, Greedy(), Y=hidden))
    assert partial.shortfall is None
    ramp = CCCP(max_iterations=3).minimize(objective_of(table, Greedy(), "ramp"))
    for result in (partial, ramp):
        assert not result.certified
        assert "not convex" in result.guarantee_text
        with pytest.raises(ValueError, match="There are such intervals for the hinge loss on full annotations"):
            result.intervals(0.9)


SOLVERS = [BlockFrankWolfe(), NSlack(), OneSlack()]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize("inference", [GraphCut(), LinearProgram()], ids=lambda inference: type(inference).__name__)
def test_relaxations_are_upper_bounds_with_certificates(table, inference, solver):
    objective = objective_of(table, inference)
    result = solver.minimize(objective)
    exact = objective_of(table, Exhaustive())
    truth = Truth(table, result.weights)
    assert exact.value(result.weights) == pytest.approx(truth.objective, rel=1e-9)
    assert result.guarantee is Guarantee.OVER
    assert result.certified
    assert result.value == pytest.approx(objective.value(result.weights), rel=1e-9)
    assert result.value >= truth.objective - 1e-9
    rng = np.random.default_rng(0)
    for _ in range(5):
        weights = 4 * np.concatenate([rng.normal(size=20), rng.normal(size=6) - 2.0])
        assert objective.value(weights) >= exact.value(weights) - 1e-9
    # The relaxation is loose elsewhere.
    frustrated = 4 * np.concatenate([np.eye(4).ravel(), np.full(4, 1.0), np.full(6, -2.0)])
    assert objective.value(frustrated) > exact.value(frustrated) + 0.3
    # The certificate: no weights have a relaxed objective below value - gap, so none that is trained much longer.
    longer = OneSlack(tolerance=1e-6, max_iterations=3000).minimize(objective_of(table, GraphCut()))
    assert longer.value >= result.value - result.gap - 1e-6
    assert result.value >= longer.value - 1e-6
    # Training makes the relaxation tight: at its minimum hardly anything is fractional.
    assert longer.value == pytest.approx(Truth(table, longer.weights).objective, abs=1e-5)
    # The true minimum lies below that of the relaxation.
    best = OneSlack(tolerance=1e-6, max_iterations=3000).minimize(exact)
    assert best.certified
    assert best.guarantee is Guarantee.EXACT
    assert best.value <= longer.value
    assert result.shortfall is None
    assert result.guarantee_text == (
        "The oracles returned upper bounds: the value is that of a relaxation, never below the true objective; the gap "
        "is a certificate: the minimum of the relaxation is at most so much lower."
    )


@pytest.mark.parametrize(
    "inference",
    [
        Greedy(),
        IteratedModes(),
        BeliefPropagation(),
        Combine((Greedy(), IteratedModes())),
    ],
    ids=lambda inference: type(inference).__name__,
)
def test_searches_are_lower_bounds_without_certificates(table, inference):
    objective = objective_of(table, inference)
    result = BlockFrankWolfe().minimize(objective)
    truth = Truth(table, result.weights)
    assert result.guarantee is Guarantee.UNDER
    assert not result.certified
    assert result.gap is not None
    assert objective.value(result.weights) <= truth.objective + 1e-12
    assert result.shortfall.slack <= truth.slack + 1e-12
    text = (
        "The oracles returned lower bounds: the true objective may be higher and the gap is an estimate; "
        "intervals(rho) says how much higher where every oracle found at least rho of its maximum."
    )
    if result.n_unconverged:
        text += f" The oracles of {result.n_unconverged} examples had not converged when they were last asked."
    assert result.guarantee_text == text


def test_searches_that_know_a_bound_have_certificates(table):
    result = BlockFrankWolfe().minimize(objective_of(table, LinearProgram(integral=True)))
    exact = BlockFrankWolfe(tolerance=1e-6).minimize(objective_of(table, Exhaustive()))
    truth = Truth(table, result.weights)
    assert result.guarantee is Guarantee.UNDER and result.certified
    assert 0.0 < result.excess < result.gap
    assert result.value <= truth.objective + 1e-12 <= result.value + result.excess + 2e-12
    assert truth.objective - exact.value <= result.gap + 1e-12
    assert "which the gap includes: it is a certificate" in result.guarantee_text


def test_slacks_found_are_never_negative(table):
    """The annotated output itself is always known, so an oracle that finds a worse one is not believed."""
    objective = objective_of(table, RhoApproximate(0.05))
    result = BlockFrankWolfe(max_iterations=50).minimize(objective)
    slacks, _ = objective.slacks(result.weights)
    assert slacks.min() >= 0.0
    assert result.shortfall.slack >= 0.0


def test_sums_on_cycles_are_estimates(table):
    X, Y, _ = table
    estimated = LBFGS().minimize(objective_of(table, BeliefPropagation(), "crf"))
    assert estimated.guarantee is Guarantee.ESTIMATE
    assert not estimated.certified
    assert estimated.guarantee_text == "The oracles returned estimates: neither the value nor the gap is proven."
    exact = LBFGS().minimize(objective_of(table, Exhaustive(), "crf"))
    assert exact.guarantee is Guarantee.EXACT
    assert exact.certified
    assert estimated.value == pytest.approx(exact.value, rel=0.1)
    assert estimated.value != pytest.approx(exact.value, rel=1e-6)
    forest = [(x[:, None], [(0, 1), (1, 2), (1, 3)]) for x in X]
    labeler = GraphLabeler(loss="crf", inference=BeliefPropagation(), regularization=0.1).fit(forest, Y)
    assert labeler.guarantee_ is Guarantee.EXACT
    assert labeler.gap_is_certificate_
    cycle = [(x[:, None], [(0, 1), (1, 2), (2, 3), (3, 0)]) for x in X]
    labeler = GraphLabeler(loss="crf", inference=BeliefPropagation(), regularization=0.1).fit(cycle, Y)
    assert labeler.guarantee_ is Guarantee.ESTIMATE
    assert not labeler.gap_is_certificate_


def test_a_mixture_of_bounds_is_an_estimate(table):
    """Partial annotations take a maximum away: too little of it makes the objective too large."""
    _, Y, _ = table
    hidden = np.where(np.arange(40)[:, None] < 20, -1, Y)
    for inference, guarantees in ((Greedy(), {Guarantee.ESTIMATE}), (GraphCut(), {Guarantee.ESTIMATE, Guarantee.OVER})):
        result = CCCP(max_iterations=2).minimize(objective_of(table, inference, Y=hidden))
        assert result.guarantee in guarantees
        assert not result.certified
        assert "not convex" in result.guarantee_text


def test_words_say_what_is_known():
    words = {
        (guarantee, convex, gap): in_words(guarantee, convex, gap)
        for guarantee in Guarantee
        for convex in (True, False)
        for gap in (0.1, None)
    }
    for (guarantee, convex, gap), text in words.items():
        assert text.endswith(".")
        certified = convex and gap is not None and guarantee.bounds_from_above
        assert ("certificate" in text) == certified
        assert ("not convex" in text) == (not convex)
    assert words[Guarantee.EXACT, True, 0.1].startswith("The oracles were exact; the gap is a certificate")
    assert words[Guarantee.EXACT, True, None] == ("The oracles were exact; this solver has no bound on the minimum.")
    assert words[Guarantee.OVER, True, None].endswith("this solver has no bound on the minimum.")


def test_either_side_of_a_loss_may_not_have_converged():
    tally = Tally()
    tally.note(Answered(5, Guarantee.ESTIMATE, 3, None))
    tally.note(Answered(5, Guarantee.EXACT, 0, 0.0), negative=True)
    assert tally.n_unconverged == 3
    tally.note(Answered(5, Guarantee.ESTIMATE, 0, None))
    assert tally.n_unconverged == 0


@pytest.mark.filterwarnings("ignore:Training stopped early")
def test_hidden_nodes_on_cycles_are_reported():
    """The objective is not convex; beyond that its value is an estimate, and messages are still on their way."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 4, 2)) for _ in range(4)]
    Y = [np.where(x[:, :, 0] > 0.0, "a", "b").astype(object) for x in X]
    for y in Y:
        y[1, 1] = None
    for inference, said in (
        (BeliefPropagation(max_iterations=1), "estimates: the value is one too. The oracles of 4 examples had not"),
        (BeliefPropagation(), "no bound on the minimum. The oracles returned estimates: the value is one too."),
        (None, "the value is that of the weights, and there is no bound on the minimum."),
    ):
        model = GraphLabeler(loss="marginal", inference=inference, max_iterations=3).fit(X, Y)
        assert said in model.guarantee_text_


def test_a_solver_without_bounds_says_so(table):
    result = Subgradient(max_iterations=5).minimize(objective_of(table, Exhaustive()))
    assert result.gap is None
    assert not result.certified
    assert result.guarantee_text.endswith("this solver has no bound on the minimum.")


def test_the_cost_may_be_a_share(table):
    """What is found is a share of score + cost: with costs that are normalised the intervals hold too."""
    X, Y, _ = table
    cost = Hamming(normalized=True)
    settings = {"cost": cost, "regularization": 4 * REGULARIZATION, "solver": BlockFrankWolfe(tolerance=0.01)}
    model = MultilabelClassifier(structure=Pairwise(RhoApproximate(0.7)), **settings).fit(X, Y)
    bound, examples, annotation = MultilabelTask(Pairwise(Exhaustive()), cost=cost).bind(X, Y)
    batch = Batch(examples, annotation, bound.cost, np.ones(len(X)))
    truth = Objective.of(batch, bound.features, LOSSES["hinge"], 4 * REGULARIZATION).value(model.weights_)
    low, high = model.shortfall_.intervals(0.7).objective
    assert low < truth <= high


def test_weak_searches_on_partial_annotations_never_undercut_the_reward():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 4, 2)) for _ in range(30)]
    Y = [(x[..., 0] > 0).astype(int) for x in X]
    some = [np.where(rng.random(y.shape) < 0.4, -1, y) for y in Y]
    for inference in (Greedy(), Combine((Greedy(), BeliefPropagation(max_iterations=1)))):
        model = GraphLabeler(inference=inference, regularization=1e-2).fit(X, some)
        assert model.objective_ > 0
        assert model.score(X, Y) > 0.9


def test_planes_of_all_examples_are_few_near_the_best_weights():
    """A third of the labels are wrong; planes at the minima of those before took more than twice as many calls."""
    rng = np.random.default_rng(0)
    labels = [np.kron(rng.integers(0, 4, (3, 3)), np.ones((6, 6), dtype=int)) for _ in range(5)]
    pictures = [np.eye(4)[y] + rng.normal(size=(18, 18, 4)) for y in labels]
    labels = [np.where(rng.random(y.shape) < 0.3, rng.integers(0, 4, y.shape), y) for y in labels]
    settings = {"loss": "hinge", "tables": "potts", "inference": GraphCut(expansion=True)}
    labeler = GraphLabeler(solver=OneSlack(tolerance=1e-2), regularization=1e-4, **settings).fit(pictures, labels)
    assert labeler.gap_ <= 1e-2 * labeler.objective_
    assert labeler.history_[-1].oracle_calls <= 60 * len(pictures)


def test_one_slack_ends_where_its_program_cannot_see_further():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(100, 1, (100, 2)), (rng.random((100, 1)) < 0.5).astype(int)
    model = MultilabelClassifier(solver=OneSlack(tolerance=1e-14), regularization=0.1).fit(X, Y)
    assert model.n_iter_ < 100
    assert model.gap_ <= 1e-12
    model = MultilabelClassifier(solver=OneSlack(tolerance=0.0), regularization=1e-5).fit(X, Y)
    assert "as precisely as they are known" in model.stop_reason_
    assert model.n_iter_ < 100
    assert model.gap_ < 1e-3 * model.objective_
