"""Laws of costs: the affine form equals the cost on all pairs, in training and in expectation."""

import numpy as np
import pytest
from cases import CASES
from enumeration import agrees, part_places

from maximand import OracleTask, StructuredPredictor
from maximand.costs import (
    Absolute,
    CostMatrix,
    DifferentParts,
    DiscountedGain,
    Hamming,
    MissedTop,
    PrecisionAt,
    Squared,
    Weighted,
    ZeroOne,
)
from maximand.decoding import Calibrated, MaxScore
from maximand.inference import Structure
from maximand.oracles import Entropic, Euclidean, Soft
from maximand.spaces import Chain, Choice, Graph, Labels, Matching, OracleSpace, Parts, Product, Ranking

PAIRS = [(case, cost) for case in CASES for cost in case.costs]


def costs_of_all_pairs(one, cost):
    """The cost of each output of a batch of one (column) where another is true (row)."""
    decoded = [one.decode(row)[0] for row in one.outputs()]
    return np.array([[cost(true, guess) for guess in decoded] for true in decoded])


@pytest.mark.parametrize(("case", "cost"), PAIRS, ids=[f"{case.name}: {cost}" for case, cost in PAIRS])
class TestCosts:
    def test_linear_equals_cost_on_all_pairs(self, case, cost):
        for _, one in case.singles():
            outputs = one.outputs()
            for true, expected in zip(outputs, costs_of_all_pairs(one, cost), strict=True):
                vector, constant = cost.linear(one, true)
                np.testing.assert_allclose(outputs @ vector + constant[0], expected, atol=1e-12)

    def test_linear_is_an_expectation(self, case, cost):
        rng = np.random.default_rng(0)
        for _, one in case.singles():
            outputs = one.outputs()
            chances = rng.dirichlet(np.ones(len(outputs)))
            vector, constant = cost.linear(one, chances @ outputs)
            expected = chances @ costs_of_all_pairs(one, cost)
            np.testing.assert_allclose(outputs @ vector + constant[0], expected, atol=1e-12)

    def test_cost_is_never_negative_and_zero_on_agreement(self, case, cost):
        for annotation in (case.full, case.partial, case.unknown):
            vector, constant = cost.against(case.space, annotation)
            for i, (examples, one) in enumerate(case.singles()):
                outputs = one.outputs()
                values = outputs @ vector[part_places(case.space, examples)] + constant[i]
                assert (values >= -1e-12).all()
                np.testing.assert_allclose(values[agrees(annotation)(one, outputs, examples)], 0.0, atol=1e-12)

    def test_partial_annotation_of_everything_is_full_annotation(self, case, cost):
        if getattr(case.full, "weights", None) is not None:
            pytest.skip("weights belong to annotations, not to means")
        vector, constant = cost.against(case.space, case.full)
        same, offset = cost.linear(case.space, case.space.encode(case.full))
        np.testing.assert_allclose(vector, same)
        np.testing.assert_allclose(constant, offset)

    def test_calibrated_decoding_has_least_expected_cost(self, case, cost):
        theta = case.theta(np.random.default_rng(5))
        for layer in (Soft(), Euclidean(), Entropic(), *([Soft(temperature=1.0)] if case.soft else [])):
            chosen = Calibrated(cost, layer)(case.space, theta)
            for examples, one in case.singles():
                parts = part_places(case.space, examples)
                vector, _ = cost.linear(one, layer(one, theta[parts]).mean)
                best = (one.outputs() @ vector).min()
                np.testing.assert_allclose(chosen[parts] @ vector, best, atol=1e-12)


def test_max_score_decodes_the_argmax():
    for case in CASES:
        theta = case.theta(np.random.default_rng(2))
        np.testing.assert_array_equal(MaxScore()(case.space, theta), case.space.argmax(theta).mean)


COUNTED = [
    Ranking(1, 3),
    Chain(np.array([3]), 2),
    Graph([Structure.of([2, 2, 2], [(0, 1), (1, 2)], [0, 0], 1)]),
    Product(Choice(1, 2), Ranking(1, 2)),
]


@pytest.mark.parametrize("space", COUNTED, ids=lambda space: type(space).__name__)
def test_parts_that_are_counts_do_not_just_differ(space):
    with pytest.raises(
        ValueError, match=r"DifferentParts\(\) is for parts that occur once or not at all, .* use Hamming"
    ):
        DifferentParts().linear(space, space.outputs()[0])


def test_edges_with_tables_of_their_own_differ_or_not():
    space = Graph([Structure.of([2, 2, 2], [(0, 1), (1, 2)])])
    outputs = space.outputs()
    for true in outputs:
        vector, constant = DifferentParts().linear(space, true)
        np.testing.assert_allclose(outputs @ vector + constant, np.abs(outputs - true).sum(axis=1))


LABEL_COSTS = [
    Hamming(), Hamming(normalized=True), ZeroOne(), CostMatrix(1 - np.eye(2)), Absolute(), Squared(),
    Weighted(Hamming(), [1.0, 2.0]), MissedTop(1), DiscountedGain(), PrecisionAt(1),
]  # fmt: skip


@pytest.mark.parametrize("cost", LABEL_COSTS, ids=str)
def test_costs_of_labels_refuse_outputs_without(cost):
    def argmax(theta, instance):
        return (theta > 0).astype(float)

    space, annotation = OracleSpace(argmax, [3], [3]), Parts(np.array([0.0, 1.0, 1.0]), np.array([0, 3]))
    name = type(cost).__name__
    with pytest.raises(
        ValueError, match=rf"{name} compares labels, .* OracleSpace .* no labels; use DifferentParts\(\)"
    ):
        cost.linear(space, np.zeros(3))
    with pytest.raises(ValueError, match=rf"{name} compares labels"):
        cost.against(space, annotation)
    with pytest.raises(ValueError, match=rf"{name} compares labels"):
        cost.augmented(np.zeros(3), space, annotation, 1.0)
    with pytest.raises(ValueError, match=rf"{name} compares labels, .* use DifferentParts"):
        StructuredPredictor(OracleTask(argmax, cost=cost)).fit([np.eye(3)], [np.array([0, 1, 1])])
    with pytest.raises(
        ValueError, match=rf"{name} .* Product are tuples; give Sum\(\(...\)\) a cost for each of its 2"
    ):
        cost.linear(Product(Choice(1, 2), Ranking(1, 2)), np.zeros(4))


def test_annotated_counts_are_refused():
    space = OracleSpace(lambda theta, instance: np.zeros(3), [3], [3])
    with pytest.raises(ValueError, match=r"and one occurs 2 times in an annotated output; give a cost of your own"):
        DifferentParts().against(space, Parts(np.array([0.0, 2.0, 1.0]), np.array([0, 3])))


@pytest.mark.parametrize("gains", [None, [5, 3, 1]])
@pytest.mark.parametrize("discounts", [None, [4, 3, 2, 1]])
def test_discounted_gain_is_one_minus_ndcg_of_the_first_positions(gains, discounts):
    k, top = 4, 2
    g = np.arange(k)[::-1] if gains is None else np.array([*gains, 0])
    d = 1 / np.log2(2 + np.arange(k)) if discounts is None else np.array(discounts, dtype=float)
    d = np.where(np.arange(k) < top, d, 0.0)
    rng = np.random.default_rng(0)
    for _ in range(10):
        true, guess = rng.permutation(k), rng.permutation(k)
        expected = 1 - (g[true] * d[guess]).sum() / (g * d).sum()
        assert DiscountedGain(gains, discounts, top)(true, guess) == pytest.approx(expected)


@pytest.mark.parametrize("cost", [MissedTop, PrecisionAt, lambda top: DiscountedGain(top=top)])
@pytest.mark.parametrize("top", [0, -1, 1.5, "2"])
def test_there_is_a_first_place(cost, top):
    with pytest.raises(ValueError, match=f"top is {top!r}; it must be a whole number, at least 1"):
        cost(top)


def test_a_layer_without_marginals_is_named():
    with pytest.raises(ValueError, match=r"The layer Soft\(temperature=1\) of Calibrated needs .* layer=Euclidean\(\)"):
        Calibrated(Hamming())(Matching(1, 3), np.zeros(9))
    labels = Labels(np.arange(3), np.array([0, 3]), 3)
    assert Calibrated(Hamming(), Euclidean())(Matching(1, 3), Matching(1, 3).encode(labels)).sum() == 3.0
