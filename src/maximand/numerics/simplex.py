"""Euclidean projection onto the probability simplex.

    max over u >= 0 with sum u = 1 of  theta @ u - |u|^2 / 2   is at   u = max(theta - tau, 0).

The sum of max(theta - tau, 0) is convex and decreasing in tau, so Newton's method from the left climbs to the root
without passing it, and it ends when no entry falls below: tau is then (the sum of the entries above it - 1) / (their
number). It starts from the largest entry less one, below which no entry counts. All is relative to the largest entry,
which keeps the sum at 1 to rounding whatever the size of the scores.
"""

import numpy as np
from numba import njit

from maximand.support import Array


@njit(cache=True, nogil=True)
def project_simplex(scores: Array, values: Array, means: Array) -> None:
    """Write to means[i] the projection of scores[i], and to values[i] the maximum that it attains.

    A score of -inf makes its entry 0; where all are, the value is -inf and the mean 0.
    """
    n, k = scores.shape
    kept = np.empty(k)
    for i in range(n):
        top = -np.inf
        for l in range(k):
            top = max(top, scores[i, l])
        if top == -np.inf:
            values[i] = -np.inf
            means[i, :] = 0.0
            continue
        total, count = 0.0, 0
        for l in range(k):
            gap = scores[i, l] - top
            kept[count] = gap
            if gap > -1.0:
                total += gap
                count += 1
        tau = (total - 1.0) / count
        while True:
            total, remaining = 0.0, 0
            for m in range(count):
                gap = kept[m]
                kept[remaining] = gap
                if gap > tau:
                    total += gap
                    remaining += 1
            if remaining == count:
                break
            count = remaining
            tau = (total - 1.0) / count
        value = top
        for m in range(count):
            value += (kept[m] - tau) * (0.5 * (kept[m] + tau))
        values[i] = value
        for l in range(k):
            means[i, l] = max(scores[i, l] - top - tau, 0.0)
