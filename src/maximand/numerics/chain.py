"""Maxima over the paths of batches of chains.

The score of a path s_1 ... s_T of example i is

    first[s_1] + sum_t nodes[t, s_t] + sum_t (transitions[i, s_t, s_t+1] + between[s_t, s_t+1]) + last[s_T].

`first`, `between`, `last` hold 0 or -inf and say which paths are legal. The rows of `nodes` lie side by side;
example i owns rows offsets[i]:offsets[i+1] and at least one. `transitions` has one table for each example, or one for
all. For sums see chain_sums.py.
"""

import numpy as np
from numba import njit

from maximand.numerics.inner import inner
from maximand.support import Array, Ints


@inner()
def _best_sums(vector, matrix, out):  # type: ignore[no-untyped-def]
    """out[m] = max_l vector[l] + matrix[l, m], two rows at a time."""
    k = out.size
    whole = k - k % 2
    out[:] = -np.inf
    for l in range(0, whole, 2):
        a, b = vector[l], vector[l + 1]
        row, second = matrix[l], matrix[l + 1]
        for m in range(k):
            one, other = a + row[m], b + second[m]
            one = one if one > other else other
            out[m] = one if one > out[m] else out[m]
    if whole < k:
        a, row = vector[whole], matrix[whole]
        for m in range(k):
            one = a + row[m]
            out[m] = one if one > out[m] else out[m]


@inner()
def _count_parts(states, offsets, values, node_counts, transition_counts):  # type: ignore[no-untyped-def]
    """Write psi of the given paths."""
    node_counts[:] = 0.0
    transition_counts[:] = 0.0
    for i in range(offsets.size - 1):
        if values[i] == -np.inf:
            continue
        for t in range(offsets[i], offsets[i + 1]):
            node_counts[t, states[t]] = 1.0
            if t > offsets[i]:
                transition_counts[i, states[t - 1], states[t]] += 1.0


@njit(cache=True, nogil=True)
def best_paths(
    nodes: Array,
    transitions: Array,
    offsets: Ints,
    first: Array,
    between: Array,
    last: Array,
    values: Array,
    node_counts: Array,
    transition_counts: Array,
) -> None:
    """Viterbi: the value of the best path of every example and its psi; ties go to the lowest state.

    Forward keeps values only; the way back recomputes the predecessor of the one state it needs. Where there is no
    path the value is -inf and psi zero.
    """
    states = np.empty(nodes.shape[0], dtype=np.int64)
    n_states = nodes.shape[1]
    n = offsets.size - 1
    longest = 0
    for i in range(n):
        longest = max(longest, offsets[i + 1] - offsets[i])
    alpha = np.empty((longest, n_states))
    move = np.empty((n_states, n_states))
    for i in range(n):
        start = offsets[i]
        length = offsets[i + 1] - start
        if i < len(transitions):  # one for each example, or one for all
            for l in range(n_states):
                for m in range(n_states):
                    move[l, m] = transitions[i, l, m] + between[l, m]
        for m in range(n_states):
            alpha[0, m] = nodes[start, m] + first[m]
        for t in range(1, length):
            row = alpha[t]
            _best_sums(alpha[t - 1], move, row)
            for m in range(n_states):
                row[m] += nodes[start + t, m]
        best = 0
        top = alpha[length - 1, 0] + last[0]
        for m in range(1, n_states):
            candidate = alpha[length - 1, m] + last[m]
            if candidate > top:
                top = candidate
                best = m
        values[i] = top
        states[start + length - 1] = best
        for t in range(length - 1, 0, -1):
            after = best
            best = 0
            top = alpha[t - 1, 0] + move[0, after]
            for l in range(1, n_states):
                candidate = alpha[t - 1, l] + move[l, after]
                if candidate > top:
                    top = candidate
                    best = l
            states[start + t - 1] = best
    _count_parts(states, offsets, values, node_counts, transition_counts)


@njit(cache=True, nogil=True)
def path_scores(nodes: Array, transitions: Array, offsets: Ints, codes: Ints, scores: Array) -> None:
    """Write the score of the labels in each chain; codes below 0 are not known."""
    for i in range(scores.size):
        between, total = transitions[min(i, len(transitions) - 1)], 0.0
        for t in range(offsets[i], offsets[i + 1]):
            if codes[t] >= 0:
                total += nodes[t, codes[t]]
                if t > offsets[i] and codes[t - 1] >= 0:
                    total += between[codes[t - 1], codes[t]]
        scores[i] = total
