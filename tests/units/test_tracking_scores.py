"""Scores of trackings: by hand, and as traccuracy 0.4.3 has them."""

import numpy as np
import pytest

from maximand.lineage import Lineage
from maximand.tracking_scores import Rates, division_rates, graph_errors, link_rates

N_FRAMES, N_CELLS, N_BIRTHS = 14, 12, 8


def random_lineages(seed):
    """A true lineage and a predicted one with every mistake: each cell of a frame comes from one before, or from none,
    and becomes two at most.

    The last cells are born of the first ones, in the prediction up to two frames too early or too late.
    """
    rng = np.random.default_rng(seed)
    frames = np.repeat(np.arange(N_FRAMES), N_CELLS)
    births = rng.integers(4, N_FRAMES - 4, size=N_BIRTHS)
    false = rng.random((2, frames.size)) < 0.02
    lineages = []
    for shift, noise, wrong in ((0, 0.0, false[0]), (2, 0.03, false[1])):
        sources = np.tile(np.arange(N_CELLS), (N_FRAMES, 1))
        for k, birth in enumerate(births + rng.integers(-shift, shift + 1, size=N_BIRTHS)):
            sources[: birth + 1, -1 - k] = -1
            sources[birth + 1, -1 - k] = k // 2
        sources[0] = -1
        sources = np.where(rng.random(sources.shape) < noise, rng.integers(-1, N_CELLS, size=sources.shape), sources)
        at, cell = np.nonzero(sources[1:] >= 0)
        links = np.stack([at * N_CELLS + sources[at + 1, cell], (at + 1) * N_CELLS + cell], axis=1)
        links = links[~wrong[links].any(axis=1)]
        links = links[np.argsort(links[:, 0], kind="stable")]
        third = np.append([False, False], links[2:, 0] == links[:-2, 0])
        lineages.append(Lineage.of(frames, links[~third], wrong))
    return lineages


# Seed; links (correct, predicted, true); false and missed cells, false and missed links, links of the wrong kind; LNK;
# TRA; divisions (correct at a tolerance of 0, 1, 2 and 3 frames, predicted, true).
FACTS = [
    (0, (88, 104, 104), (4, 2, 10, 16, 3), 0.762820512821, 0.966035634744, ((2, 2, 2, 3), 8, 7)),
    (1, (79, 91, 100), (2, 4, 12, 21, 8), 0.656666666667, 0.948342541436, ((0, 1, 2, 3), 7, 7)),
    (2, (86, 106, 99), (5, 2, 12, 13, 12), 0.707070707071, 0.961484396964, ((0, 4, 5, 5), 8, 6)),
    (3, (85, 104, 101), (3, 5, 18, 16, 7), 0.676567656766, 0.943380516236, ((1, 1, 3, 3), 7, 6)),
]


@pytest.mark.parametrize(("seed", "links", "errors", "lnk", "tra", "divisions"), FACTS)
def test_traccuracy_agrees(seed, links, errors, lnk, tra, divisions):
    true, predicted = random_lineages(seed)
    assert link_rates(true, predicted) == Rates(*links)
    found = graph_errors(true, predicted)
    names = ("false_cells", "missed_cells", "false_links", "missed_links", "wrong_kind")
    assert tuple(getattr(found, name) for name in names) == errors
    assert (found.lnk, found.tra) == pytest.approx((lnk, tra), abs=1e-12)
    correct, *counts = divisions
    rates = [division_rates(true, predicted, tolerance=t) for t in range(len(correct))]
    assert rates == [Rates(n, *counts) for n in correct]


# Row 0 moves to 1, divides into 2 and 3, which become 4 and 5; rows 6 to 8 are another cell.
FRAMES = [0, 1, 2, 2, 3, 3, 1, 2, 3]
LINKS = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 5), (6, 7), (7, 8)]
TRUE = Lineage.of(FRAMES, LINKS)


def changed(without=(), new=(), false=()):
    links = [link for link in LINKS if link not in without and not {*link} & {*false}]
    return Lineage.of(FRAMES, [*links, *new], np.isin(np.arange(9), false))


def test_the_same_is_perfect():
    rates, errors = link_rates(TRUE, TRUE), graph_errors(TRUE, TRUE)
    assert (rates.precision, rates.recall, rates.f1, errors.det, errors.lnk, errors.tra) == (1.0,) * 6
    assert division_rates(TRUE, TRUE) == Rates(1, 1, 1)


def test_mistakes_cost_what_they_cost():
    other = changed(without=[(1, 3)], false=[8])
    assert link_rates(TRUE, other) == Rates(5, 5, 7)
    errors = graph_errors(TRUE, other)
    assert (errors.missed_cells, errors.missed_links, errors.wrong_kind) == (1, 2, 1)
    assert errors.lnk == 1 - 4 / 10.5 and errors.tra == 1 - 14 / 100.5 and errors.det == 1 - 1 / 9
    # A false detection costs 1, its links nothing.
    errors = graph_errors(other, TRUE)
    assert (errors.false_cells, errors.false_links, errors.missed_links, errors.wrong_kind) == (1, 1, 0, 1)


def test_nothing_is_no_number_and_worse_than_nothing_is_zero():
    nothing = Lineage.of(FRAMES, [])
    rates = link_rates(nothing, nothing)
    assert np.isnan([rates.precision, rates.recall, rates.f1, graph_errors(nothing, TRUE).lnk]).all()
    assert link_rates(TRUE, nothing).f1 == 0.0 == graph_errors(TRUE, nothing).lnk
    one = Lineage.of(FRAMES, [(0, 1)])
    assert graph_errors(one, TRUE).lnk == 0.0


def test_divisions_too_late_or_with_the_wrong_daughter():
    late = changed(without=[(1, 3), (3, 5)], new=[(2, 5)])
    assert [division_rates(TRUE, late, tolerance=t).correct for t in range(3)] == [0, 1, 1]
    assert [division_rates(late, TRUE, tolerance=t).correct for t in range(3)] == [0, 1, 1]
    wrong = changed(without=[(1, 3), (6, 7)], new=[(1, 7)])
    assert division_rates(TRUE, wrong, tolerance=3) == Rates(0, 1, 1)


def test_what_is_not_known_does_not_count():
    known = np.arange(9) < 6
    other = changed(new=[(6, 3)], without=[(1, 3), (7, 8)])
    assert link_rates(TRUE, other, known=known) == Rates(4, 4, 5)
    assert division_rates(TRUE, other, known=known) == Rates(0, 0, 1)
    errors = graph_errors(TRUE, other, known=known)
    assert (errors.n_cells, errors.n_links, errors.false_links, errors.missed_links) == (6, 5, 0, 1)
    with pytest.raises(ValueError, match="compare lineages of the same detections"):
        link_rates(TRUE, Lineage.of(FRAMES[:-1], []))
