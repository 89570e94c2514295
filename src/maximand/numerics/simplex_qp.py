"""A small dense quadratic program: maximise a concave quadratic over the probability simplex."""

import numpy as np
import piqp

from maximand.support import Array, Bools, Ints

NEGLIGIBLE = 1e-12  # shares below this are zero
PRECISE = 1e-7  # distance to the maximum, as a share of it, that is good enough
DEPENDENT = 1e-13  # singular values below this share of the largest are zero
STEPS = 4  # of polishing for each entry


def maximize_on_simplex(gram: Array, linear: Array, n_free: int = 0, near: float = np.inf) -> Array:
    """Return x >= 0 that maximises linear @ x - x @ gram @ x / 2, all but the last `n_free` of x summing to one.

    The answer is exactly feasible, so its value is a valid lower bound on the maximum whatever the solver did. An
    interior-point method is precise in relation to the largest numbers of the program, which may dwarf its maximum:
    where that is not enough, or not as `near` to the maximum as is wanted, Wolfe's algorithm goes on from its answer.
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
    for dependent in (True, False):
        if n_free or _is_precise(gram, linear, answer, near):
            break
        answer = _wolfe(gram, linear, answer, dependent, near)
    return answer


def _wolfe(gram: Array, linear: Array, x: Array, dependent: bool, near: float) -> Array:
    """Return the best x on the path of Wolfe's algorithm from a point that is near the maximum.

    dependent: whether planes that are not independent are traded for each other first, which rounding may spoil.
    """
    best, most = x, _value(gram, linear, x)
    x = np.where(x > NEGLIGIBLE, x, 0.0)
    used = x > 0
    for _ in range(STEPS * x.size):
        move, longest = _flat_direction(gram, linear, used) if dependent else None, np.inf
        if move is None:
            move, longest = _best_shares(gram, linear, used) - x, 1.0
        falling = np.flatnonzero(move < 0)
        steps = x[falling] / -move[falling]
        step = min(float(steps.min(initial=np.inf)), longest)
        if step < longest:
            used[falling[steps.argmin()]] = False
        x = np.where(used, np.maximum(x + step * move, 0.0), 0.0)
        x /= x.sum()
        value = _value(gram, linear, x)
        if value > most:
            best, most = x, value
        if step == longest:
            top = int((linear - gram @ x).argmax())
            if used[top] or _is_precise(gram, linear, x, near):
                break
            used[top] = True
    return best


def _is_precise(gram: Array, linear: Array, x: Array, near: float) -> bool:
    slopes = linear - gram @ x
    return bool(slopes.max() - slopes @ x <= min(PRECISE * abs(_value(gram, linear, x)), near))


def _value(gram: Array, linear: Array, x: Array) -> float:
    return float(linear @ x - 0.5 * x @ (gram @ x))


def _system(gram: Array, places: Ints) -> tuple[Array, float]:
    """Return the square part of the program at some places, and how large it is."""
    part = gram[np.ix_(places, places)]
    return part, max(float(part.diagonal().max()), np.finfo(float).tiny)


def _flat_direction(gram: Array, linear: Array, used: Bools) -> Array | None:
    """Return a direction in the used entries along which the program rises and does not bend; None if there is none.

    There are some where the planes of the used entries are not independent.
    """
    places = np.flatnonzero(used)
    square, scale = _system(gram, places)
    _, sizes, vectors = np.linalg.svd(np.vstack([square / scale, np.ones(places.size)]))
    flat = vectors[int((sizes > DEPENDENT * places.size * sizes[0]).sum()) :]
    rise = flat @ (linear[places] - linear[places].mean())
    if not np.linalg.norm(rise) > DEPENDENT * np.abs(linear[places]).max():
        return None
    direction = np.zeros(linear.size)
    direction[places] = flat.T @ rise
    return direction


def _best_shares(gram: Array, linear: Array, used: Bools) -> Array:
    """Return the x that sums to one and maximises the program, whatever its signs, with all but the used entries 0."""
    places = np.flatnonzero(used)
    square, scale = _system(gram, places)
    system = np.full((places.size + 1, places.size + 1), scale)
    system[:-1, :-1], system[-1, -1] = square, 0.0
    right = np.append(linear[places] - linear[places].max(), scale)
    shares = np.zeros(linear.size)
    shares[places] = np.linalg.lstsq(system, right, rcond=None)[0][:-1]
    return shares
