"""Soft maxima over the paths of batches of chains, whose scores are those of chain.py."""

import numpy as np
from numba import njit

from maximand.numerics.exponential import exponentials
from maximand.support import Array, Ints

# Scaled sums lose terms below 1e-308 of the largest. They are safe while log transitions span at most SAFE_RANGE,
# no scale falls below SAFE_SCALE and no sum of probabilities is further than SAFE_DRIFT from one; else the example is
# done again on logarithms.
SAFE_RANGE = 100.0
SAFE_SCALE = 1e-250
SAFE_DRIFT = 1e-9


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _multiply(vector, matrix, out):  # type: ignore[no-untyped-def]
    """out = vector @ matrix, four rows at a time."""
    k = out.size
    whole = k - k % 4
    out[:] = 0.0
    for l in range(0, whole, 4):
        a, b, c, d = vector[l], vector[l + 1], vector[l + 2], vector[l + 3]
        row, second, third, fourth = matrix[l], matrix[l + 1], matrix[l + 2], matrix[l + 3]
        for m in range(k):
            out[m] += (a * row[m] + b * second[m]) + (c * third[m] + d * fourth[m])
    for l in range(whole, k):
        a, row = vector[l], matrix[l]
        for m in range(k):
            out[m] += a * row[m]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _add_outer_products(first, second, out):  # type: ignore[no-untyped-def]
    """out += first.T @ second, four rows at a time."""
    n, k = first.shape
    whole = n - n % 4
    for t in range(0, whole, 4):
        w, x, y, z = second[t], second[t + 1], second[t + 2], second[t + 3]
        for l in range(k):
            a, b, c, d = first[t, l], first[t + 1, l], first[t + 2, l], first[t + 3, l]
            row = out[l]
            for m in range(k):
                row[m] += (a * w[m] + b * x[m]) + (c * y[m] + d * z[m])
    for t in range(whole, n):
        w = second[t]
        for l in range(k):
            a, row = first[t, l], out[l]
            for m in range(k):
                row[m] += a * w[m]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _multiplied(first, second, out):  # type: ignore[no-untyped-def]
    """Write the products of two vectors and return their sum."""
    total = 0.0
    for m in range(out.size):
        out[m] = first[m] * second[m]
        total += out[m]
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _normalize(vector):  # type: ignore[no-untyped-def]
    """Divide by the sum and return it."""
    total = 0.0
    for m in range(vector.size):
        total += vector[m]
    factor = 1.0 / total if total > 0.0 else 0.0
    for m in range(vector.size):
        vector[m] *= factor
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "nnan", "nsz"})
def _largest(vector):  # type: ignore[no-untyped-def]
    top = -np.inf
    for m in range(vector.size):
        top = max(top, vector[m])
    return top


@njit(cache=True, nogil=True)
def _scaled_sums(  # type: ignore[no-untyped-def]
    nodes, factor, turned, top, temperature, first, last, alpha, beta, ahead, scales, bits, node_mean, pair
):
    """Forward-backward on scaled probabilities for one example; NaN when a scale falls below SAFE_SCALE.

    factor[l, m] = exp((transition - top) / temperature); `turned` is its transpose, so that both recursions add up
    rows. Leaves the counts of pairs, each divided by its factor, in `pair`.
    """
    length, n_states = nodes.shape
    inverse = 1.0 / temperature
    log_total = (length - 1) * top * inverse
    for t in range(length):
        weight, scores = ahead[t], nodes[t]
        peak = _largest(scores)
        if peak == -np.inf:
            return -np.inf
        for m in range(n_states):
            weight[m] = (scores[m] - peak) * inverse
        log_total += peak * inverse
    exponentials(ahead[:length].reshape(length * n_states), bits)
    for t in range(length):
        row, weight = alpha[t], ahead[t]
        if t == 0:
            for m in range(n_states):
                row[m] = np.exp(first[m])
        else:
            _multiply(alpha[t - 1], factor, row)
        for m in range(n_states):
            row[m] *= weight[m]
        scales[t] = _normalize(row)
        if not scales[t] >= SAFE_SCALE:
            return np.nan
        log_total += np.log(scales[t])
    final = 0.0
    for m in range(n_states):
        beta[length - 1, m] = np.exp(last[m])
        final += alpha[length - 1, m] * beta[length - 1, m]
    if not final >= SAFE_SCALE:
        return np.nan
    for m in range(n_states):
        beta[length - 1, m] /= final

    # Divided by the same scales on the way back, alpha and beta agree: their products sum to one everywhere.
    for t in range(length - 1, -1, -1):
        if not abs(_multiplied(alpha[t], beta[t], node_mean[t]) - 1.0) < SAFE_DRIFT:
            return np.nan
        if t > 0:
            factor_of_pairs = 1.0 / scales[t]
            for m in range(n_states):
                ahead[t, m] *= beta[t, m] * factor_of_pairs
            _multiply(ahead[t], turned, beta[t - 1])
    pair[:] = 0.0
    _add_outer_products(alpha[: length - 1], ahead[1:length], pair)
    return (log_total + np.log(final)) * temperature


@njit(cache=True, nogil=True)
def _log_sum(values):  # type: ignore[no-untyped-def]
    top = -np.inf
    for value in values:
        top = max(top, value)
    if top == -np.inf:
        return top
    total = 0.0
    for value in values:
        total += np.exp(value - top)
    return top + np.log(total)


@njit(cache=True, nogil=True)
def _log_sums(nodes, move, temperature, first, last, alpha, beta, node_mean, pair_mean):  # type: ignore[no-untyped-def]
    """Forward-backward on logarithms for one example: slower, and safe at any range and temperature."""
    length, n_states = nodes.shape
    work = np.empty(n_states)
    for m in range(n_states):
        alpha[0, m] = nodes[0, m] / temperature + first[m]
        beta[length - 1, m] = last[m]
    for t in range(1, length):
        for m in range(n_states):
            for l in range(n_states):
                work[l] = alpha[t - 1, l] + move[l, m] / temperature
            alpha[t, m] = _log_sum(work) + nodes[t, m] / temperature
    for t in range(length - 1, 0, -1):
        for l in range(n_states):
            for m in range(n_states):
                work[m] = (move[l, m] + nodes[t, m]) / temperature + beta[t, m]
            beta[t - 1, l] = _log_sum(work)
    for m in range(n_states):
        work[m] = alpha[length - 1, m] + last[m]
    log_total = _log_sum(work)
    if log_total == -np.inf:
        return log_total
    for t in range(length):
        for m in range(n_states):
            node_mean[t, m] = np.exp(alpha[t, m] + beta[t, m] - log_total)
    for t in range(1, length):
        for l in range(n_states):
            for m in range(n_states):
                pair_mean[l, m] += np.exp(
                    alpha[t - 1, l] + (move[l, m] + nodes[t, m]) / temperature + beta[t, m] - log_total
                )
    return log_total * temperature


@njit(cache=True, nogil=True)
def _same(first, second):  # type: ignore[no-untyped-def]
    for l in range(first.shape[0]):
        for m in range(first.shape[1]):
            if first[l, m] != second[l, m]:
                return False
    return True


@njit(cache=True, nogil=True)
def soft_paths(
    nodes: Array,
    transitions: Array,
    offsets: Ints,
    first: Array,
    between: Array,
    last: Array,
    temperature: float,
    values: Array,
    node_means: Array,
    transition_means: Array,
) -> None:
    """Forward-backward: temperature * log sum over paths of exp(score / temperature), and its gradient.

    Consecutive examples often have equal transitions; their exponentials are then taken once.
    """
    n_states = nodes.shape[1]
    n = offsets.size - 1
    longest = 0
    for i in range(n):
        longest = max(longest, offsets[i + 1] - offsets[i])
    alpha = np.empty((longest, n_states))
    beta = np.empty((longest, n_states))
    ahead = np.empty((longest, n_states))
    scales = np.empty(longest)
    bits = np.empty(longest * n_states, dtype=np.int64)
    move = np.empty((n_states, n_states))
    factor = np.empty((n_states, n_states))
    turned = np.empty((n_states, n_states))
    top = 0.0
    safe = False
    for i in range(n):
        rows = slice(offsets[i], offsets[i + 1])
        if i == 0 or (i < len(transitions) and not _same(transitions[i], transitions[i - 1])):
            top = -np.inf
            bottom = np.inf
            for l in range(n_states):
                for m in range(n_states):
                    move[l, m] = transitions[i, l, m] + between[l, m]
                    if move[l, m] > -np.inf:
                        top = max(top, move[l, m])
                        bottom = min(bottom, move[l, m])
            safe = top - bottom <= SAFE_RANGE * temperature
            if top == -np.inf:
                top = 0.0
            for l in range(n_states):
                for m in range(n_states):
                    factor[l, m] = np.exp((move[l, m] - top) / temperature)
                    turned[m, l] = factor[l, m]
        values[i] = np.nan
        if safe:
            values[i] = _scaled_sums(
                nodes[rows], factor, turned, top, temperature, first, last, alpha, beta, ahead, scales,
                bits, node_means[rows], transition_means[i],
            )  # fmt: skip
            for l in range(n_states):
                for m in range(n_states):
                    transition_means[i, l, m] *= factor[l, m]
        if np.isnan(values[i]):
            transition_means[i] = 0.0
            values[i] = _log_sums(
                nodes[rows],
                move,
                temperature,
                first,
                last,
                alpha,
                beta,
                node_means[rows],
                transition_means[i],
            )
        if values[i] == -np.inf:
            node_means[rows] = 0.0
            transition_means[i] = 0.0
