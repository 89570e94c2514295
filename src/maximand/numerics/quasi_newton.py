"""Inner products and combinations of the vectors that L-BFGS remembers, in one pass over each."""

import numpy as np
from numba import njit

from maximand.support import Array, Singles

BLOCK = 2048  # weights: a block of three vectors stays in the nearest cache


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def products(moved: Singles | Array, turned: Singles | Array, newest: int, gradient: Array) -> Array:
    """Return the products of every pair with the gradient and the newest pair, as rows of a matrix.

    The rows: moved @ gradient, turned @ gradient, moved @ newest turned, turned @ newest moved and turned @ newest
    turned.
    """
    n_pairs, n = moved.shape
    out = np.zeros((5, n_pairs))
    for begin in range(0, n, BLOCK):
        end = min(begin + BLOCK, n)
        slope = gradient[begin:end]
        new_moved, new_turned = moved[newest, begin:end], turned[newest, begin:end]
        for j in range(n_pairs):
            old_moved, old_turned = moved[j, begin:end], turned[j, begin:end]
            a, b, c, d, e = 0.0, 0.0, 0.0, 0.0, 0.0
            for w in range(end - begin):
                s, y = np.float64(old_moved[w]), np.float64(old_turned[w])
                a += s * slope[w]
                b += y * slope[w]
                c += s * np.float64(new_turned[w])
                d += y * np.float64(new_moved[w])
                e += y * np.float64(new_turned[w])
            out[0, j] += a
            out[1, j] += b
            out[2, j] += c
            out[3, j] += d
            out[4, j] += e
    return out


@njit(cache=True, nogil=True, fastmath={"contract"})
def combine(
    moved: Singles | Array, turned: Singles | Array, of_moved: Array, of_turned: Array, gradient: Array, scale: float
) -> Array:
    """Return scale * gradient + of_moved @ moved + of_turned @ turned."""
    n_pairs, n = moved.shape
    out = np.empty(n)
    for begin in range(0, n, BLOCK):
        end = min(begin + BLOCK, n)
        target, slope = out[begin:end], gradient[begin:end]
        for w in range(end - begin):
            target[w] = scale * slope[w]
        for j in range(n_pairs):
            p, q = of_moved[j], of_turned[j]
            old_moved, old_turned = moved[j, begin:end], turned[j, begin:end]
            for w in range(end - begin):
                target[w] += p * np.float64(old_moved[w]) + q * np.float64(old_turned[w])
    return out
