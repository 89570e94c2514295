"""A small dense quadratic program: maximise a concave quadratic over the probability simplex."""

import numpy as np
import piqp

from maximand.support import Array


def maximize_on_simplex(gram: Array, linear: Array, n_free: int = 0) -> Array:
    """Return x >= 0 that maximises linear @ x - x @ gram @ x / 2, all but the last `n_free` of x summing to one.

    The answer is exactly feasible, so its value is a valid lower bound on the maximum whatever the solver did.
    """
    m = linear.size - n_free
    if m == 1 and not n_free:
        return np.ones(1)
    scale = max(float(np.abs(linear - linear.mean()).max()), float(gram.diagonal().max()), 1e-300)
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = 1e-11
    solver.settings.eps_rel = 1e-11
    solver.settings.check_duality_gap = True
    solver.settings.eps_duality_gap_abs = 1e-11
    solver.settings.eps_duality_gap_rel = 1e-11
    on_simplex = np.concatenate([np.ones(m), np.zeros(n_free)])
    solver.setup(
        gram / scale,
        -(linear - linear[:m].max() * on_simplex) / scale,
        on_simplex[None],
        np.ones(1),
        x_l=np.zeros(m + n_free),
        x_u=np.where(on_simplex, 1.0, np.inf),
    )
    solver.solve()
    answer = np.maximum(np.nan_to_num(solver.result.x), 0.0)
    total = answer[:m].sum()
    answer[:m] = answer[:m] / total if total > 0 else 1.0 / m
    return answer
