"""Maxima over the paths of batches of chains.

The score of a path s_1 ... s_T of example i is

    first[s_1] + sum_t nodes[t, s_t] + sum_t (transitions[i, s_t, s_t+1] + between[s_t, s_t+1]) + last[s_T].

`first`, `between`, `last` hold 0 or -inf and say which paths are legal. The rows of `nodes` lie side by side;
example i owns rows offsets[i]:offsets[i+1] and at least one. `transitions` has one table for each example, or one for
all; then several examples go side by side, in the given `order`, and the table is read once for all of them. For sums
see chain_sums.py.
"""

import numpy as np
from numba import njit

from maximand.numerics.inner import inner
from maximand.numerics.products import LANES, TOGETHER, fill_up, raise_to_best_sums
from maximand.support import Array, Ints

SIDE_BY_SIDE = 32  # examples


@inner()
def group_end(tables, order, begin):  # type: ignore[no-untyped-def]
    """Return where the examples end that can go side by side with the one at `begin`, which share its table."""
    end = min(begin + SIDE_BY_SIDE, order.size)
    if len(tables) == 1:
        return end
    one, k = tables[order[begin]], tables.shape[1]
    for j in range(begin + 1, end):
        other = tables[order[j]]
        for l in range(k):
            for m in range(k):
                if one[l, m] != other[l, m]:
                    return j
    return end


@inner()
def step(offsets, members, t, rows, places):  # type: ignore[no-untyped-def]
    """List the rows that the examples have at position t and their places among the members; return the number."""
    count = 0
    for g in range(members.size):
        row = offsets[members[g]] + t
        if row < offsets[members[g] + 1]:
            rows[count], places[count] = row, g
            count += 1
    return count


@inner()
def longest(offsets, members):  # type: ignore[no-untyped-def]
    """Return the length of the longest of some examples."""
    most = 0
    for i in members:
        most = max(most, offsets[i + 1] - offsets[i])
    return most


@njit(cache=True, nogil=True)
def best_paths(
    nodes: Array,
    transitions: Array,
    offsets: Ints,
    order: Ints,
    first: Array,
    between: Array,
    last: Array,
    values: Array,
    states: Ints,
) -> None:
    """Viterbi: the value of the best path of every example and its states; ties go to the lowest one.

    Forward keeps values only; the way back recomputes the predecessor of the one state it needs. Where there is no
    path the value is -inf and the states are -1.
    """
    n_rows, k = nodes.shape
    width = -(-k // LANES) * LANES
    alpha = np.empty((n_rows + TOGETHER, width))
    move, turned = np.empty((width, width)), np.empty((k, k))
    alpha[n_rows:] = move[:] = -np.inf
    rows, places = np.empty(SIDE_BY_SIDE + TOGETHER, np.int64), np.empty(SIDE_BY_SIDE + TOGETHER, np.int64)
    begin = np.int64(0)  # of one type from the first, or more is compiled
    while begin < order.size:
        end = group_end(transitions, order, begin)
        members = order[begin:end]
        if begin < len(transitions):
            table = transitions[begin]
            for l in range(k):
                for m in range(k):
                    move[l, m] = turned[m, l] = table[l, m] + between[l, m]
        for t in range(longest(offsets, members)):
            count = step(offsets, members, t, rows, places)
            for j in range(count):
                alpha[rows[j]] = -np.inf
                places[j] = rows[j] - 1
            if t > 0:
                filled = fill_up(rows, places, count, n_rows, n_rows)
                raise_to_best_sums(alpha, places[:filled], move, alpha, rows[:filled])
            for j in range(count):
                row, scores = alpha[rows[j]], nodes[rows[j]]
                for m in range(k):
                    row[m] = (first[m] if t == 0 else row[m]) + scores[m]
        for i in members:
            values[i] = _way_back(alpha, turned, last, states, offsets[i], offsets[i + 1])
        begin = end


@inner()
def _way_back(alpha, turned, last, states, start, stop):  # type: ignore[no-untyped-def]
    """Write the states of a best path; return its value."""
    value, after = -np.inf, last
    for t in range(stop - 1, start - 1, -1):
        before, best = alpha[t], 0
        top = before[0] + after[0]
        for l in range(1, last.size):
            candidate = before[l] + after[l]
            if candidate > top:
                best, top = l, candidate
        if t == stop - 1:
            value = top
        states[t] = best if value > -np.inf else -1
        after = turned[best]
    return value


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


@njit(cache=True, nogil=True)
def count_parts(codes: Ints, offsets: Ints, factors: Array, nodes: Array, transitions: Array) -> None:
    """Add `factors` times psi of the labels in each chain; codes below 0 are not known.

    `transitions` has one table for each example, or one for all.
    """
    for i in range(offsets.size - 1):
        between, factor = transitions[min(i, len(transitions) - 1)], factors[i]
        for t in range(offsets[i], offsets[i + 1]):
            if codes[t] >= 0:
                nodes[t, codes[t]] += factor
                if t > offsets[i] and codes[t - 1] >= 0:
                    between[codes[t - 1], codes[t]] += factor


def path_differences(codes: Ints, others: Ints, offsets: Ints, k: int, examples: Ints) -> tuple[Ints, Ints, Array]:
    """Return psi of labels less that of others, for some examples, as CSR rows over their own parts.

    These are nodes, position by position, and one table of transitions. Labels below 0 count nothing.
    """
    lengths = offsets[examples + 1] - offsets[examples]
    which, start = np.repeat(np.arange(examples.size), lengths), np.repeat(np.cumsum(lengths) - lengths, lengths)
    position = np.arange(which.size) - start
    rows = offsets[examples][which] + position
    differ = codes[rows] != others[rows]
    nodes = np.flatnonzero(differ)
    differ[1:] |= differ[:-1]
    differ[position == 0] = False
    pairs = np.flatnonzero(differ)
    size = int(lengths.max(initial=0)) * k + k * k  # more than any key of an example
    keys, signs = [], []
    for labels, sign in ((codes[rows], 1.0), (others[rows], -1.0)):
        known = nodes[labels[nodes] >= 0]
        keys.append(which[known] * size + position[known] * k + labels[known])
        known = pairs[(labels[pairs] >= 0) & (labels[pairs - 1] >= 0)]
        keys.append(which[known] * size + lengths[which[known]] * k + labels[known - 1] * k + labels[known])
        signs.append(np.full(keys[-2].size + keys[-1].size, sign))
    found, place = np.unique(np.concatenate(keys), return_inverse=True)
    values = np.bincount(place, np.concatenate(signs), found.size).astype(float)  # of whole numbers if there are none
    found, values = found[values != 0.0], values[values != 0.0]
    pointers = np.searchsorted(found, np.arange(examples.size + 1) * size)
    return pointers, (found % size).astype(np.int32), values
