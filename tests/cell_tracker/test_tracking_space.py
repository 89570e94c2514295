"""Sets of events: what holds of the programs behind them."""

import numpy as np
import pytest
from tracking_samples import movie

from maximand.inference import LinearProgram, Partitioning
from maximand.inference.highs import new_solver
from maximand.inference.partition import Rows
from maximand.spaces import Events as KnownEvents
from maximand.spaces import Incidence, Tracking
from maximand.support import Guarantee
from maximand.tasks.tracks.events import Candidates, in_window, slots_of
from maximand.tasks.tracks.movies import read_movies

NO_LINKS = np.empty((0, 2), dtype=np.int64)


def space_of(own, windows, candidates, inference=None):
    """The space of some windows of a movie, and the events of each."""
    found = [in_window(own, *window, candidates, NO_LINKS) for window in windows]
    pointers, slots, sizes = [np.zeros(1, dtype=np.int64)], [], []
    for window, events in zip(windows, found, strict=True):
        starts, numbers, size = slots_of(own, *window, events)
        pointers.append(starts[1:] + pointers[-1][-1])
        slots.append(numbers)
        sizes.append(size)
    offsets = np.cumsum([0, *(events.kinds.size for events in found)])
    incidence = Incidence(offsets, np.concatenate(pointers), np.concatenate(slots), np.array(sizes))
    return Tracking(incidence, inference), found


def cells(seed=0):
    return read_movies([movie(seed)[0]], None, None)[0]


def score_of(events, rng_key):
    """A score for each event that its ends and kind determine, whatever window it is in."""
    return np.sin(events.ends @ np.array([1.3, 2.7, 0.9, 3.1]) + 5.0 * events.kinds + rng_key)


@pytest.mark.parametrize("key", range(5))
def test_all_frames_together_are_the_same_as_pair_by_pair(key):
    own, candidates = cells(), Candidates(radius=40.0, n_neighbors=3)
    pairs, by_pair = space_of(own, [(f, f + 1) for f in range(own.first, own.last)], candidates)
    whole, (everything,) = space_of(own, [(own.first, own.last)], candidates)
    apart = pairs.argmax(np.concatenate([score_of(events, key) for events in by_pair]))
    together = whole.argmax(score_of(everything, key))
    assert together.value[0] == pytest.approx(apart.value.sum(), rel=1e-12)
    chosen = {tuple(row) for events, psi in zip(by_pair, pairs.decode(apart.mean), strict=True)
              for row in np.c_[events.kinds, events.ends][psi > 0].tolist()}  # fmt: skip
    assert chosen == {tuple(row) for row in np.c_[everything.kinds, everything.ends][together.mean > 0].tolist()}


def hard(seed, n_slots=30, n_events=160):
    """Events with three slots each, whose linear program seldom has a whole solution, and one for each slot alone."""
    rng = np.random.default_rng(seed)
    events = [sorted(rng.choice(n_slots, 3, replace=False).tolist()) for _ in range(n_events)]
    incidence = Incidence.of([events + [[slot] for slot in range(n_slots)]], [n_slots])
    return incidence, np.r_[rng.normal(size=n_events), np.full(n_slots, -0.5)]


@pytest.mark.parametrize("seed", range(4))
def test_a_relaxation_is_above_the_best_which_is_above_what_a_limit_leaves(seed):
    incidence, theta = hard(seed)
    exact = Tracking(incidence).argmax(theta)
    relaxed = Tracking(incidence, Partitioning(relaxed=True)).argmax(theta)
    hasty = Tracking(incidence, Partitioning(max_seconds=1e-9)).argmax(theta)
    assert exact.guarantee is Guarantee.EXACT
    assert relaxed.guarantee is Guarantee.OVER
    assert relaxed.value[0] > exact.value[0]
    assert hasty.guarantee is Guarantee.UNDER
    assert hasty.value[0] <= exact.value[0] + 1e-9 <= hasty.bound[0] + 2e-9
    filled = Tracking(incidence).rounded(relaxed.mean)
    assert (incidence.rows(0).covered(filled) == 1.0).all()


@pytest.mark.parametrize("seed", range(4))
def test_an_answer_from_the_last_basis_is_the_same(seed):
    incidence, theta = hard(seed)
    space, nearby = Tracking(incidence), theta + 0.05 * np.random.default_rng(seed).normal(size=theta.size)
    cold, warm = space.argmax(nearby), space.argmax(nearby, space.argmax(theta).state)
    assert warm.value[0] == pytest.approx(cold.value[0], rel=1e-12)
    np.testing.assert_array_equal(warm.mean, cold.mean)


def test_the_best_that_contradicts_is_asked_for_once():
    incidence, theta = hard(0)
    space = Tracking(incidence)
    best = space.argmax(theta)
    known = KnownEvents(best.mean, incidence.offsets)
    other = space.argmax_other(theta, known)
    each = []
    for event in np.flatnonzero(best.mean):  # one after the other is forbidden
        forbidden = theta.copy()
        forbidden[event] = -np.inf
        each.append(space.argmax(forbidden).value[0])
    assert other.value[0] == pytest.approx(max(each), rel=1e-9)
    assert other.value[0] < best.value[0]
    nothing = space.argmax_other(theta, KnownEvents(np.full(theta.size, -1.0), incidence.offsets))
    assert nothing.value[0] == -np.inf
    assert not nothing.mean.any()


def test_slots_that_nothing_fills_have_no_output():
    found = Partitioning()(new_solver(), Rows(2, np.array([0, 1]), np.array([0])), np.ones(1))
    assert found.value == -np.inf
    assert not found.shares.any()


def test_other_inferences_are_refused():
    with pytest.raises(ValueError, match=r"Partitioning\(\), not by LinearProgram\(\)"):
        Tracking(hard(0)[0]).using(LinearProgram())
