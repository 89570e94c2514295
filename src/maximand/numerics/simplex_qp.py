"""A small dense quadratic program: maximise a concave quadratic over the probability simplex."""

import numpy as np
import piqp

from maximand.support import Array


def maximize_on_simplex(gram: Array, linear: Array) -> Array:
    """Return alpha >= 0, sum alpha = 1, that maximises linear @ alpha - alpha @ gram @ alpha / 2.

    The answer is exactly feasible, so its value is a valid lower bound on the maximum whatever the solver did.
    """
    m = linear.size
    if m == 1:
        return np.ones(1)
    scale = max(float(np.abs(linear - linear.mean()).max()), float(gram.diagonal().max()), 1e-300)
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = 1e-11
    solver.settings.eps_rel = 1e-11
    solver.settings.check_duality_gap = True
    solver.settings.eps_duality_gap_abs = 1e-11
    solver.settings.eps_duality_gap_rel = 1e-11
    solver.setup(
        gram / scale,
        -(linear - linear.max()) / scale,
        np.ones((1, m)),
        np.ones(1),
        x_l=np.zeros(m),
        x_u=np.ones(m),
    )
    solver.solve()
    alpha = np.maximum(np.nan_to_num(solver.result.x), 0.0)
    total = alpha.sum()
    return alpha / total if total > 0 else np.full(m, 1.0 / m)
