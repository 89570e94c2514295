"""What a space declares that it can do is what works, and what a loss needs is what it asks for."""

import numpy as np
import pytest
from cases import CASES, NAMES

from maximand.capabilities import NOTHING, USUAL, WORDS, Can
from maximand.costs import Hamming
from maximand.inference import BeliefPropagation, Exhaustive, GraphCut, Greedy, Structure, Tree
from maximand.inference.choosing import MaximaAndSums
from maximand.losses import LOSSES, Loss
from maximand.oracles import Over, Soft, Target
from maximand.spaces import Chain, Choice, Graph, Labels, Matching, Product, Subset

QUESTIONS = {
    Can.MARGINALS: lambda case, theta: case.space.marginals(theta),
    Can.OTHER: lambda case, theta: case.space.argmax_other(theta, case.full),
    Can.PROJECTIONS: lambda case, theta: case.space.project(theta),
    Can.MIXED: lambda case, theta: case.space.mixed(theta, (0.5, 1.0)),
}


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_space_can_what_it_says(case):
    theta = case.theta(np.random.default_rng(0))
    for flag in QUESTIONS:
        if flag in case.space.can:
            assert np.isfinite(QUESTIONS[flag](case, theta).mean).all()
        else:
            with pytest.raises(ValueError, match=f"has no {flag.words}; use"):
                QUESTIONS[flag](case, theta)
    assert (Can.K_BEST in case.space.can) == hasattr(case.space, "k_best")


@pytest.mark.parametrize("case", CASES, ids=NAMES)
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_a_loss_is_refused_where_the_space_cannot_answer_it(case, loss):
    missing = loss.needs & ~case.space.can
    if not missing:
        loss.check(case.space)
        return
    with pytest.raises(ValueError, match=f"has no {missing.words}; use"):
        case.objective(loss, case.partial)


def test_a_product_can_what_all_factors_can():
    big = Product(Subset(2, 10), Subset(2, 10))
    assert Can.LISTS not in big.can and Can.LISTS in big.factors[0].can
    assert Can.MARGINALS not in Product(Choice(2, 3), Matching(2, 3)).can
    assert Product(Choice(2, 3), Chain(np.array([1, 2]), 2)).can == USUAL | Can.MARGINALS | Can.MIXED | Can.LISTS
    assert Product(Choice(2, 3), Matching(2, 3)).can == USUAL | Can.DIRECT_PROJECTIONS | Can.LISTS


@pytest.mark.parametrize(
    ("inference", "can"),
    [
        (Tree(), Can.MARGINALS | Can.MIXED), (Exhaustive(), Can.MARGINALS | Can.MIXED),
        (BeliefPropagation(), Can.MARGINALS | Can.MIXED),
        (Greedy(), NOTHING), (GraphCut(), NOTHING),
        (MaximaAndSums(GraphCut(), BeliefPropagation()), Can.MARGINALS | Can.MIXED),
    ],
    ids=lambda value: repr(value),
)  # fmt: skip
def test_a_graph_can_what_its_inference_can(inference, can):
    space = Graph([Structure.of([2, 2], [(0, 1)])], inference)
    assert space.can & (Can.MARGINALS | Can.MIXED | Can.HIDDEN) == can  # no node always is hidden
    hidden = Graph([Structure.of([2, 2], [(0, 1)])], inference, np.array([False, True]))
    assert hidden.can & (Can.MARGINALS | Can.MIXED | Can.HIDDEN) == can | Can.HIDDEN
    assert hidden.take(np.array([0])).can == hidden.can


def test_the_refusal_of_two_temperatures_names_who_has_them():
    able = sorted({type(case.space).__name__ for case in CASES if Can.MIXED in case.space.can} - {"Product"})
    with pytest.raises(ValueError, match=f"a space that has them: {', '.join(able[:-1])} or {able[-1]}\\.$"):
        Matching(2, 3).require(Can.MIXED)


def test_temperatures_are_a_number_or_a_pair():
    space = Graph([Structure.of([2, 3], [(0, 1)])], BeliefPropagation(), np.array([False, True]))
    theta = np.random.default_rng(0).normal(size=space.n_parts)
    mixed = Soft(temperature=(0.0, 1.0))
    assert not mixed.smooth and not mixed.polyhedral and mixed.needs == Can.MIXED
    inside = np.logaddexp.reduce(space.nodes(theta)[1] + space.tables(theta)[0, :2], axis=1)
    np.testing.assert_allclose(mixed(space, theta).value, [(space.nodes(theta)[0, :2] + inside).max()])
    same = Soft(temperature=(0.7, 0.7))
    assert same.smooth and same.needs == Can.MARGINALS
    np.testing.assert_allclose(same(space, theta).value, Soft(temperature=0.7)(space, theta).value)
    zero = Soft(temperature=(0.0, 0.0))
    assert zero.polyhedral and zero.needs == NOTHING
    np.testing.assert_allclose(zero(space, theta).value, space.argmax(theta).value)
    np.testing.assert_allclose(mixed(space.using(Tree()), theta).value, mixed(space, theta).value)
    with pytest.raises(ValueError, match=r"Greedy has no marginals at two temperatures; use Tree\(\)"):
        mixed(space.using(Greedy()), theta)
    with pytest.raises(ValueError, match="Matching has no marginals at two temperatures; use one temperature"):
        mixed(Matching(2, 3), np.zeros(18))


@pytest.mark.parametrize("temperatures", [(0.0, 1.0), (1.0, 0.5), (0.7, 0.7), (0.0, 0.0)])
def test_what_contradicts_has_two_temperatures(temperatures):
    """Over Y°, the soft maximum over outputs of that over what is hidden; two visible nodes, each with a hidden one."""
    structure = Structure.of([2, 3, 2, 2], [(0, 2), (1, 3)])
    space = Graph([structure], BeliefPropagation(), np.array([False, False, True, True]))
    target = Target(space, Labels(np.array([1, 2, -1, -1]), space.offsets, 3), Hamming())
    theta, of_outputs = np.random.default_rng(3).normal(size=space.n_parts), {}
    oracle = Soft(Over.OTHER, cost=0.5, temperature=temperatures)
    for psi in space.outputs():
        y = tuple(space.decode(psi)[0][:2])
        of_outputs.setdefault(y, []).append(theta @ psi + 0.5 * np.sum(np.not_equal(y, (1, 2))))
    del of_outputs[1, 2]
    outputs, hidden = temperatures
    value = soft_maximum([soft_maximum(scores, hidden) for scores in of_outputs.values()], outputs)
    found = oracle(space, theta, target)
    np.testing.assert_allclose(found.value, [value])
    step, direction = 1e-6, np.random.default_rng(4).normal(size=space.n_parts)
    ahead, behind = (oracle(space, theta + way * step * direction, target).value for way in (1, -1))
    np.testing.assert_allclose(direction @ found.mean, (ahead - behind)[0] / (2 * step), atol=1e-6)


def soft_maximum(scores, temperature):
    return temperature * np.logaddexp.reduce(np.array(scores) / temperature) if temperature else max(scores)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_loss_is_a_function_of_scores(case):
    rng = np.random.default_rng(1)
    theta, direction = case.theta(rng), rng.normal(size=case.space.n_parts)
    target = Target(case.space, case.full, case.costs[0])
    for loss in LOSSES.values():
        if loss.needs & ~case.space.can or loss.penalty.smooth is False:
            continue
        found, step = loss(case.space, theta, target), 1e-5
        ahead, behind = (loss(case.space, theta + way * step * direction, target).value for way in (1, -1))
        np.testing.assert_allclose(
            case.space.layout.dot(direction, found.mean), (ahead - behind) / (2 * step), atol=1e-5 * np.abs(theta).sum()
        )
        np.testing.assert_allclose(
            found.value, loss.penalty(case.space, theta, target).value - loss.reward(case.space, theta, target).value
        )


def test_every_flag_has_words():
    assert set(WORDS) == set(Can)
    assert Loss("own", Soft(Over.OTHER, temperature=1.0), None).needs == Can.MARGINALS | Can.OTHER
