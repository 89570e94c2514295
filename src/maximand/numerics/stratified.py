"""Stratified sampling: a share of everything, with some of what is rare."""

import numpy as np

from maximand.support import Bools, Ints


def stratified(strata: Ints, share: float, random_state: int = 0) -> Bools:
    """Say what is taken, given the stratum of each (below 0: none): a share of each stratum, rounded, and at least one.

    With the same strata and random state a larger share takes all that a smaller one does, and more.
    """
    order = np.random.default_rng(random_state).permutation(strata.size)
    order = order[np.argsort(strata[order], kind="stable")]  # stratum by stratum, each at random
    order = order[np.searchsorted(strata[order], 0) :]
    _, first, counts = np.unique(strata[order], return_index=True, return_counts=True)
    rank = np.arange(order.size) - np.repeat(first, counts)
    taken = np.zeros(strata.size, dtype=bool)
    taken[order] = rank < np.repeat(np.maximum(np.floor(share * counts + 0.5), 1.0), counts)
    return taken
