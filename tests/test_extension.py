"""What users write themselves works like what the library has: the examples of docs/extending.md, and beyond.

The first space of the page is enrolled in the laws; here it meets every solver.
"""

import pickle

import numpy as np
import pytest

from maximand.engine import Engine
from maximand.features import PartFeatures
from maximand.losses import LOSSES
from maximand.objective import Objective
from maximand.solvers import CCCP, LBFGS, BlockFrankWolfe, NSlack, OneSlack, Polyak, Subgradient
from maximand.solvers.snapshots import snapshot
from maximand.spaces import Choice, Parts, Product
from maximand.states import Numbers, Several
from pages import blocks, run, sections

SPACE = ("A space", "A feature map", "A cost", "All losses, all solvers")
PROGRAM = ("A program for each example",)
NETWORK = ("An engine", "Scores from a network")
SOLVERS = [
    OneSlack(tolerance=1e-5),
    NSlack(tolerance=1e-5),
    BlockFrankWolfe(tolerance=1e-5, averaging=True),
    LBFGS(tolerance=1e-5),
    Subgradient(steps=Polyak(), batch_size=None, averaging=False, max_iterations=300),
    CCCP(inner=OneSlack(tolerance=1e-5), tolerance=1e-5),
]
VALID = {
    "hinge": ["OneSlack", "NSlack", "BlockFrankWolfe", "Subgradient", "CCCP"],
    "ramp": ["Subgradient", "CCCP"],
    "crf": ["OneSlack", "LBFGS", "Subgradient", "CCCP"],
    "euclidean": ["OneSlack", "LBFGS", "Subgradient", "CCCP"],
}


def valid(objective):
    for solver in SOLVERS:
        try:
            solver.check(objective)
        except ValueError:
            continue
        yield solver


def minima(batch, features, loss):
    """The results of all solvers that do not refuse, by name."""
    found = {}
    for solver in valid(Objective.of(batch, features, LOSSES[loss], 0.1)):
        found[type(solver).__name__] = solver.minimize(Objective.of(batch, features, LOSSES[loss], 0.1))
    return found


def check_minima(found, loss):
    assert list(found) == VALID[loss]
    if loss == "ramp":  # each ends in a minimum of its own, below where it began
        assert all(result.value < result.history[0].value for result in found.values())
        return
    least = min(result.value for result in found.values())
    for name, result in found.items():
        if name == "Subgradient":
            np.testing.assert_allclose(result.value, least, rtol=1e-2)
        else:
            np.testing.assert_allclose(result.value, least, rtol=2e-5)
        assert not result.certified or result.value - result.gap <= least + 1e-9


@pytest.fixture(scope="module")
def texts():
    return run("extending.md", *SPACE)["texts"](np.random.default_rng(1), 8)


@pytest.fixture(scope="module")
def bookings():
    return run("extending.md", *PROGRAM)["bookings"](np.random.default_rng(1), 4), PartFeatures(3)


@pytest.mark.parametrize("loss", VALID)
def test_solvers_agree_on_a_space_with_three_kinds_of_parts(texts, loss):
    check_minima(minima(*texts, loss), loss)


def test_the_space_and_its_features_are_short():
    text = "".join(sections("extending.md")[heading] for heading in ("A space", "A feature map"))
    lines = [line for block in blocks(text, "python") for line in block.splitlines() if line.strip()]
    assert len(lines) < 120


@pytest.mark.parametrize("loss", ["hinge", "ramp", "euclidean"])
def test_solvers_agree_on_a_space_of_programs(bookings, loss):
    check_minima(minima(*bookings, loss), loss)


def test_programs_are_solved_again_from_their_basis(monkeypatch):
    """Answers with and without a state are the same; with one they take fewer steps, and none where nothing changed."""
    page = run("extending.md", *PROGRAM)
    steps, best = [], page["best_requests"]

    def counted(*arguments):
        found = best(*arguments)
        steps.append(found[2])
        return found

    monkeypatch.setitem(page, "best_requests", counted)
    rng = np.random.default_rng(0)
    begins = rng.integers(0, 30, size=(3, 60))
    space = page["Bookings"](np.stack([begins, begins + rng.integers(1, 9, size=(3, 60))], axis=2), n_rooms=3)
    theta = rng.normal(size=space.n_parts)
    first = space.argmax(theta)
    cold = sum(steps)
    steps.clear()
    np.testing.assert_array_equal(space.argmax(theta, first.state).mean, first.mean)
    assert sum(steps) == 0 < cold
    nearby = theta + 0.1 * rng.normal(size=theta.size)
    fresh = space.argmax(nearby)
    cold = sum(steps)
    steps.clear()
    np.testing.assert_array_equal(space.argmax(nearby, first.state).mean, fresh.mean)
    assert sum(steps) < cold


def test_the_shard_keeps_the_basis_of_each_program(bookings):
    batch, features = bookings
    objective = Objective.of(batch, features, LOSSES["hinge"], 0.1)
    saved = []
    solver = OneSlack(max_iterations=4, tolerance=0)
    whole = solver.minimize(objective, callback=lambda _, run: saved.append(pickle.dumps(snapshot(run))))
    state, _ = objective.states
    state, annotated = state.members
    assert isinstance(state, Numbers) and annotated is None
    hours = [int(spans.max()) for spans in batch.space.spans]
    sizes = [len(spans) + n for spans, n in zip(batch.space.spans, hours, strict=True)]
    assert np.diff(state.offsets).tolist() == sizes
    again = solver.minimize(Objective.of(batch, features, LOSSES["hinge"], 0.1), resume=pickle.loads(saved[1]))
    np.testing.assert_array_equal(again.weights, whole.weights)


def test_a_product_passes_states_on(bookings):
    batch, _ = bookings
    space = Product(Choice(batch.n_examples, 3), batch.space)
    theta = np.random.default_rng(0).normal(size=space.n_parts)
    found = space.argmax(theta)
    assert isinstance(found.state, Several) and found.state.members[0] is None
    np.testing.assert_array_equal(space.argmax(theta, found.state).mean, found.mean)


def test_what_is_forbidden_or_known_binds_programs(bookings):
    space = bookings[0].space.take(slice(0, 1))
    rng, outputs = np.random.default_rng(0), space.outputs()
    for _ in range(20):
        theta = np.where(rng.random(space.n_parts) < 0.2, -np.inf, rng.normal(size=space.n_parts))
        known = Parts(
            np.where(rng.random(theta.size) < 0.4, rng.integers(0, 2, theta.size), -1.0), np.array([0, theta.size])
        )
        agree = outputs[((known.psi < 0) | (outputs == known.psi)).all(axis=1)]
        scores = (agree * np.where(agree > 0, theta, 0.0)).sum(axis=1)
        found = space.argmax_given(theta, known)
        np.testing.assert_allclose(found.value, scores.max(initial=-np.inf), atol=1e-12)
        assert found.mean.any() <= (found.value[0] > -np.inf)


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_of_a_network_are_difference_quotients(loss):
    page, rng = run("extending.md", *NETWORK), np.random.default_rng(2)
    for _ in range(3):
        weights, direction = ([rng.normal(size=shape) for shape in ((4, 6), (6, 3), (3, 3))] for _ in range(2))
        quotient, slope = page["slopes"](LOSSES[loss], weights, direction)
        np.testing.assert_allclose(quotient, slope, rtol=1e-6, atol=1e-6)


def test_the_engine_of_the_page_has_all_that_the_protocol_names():
    page = run("extending.md", *NETWORK)
    assert all(hasattr(page["PostOffice"], name) for name in vars(Engine) if not name.startswith("_"))
    np.testing.assert_array_equal(*page["found"])
