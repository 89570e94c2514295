"""Laws of costs: the affine form equals the cost on all pairs, in training and in expectation."""

import numpy as np
import pytest
from cases import CASES
from test_spaces import agrees, part_places

from maximand.decoding import Calibrated, MaxScore
from maximand.oracles import Entropic, Euclidean, Soft

PAIRS = [(case, cost) for case in CASES for cost in case.costs]


@pytest.mark.parametrize(("case", "cost"), PAIRS, ids=[f"{case.name}: {cost}" for case, cost in PAIRS])
class TestCosts:
    def test_linear_equals_cost_on_all_pairs(self, case, cost):
        for _, one in case.singles():
            outputs = one.outputs()
            for true in outputs:
                vector, constant = cost.linear(one, true)
                for guess in outputs:
                    expected = cost(one.decode(true)[0], one.decode(guess)[0])
                    np.testing.assert_allclose(vector @ guess + constant[0], expected, atol=1e-12)

    def test_linear_is_an_expectation(self, case, cost):
        rng = np.random.default_rng(0)
        for _, one in case.singles():
            outputs = one.outputs()
            chances = rng.dirichlet(np.ones(len(outputs)))
            vector, constant = cost.linear(one, chances @ outputs)
            for guess in outputs:
                expected = sum(
                    chance * cost(one.decode(true)[0], one.decode(guess)[0])
                    for chance, true in zip(chances, outputs, strict=True)
                )
                np.testing.assert_allclose(vector @ guess + constant[0], expected, atol=1e-12)

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
