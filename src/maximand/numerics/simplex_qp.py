"""A small dense quadratic program: maximise a concave quadratic over the probability simplex."""

import numpy as np
import piqp

from maximand.support import Array, Bools

NEGLIGIBLE = 1e-12  # shares below this are zero
PRECISE = 1e-7  # distance to the maximum, as a share of it, that is good enough


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
    return answer if n_free else _polished(gram, linear, answer)


def _polished(gram: Array, linear: Array, x: Array) -> Array:
    """Bring an answer that is near the maximum closer, where it is worth it: Wolfe's algorithm from there.

    Interior points are precise in relation to the largest numbers of the program only, which may dwarf its maximum.
    """
    best, most = x, _value(gram, linear, x)
    x = np.where(x > NEGLIGIBLE, x, 0.0)
    x /= x.sum()
    for _ in range(x.size):
        slopes = linear - gram @ x
        top = int(slopes.argmax())
        if slopes[top] - slopes @ x <= PRECISE * abs(most):
            break
        used = x > 0
        used[top] = True
        while True:
            move = _best_shares(gram, linear, used) - x
            falling = np.flatnonzero(move < 0)
            steps = x[falling] / -move[falling]
            if not falling.size or steps.min() >= 1.0:
                x = np.maximum(x + move, 0.0)
                break
            x = np.maximum(x + steps.min() * move, 0.0)
            first = falling[steps.argmin()]
            x[first], used[first] = 0.0, False
        x /= x.sum()
        value = _value(gram, linear, x)
        if not value > most:
            break
        best, most = x, value
    return best


def _value(gram: Array, linear: Array, x: Array) -> float:
    return float(linear @ x - 0.5 * x @ (gram @ x))


def _best_shares(gram: Array, linear: Array, used: Bools) -> Array:
    """Return the x that sums to one and maximises the program, whatever its signs, with all but the used entries 0."""
    places = np.flatnonzero(used)
    scale = max(float(gram[places, places].max()), np.finfo(float).tiny)
    system = np.full((places.size + 1, places.size + 1), scale)
    system[:-1, :-1], system[-1, -1] = gram[np.ix_(places, places)], 0.0
    right = np.append(linear[places] - linear[places].max(), scale)
    shares = np.zeros(linear.size)
    shares[places] = np.linalg.lstsq(system, right, rcond=None)[0][:-1]
    return shares
