"""Laws of trust: inference that is wrong is found out, and no certificate survives it."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from cases import ANSWERED, CASES, NAMES, SOLVERS, valid

from maximand.losses import AUGMENTED_CRF, CRF, ENTROPIC, EUCLIDEAN, HINGE, LOSSES, Loss
from maximand.solvers import Iterate, OneSlack, Result, Solver, automatic
from maximand.spaces import Choice
from maximand.support import Guarantee
from thinning import cover

WRONG = 0  # the example that is answered by its worst output
# Not bridge, since Y° leaves out what is annotated, nor slack rescaling, which is never below zero by construction, nor
# the squared loss, which asks no space: there the annotation says nothing of what was found.
PAIRS = cover(
    [pair for pair in ANSWERED if pair[1] in (HINGE, CRF, AUGMENTED_CRF, EUCLIDEAN, ENTROPIC)],
    lambda pair: {pair[0].name, pair[1].name},
)
EVERY_PAIR = pytest.mark.parametrize(("case", "loss"), PAIRS, ids=[f"{loss.name}-{case.name}" for case, loss in PAIRS])


def make_wrong(space, loss, monkeypatch):
    """Let the method that the loss asks find the worst output of one example instead of its best."""
    kind = type(space)
    name = "project" if loss in (EUCLIDEAN, ENTROPIC) else "argmax" if loss is HINGE else "marginals"
    right = getattr(kind, name)

    def wrong(self, theta, *arguments):
        found = right(self, theta, *arguments)
        if self.n_examples < space.n_examples:
            return found
        turned = right(self, -theta, *arguments)
        values = -turned.value
        if name == "project":
            values -= 2.0 * self.layout.dot(np.ones(self.n_parts), arguments[0].terms(turned.mean))
        chosen = np.arange(self.n_examples) == WRONG
        mean = self.layout.choose(found.mean, turned.mean, chosen)
        return replace(found, value=np.where(chosen, values, found.value), mean=mean)

    monkeypatch.setattr(kind, name, wrong)


def briefly(solver):
    """The same solver with few iterations, and so the one inside of it."""
    inside = {"inner": briefly(solver.inner)} if isinstance(getattr(solver, "inner", None), Solver) else {}
    return replace(solver, max_iterations=5, **inside)


@EVERY_PAIR
def test_an_oracle_that_is_wrong_is_found_out_and_no_certificate_survives_it(case, loss, monkeypatch):
    objective = case.objective(loss, regularization=1e-3)
    solvers = {name: solver for name, solver in SOLVERS.items() if valid(solver, objective)}
    right = automatic(objective).minimize(objective)
    assert right.certified and "At example" not in right.guarantee_text
    start = Result(3.0 * right.weights, np.inf, None, False, False, "")  # where mistakes are far below
    make_wrong(case.space, loss, monkeypatch)
    for name, solver in solvers.items():
        objective = case.objective(loss, regularization=1e-3)
        with pytest.warns(RuntimeWarning, match=f"at example {WRONG} it finds less .* check_oracle"):
            result = briefly(solver).minimize(objective, start=start)
        assert not result.certified, name
        assert result.guarantee is Guarantee.ESTIMATE, name
        assert f"At example {WRONG} inference found less" in result.guarantee_text, name


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_losses_that_cannot_be_negative_are_known(loss):
    assert loss.nonnegative
    if loss.reward is not None:
        assert not Loss("turned", loss.reward, loss.penalty).nonnegative or loss.penalty == loss.reward


def test_a_loss_that_cannot_be_negative_and_is_is_found_out_on_partial_annotations(monkeypatch):
    """No example is full, so that no score of an annotation is known: the mean of penalty less reward gives it away."""
    case = CASES[NAMES.index("choice")]
    partial = replace(case.full, codes=np.full(7, -2), candidates=np.array([[True, True, False]]))
    weights = 10.0 * case.weights(np.random.default_rng(0))
    assert case.objective(HINGE, partial).value(weights) > 0
    argmax = Choice.argmax

    def worst_of_all(self, theta, state=None):
        if np.isinf(theta).any():
            return argmax(self, theta)  # of those that agree
        found = argmax(self, -theta)
        return replace(found, value=-found.value)

    monkeypatch.setattr(Choice, "argmax", worst_of_all)
    objective = case.objective(HINGE, partial)
    with pytest.warns(RuntimeWarning, match="Inference is wrong"):
        objective.value(weights)
    assert objective.tally.guarantee is Guarantee.ESTIMATE


@pytest.mark.parametrize(("value", "bound"), [(-5.0, -6.0), (1.0, 2.0), (np.nan, 0.0), (np.inf, 0.0), (1.0, np.nan)])
def test_numbers_that_cannot_be_certify_nothing(value, bound):
    @dataclass(frozen=True, kw_only=True)
    class Astray(OneSlack):
        def iterate(self, objective, state):
            yield Iterate(np.zeros(objective.n_weights), value, bound)
            return "there is no more"

    result = Astray().minimize(CASES[NAMES.index("choice")].objective(HINGE))
    assert not result.certified
    assert "certificate" not in result.guarantee_text
