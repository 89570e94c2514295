"""Cholesky factors of outputs held in a mixture: they say which outputs are independent and solve Newton's systems.

The factor of an example is that of A W A' + 11', packed row by row, see `mixtures.Held`.
"""

import numpy as np
from numba import njit

from maximand.numerics.mixtures import curvature_at, dot, forget

DEPENDENT = 1e-13  # an output is a mixture of others when less than this share of its square is new


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def forward(factor, k, x):  # type: ignore[no-untyped-def]
    """Solve L y = x in place."""
    for i in range(k):
        row = factor[i * (i + 1) // 2 : i * (i + 1) // 2 + i + 1]
        total = 0.0
        for j in range(i):
            total += row[j] * x[j]
        x[i] = (x[i] - total) / row[i]


@njit(cache=True, nogil=True)
def backward(factor, k, x):  # type: ignore[no-untyped-def]
    """Solve L' y = x in place."""
    for i in range(k - 1, -1, -1):
        row = factor[i * (i + 1) // 2 : i * (i + 1) // 2 + i + 1]
        x[i] /= row[i]
        for j in range(i):
            x[j] -= row[j] * x[i]


@njit(cache=True, nogil=True)
def append(held, i, k, weights, weighted):  # type: ignore[no-untyped-def]
    """Write row k of the factor of example i, that of its output k; return the share of its square that is new.

    weighted is room for a vector over parts, zeros before and after.
    """
    factor, row = held.factors[i], held.rows[i, k]
    square = 1.0
    for place in range(held.pointers[row], held.pointers[row + 1]):
        p = held.parts[place]
        weighted[p] = weights[p] * held.values[place]
        square += weighted[p] * held.values[place]
    own = factor[k * (k + 1) // 2 : k * (k + 1) // 2 + k + 1]
    for j in range(k):
        own[j] = 1.0 + dot(held, held.rows[i, j], weighted)
    for place in range(held.pointers[row], held.pointers[row + 1]):
        weighted[held.parts[place]] = 0.0
    forward(factor, k, own)
    left = square
    for j in range(k):
        left -= own[j] * own[j]
    own[k] = np.sqrt(max(left, DEPENDENT * square))
    return left / square


@njit(cache=True, nogil=True)
def remake(held, i, u, weights, weighted, entropic):  # type: ignore[no-untyped-def]
    """Make the factor of example i anew with the curvature at u."""
    for p in range(u.size):
        weights[p] = curvature_at(u[p], entropic)
    for j in range(held.counts[i]):
        append(held, i, j, weights, weighted)


@njit(cache=True, nogil=True)
def drop(held, i, j):  # type: ignore[no-untyped-def]
    """Take output j from those of example i and from the factor.

    Without row j the product of the trailing block grows by the square of its column j; rotations take that column in.
    """
    factor, k = held.factors[i], held.counts[i]
    cosines, sines = np.empty(k), np.empty(k)
    for m in range(j + 1, k):
        old, new = m * (m + 1) // 2, (m - 1) * m // 2
        rest = factor[old + j]
        diagonal = factor[old + m]
        for l in range(j):
            factor[new + l] = factor[old + l]
        for l in range(j, m - 1):
            entry = factor[old + l + 1]
            factor[new + l] = cosines[l] * entry + sines[l] * rest
            rest = cosines[l] * rest - sines[l] * entry
        length = np.hypot(diagonal, rest)
        cosines[m - 1], sines[m - 1] = diagonal / length, rest / length
        factor[new + m - 1] = length
    forget(held, i, j)
