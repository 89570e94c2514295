"""Maximum, soft maximum and hinges of every row of a matrix."""

import numpy as np
from numba import njit

from maximand.support import Array, Bools


@njit(cache=True, nogil=True)
def best_columns(scores: Array, values: Array, means: Array) -> None:
    """Write max_l scores[i, l] to values[i] and its indicator (lowest index among equals) to means[i]."""
    n, k = scores.shape
    for i in range(n):
        best = 0
        for l in range(1, k):
            if scores[i, l] > scores[i, best]:
                best = l
        values[i] = scores[i, best]
        for l in range(k):
            means[i, l] = 0.0
        if values[i] > -np.inf:
            means[i, best] = 1.0


@njit(cache=True, nogil=True)
def soft_columns(scores: Array, temperature: float, values: Array, means: Array) -> None:
    """Write temperature * log sum_l exp(scores[i, l] / temperature) to values[i] and its gradient to means[i]."""
    n, k = scores.shape
    for i in range(n):
        top = -np.inf
        for l in range(k):
            top = max(top, scores[i, l])
        if top == -np.inf:
            values[i] = -np.inf
            means[i, :] = 0.0
            continue
        total = 0.0
        for l in range(k):
            means[i, l] = np.exp((scores[i, l] - top) / temperature)
            total += means[i, l]
        for l in range(k):
            means[i, l] /= total
        values[i] = top + temperature * np.log(total)


@njit(cache=True, nogil=True)
def hinge_columns(scores: Array, allowed: Bools, values: Array, means: Array) -> None:
    """Write l(mean of the allowed scores) + the sum of l(-score) over the others, l(a) = max(0, 1 - a), to values[i].

    Its gradient goes to means[i].
    """
    n, k = scores.shape
    for i in range(n):
        total, count, value = 0.0, 0, 0.0
        for l in range(k):
            if allowed[i, l]:
                total += scores[i, l]
                count += 1
        short = 1.0 - total / max(count, 1)
        for l in range(k):
            if allowed[i, l]:
                means[i, l] = -1.0 / count if short > 0.0 else 0.0
            else:
                high = 1.0 + scores[i, l]
                means[i, l] = 1.0 if high > 0.0 else 0.0
                value += max(0.0, high)
        values[i] = value + max(0.0, short)
