"""Laws of margins and entropies of slots, and of annotations that leave some slots out."""

from itertools import pairwise

import numpy as np
import pytest
from cases import CASES, HIDDEN_CASES
from enumeration import agrees, enumerated, scores_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import entr, softmax

from maximand import subsample
from maximand.spaces import Parts, Product
from maximand.spaces.margins import by_entropy, by_maxima
from thinning import tries

WITH_SLOTS = [case for case in [*CASES, *HIDDEN_CASES] if not isinstance(case.space, Product)]
EVERY_CASE = pytest.mark.parametrize("case", WITH_SLOTS, ids=lambda case: case.name)
SEEDS = st.integers(0, 10_000)


def alternatives(case, theta, annotation):
    """Yield each open slot with the scores of the outputs that agree and the labels that these have there."""
    names, open_slots = case.space.label_of_codes, case.space.unknown_slots(annotation)
    for i, (one, parts, outputs) in enumerate(enumerated(case, theta, agrees(annotation))):
        scores = scores_of(outputs, theta[parts])
        codes = np.array([np.atleast_1d(one.decode(psi)[0]) for psi in outputs]).astype(int)
        labels = codes if names is None else names[codes]
        start, stop = annotation.offsets[i : i + 2]
        for slot in open_slots[(open_slots >= start) & (open_slots < stop)]:
            yield slot, scores, labels[:, slot - start]


@EVERY_CASE
@given(seed=SEEDS)
@tries(8)
def test_margins_equal_enumeration(case, seed):
    theta, names = case.theta(np.random.default_rng(seed)), case.space.label_of_codes
    for annotation in (case.partial, case.unknown):
        found, by_copies = case.space.margins(theta, annotation), by_maxima(case.space, theta, annotation)
        np.testing.assert_array_equal(found.slots, case.space.unknown_slots(annotation))
        np.testing.assert_allclose(found.values, by_copies.values, atol=1e-9)
        for (slot, scores, labels), doubt in zip(
            alternatives(case, theta, annotation), zip(*found, strict=True), strict=True
        ):
            place, code, other, value = doubt
            best = labels[scores.argmax()]
            others = np.where(labels == best, -np.inf, scores)
            assert place == slot
            np.testing.assert_allclose(value, scores.max() - others.max(), atol=1e-9)
            label, second = (int(c) if names is None else names[int(c)] for c in (code, other))
            assert scores[labels == label].max() == pytest.approx(scores.max())
            if value < np.inf:
                assert scores[labels == second].max() == pytest.approx(others.max())


@pytest.mark.parametrize("case", [case for case in WITH_SLOTS if case.soft], ids=lambda case: case.name)
@given(seed=SEEDS, temperature=st.sampled_from([1.0, 0.3]))
@tries(8)
def test_entropies_equal_enumeration(case, seed, temperature):
    theta, names = case.theta(np.random.default_rng(seed)), case.space.label_of_codes
    for annotation in (case.partial, case.unknown):
        found = by_entropy(case.space, theta, annotation, temperature)
        every = alternatives(case, theta, annotation)
        for (slot, scores, labels), doubt in zip(every, zip(*found, strict=True), strict=True):
            place, code, _, value = doubt
            chances = np.bincount(labels, softmax(scores / temperature))
            assert place == slot
            np.testing.assert_allclose(value, entr(chances).sum(), atol=1e-9)
            label = code if names is None else names[code]
            assert chances[label] == pytest.approx(chances.max())


@EVERY_CASE
def test_a_subsample_says_less_and_a_larger_share_more(case):
    strata, shares = case.full.strata, (0.2, 0.5, 0.8, 1.0)
    copies = [subsample(case.full, share, random_state=3) for share in shares]
    known = [copy.strata >= 0 for copy in copies]
    assert all((less <= more).all() for less, more in pairwise(known))
    for copy, share, kept in zip(copies, shares, known, strict=True):
        assert (copy.strata == np.where(kept, strata, copy.strata)).all()
        for stratum in np.unique(strata[strata >= 0]):
            count = (strata == stratum).sum()
            assert (kept & (strata == stratum)).sum() == max(1, np.floor(share * count + 0.5))
    if isinstance(case.full, Parts):
        np.testing.assert_array_equal(copies[-1].psi, case.full.psi)
    assert case.space.possible(copies[0]).all()
