"""What is known holds in what decoders choose: for every space, by the largest score and by the least expected cost."""

import numpy as np
import pytest
from cases import CASES, HIDDEN_CASES
from enumeration import agreeing, part_places
from hypothesis import given
from hypothesis import strategies as st

from maximand.capabilities import Can
from maximand.decoding import Calibrated, MaxScore, decoded
from maximand.oracles import Euclidean, Soft
from thinning import tries

EVERY_CASE = pytest.mark.parametrize("case", (*CASES, *HIDDEN_CASES), ids=lambda case: case.name)
SEEDS = st.integers(0, 10_000)


def decoders(case):
    """The decoders that a space can answer, each with the layers that it can."""
    yield MaxScore()
    if Can.MIXED in case.space.can:
        yield MaxScore(hidden=1.0)
    for layer in (Soft(temperature=0.0), Soft(temperature=1.0), Euclidean()):
        if not layer.needs & ~case.space.can:
            yield Calibrated(case.costs[0], layer)


@EVERY_CASE
@given(seed=SEEDS)
@tries(5)
def test_what_is_known_holds(case, seed):
    theta = case.theta(np.random.default_rng(seed))
    for decoder in decoders(case):
        psi = decoded(decoder, case.space, theta, case.partial)
        for examples, one in case.singles():
            own = psi[part_places(case.space, examples)][None]
            assert agreeing(one, own, case.partial.take(examples)).all(), decoder


@EVERY_CASE
def test_what_nothing_is_known_of_is_decoded_as_ever(case):
    theta = case.theta(np.random.default_rng(0))
    nothing = np.flatnonzero(case.partial.n_annotated == 0)
    for decoder in decoders(case):
        free = decoder(case.space, theta)
        assert np.array_equal(decoded(decoder, case.space, theta, case.unknown), free)
        psi = decoded(decoder, case.space, theta, case.partial)
        for example in nothing:
            places = part_places(case.space, slice(example, example + 1))
            assert np.array_equal(psi[places], free[places])
