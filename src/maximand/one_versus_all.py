"""The sum over outputs of the hinge of each: a convex function of theta that takes no maxima."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.capabilities import Can
from maximand.spaces import OutputSpace
from maximand.support import Array, Support
from maximand.targets import Target


@dataclass(frozen=True)
class OneVersusAll:
    """Each output by itself: l(mean score over Y*) + the sum over Y° of l(-score), where l(a) = max(0, 1 - a).

    lou2012, equations 2 (for a `Choice`) and 3.
    """

    smooth = False
    polyhedral = True
    bounded = True
    needs = Can.LISTS
    reads_cost = False

    def linear(self, full: bool) -> bool:
        """Return False."""
        return False

    def least(self, space: OutputSpace, theta: Array, target: Target) -> Array:
        """No term is negative."""
        return np.zeros(space.n_examples)

    def __call__(self, space: OutputSpace, theta: Array, target: Target, state: Any = None) -> Support:
        """Return value and gradient."""
        return space.one_versus_all(theta, target)
