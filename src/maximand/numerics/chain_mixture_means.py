"""Means of the soft maxima of chain_mixtures.py.

From the last position to the first, the mean of a label is shared out among the labels that it came from, in proportion
to what they bring. Of a maximised position one label has all of it: then the run before it takes vectors alone, that
go back from this label.
"""

import numpy as np
from numba import njit

from maximand.numerics.chain_mixtures import (
    BACKWARD,
    FORWARD,
    ONE,
    ZERO,
    Chains,
    add,
    combine,
    new_rows,
    new_tables,
    pass_through,
    prepare_tables,
    soft_value,
    through_end,
    through_run,
    write,
)
from maximand.numerics.inner import inner
from maximand.numerics.soft_rows import SCORES, finish, list_rows, multiply, new_room, weigh
from maximand.numerics.soft_shares import share
from maximand.support import Array


@inner()
def _last_visible(hidden, start, stop):  # type: ignore[no-untyped-def]
    """Return the last visible of some positions, start - 1 where there is none."""
    t = stop - 1
    while t >= start and hidden[t]:
        t -= 1
    return t


@inner()
def _longest_runs(chains):  # type: ignore[no-untyped-def]
    """Return how many positions the longest hidden run has, and the longest between visible ones; at least 1."""
    longest, inside = ONE, ONE
    for i in range(chains.offsets.size - 1):
        before = chains.offsets[i] - 1
        for t in range(chains.offsets[i], chains.offsets[i + 1] + 1):
            if t == chains.offsets[i + 1] or not chains.hidden[t]:
                longest = max(longest, t - before - 1)
                if before >= chains.offsets[i] and t < chains.offsets[i + 1]:
                    inside = max(inside, t - before - 1)
                before = t
    return longest, inside


@inner()
def _best(fronts, before, row):  # type: ignore[no-untyped-def]
    """Return the label before with the largest sum of what comes to it and what follows."""
    best, top = ZERO, -np.inf
    for m in range(fronts.shape[1]):
        one = fronts[before, m] + row[0, m]
        if one > top:
            best, top = m, one
    return best


@inner()
def _only(label, rows, k):  # type: ignore[no-untyped-def]
    """Give one label all of the mean."""
    for m in range(k):
        rows[0, m] = 0.0
    rows[0, label] = 1.0


@inner()
def _spread(means, begin, way, count, room, n, table, temperature, after, now, pairs, ratios):  # type: ignore[no-untyped-def]
    """Write the means of a run, given those of what it leads to; leave in `after` those of its first position."""
    k = means.shape[1]
    for j in range(count - 1, -1, -1):
        t = begin + way * j
        share(room, j, n, k, table, temperature, after, now, pairs, ratios)
        for m in range(k):
            means[t, m] = 0.0
        for a in range(n):
            for m in range(k):
                means[t, m] += now[a, m]
                after[a, m] = now[a, m]


@njit(cache=True, nogil=True)
def add_mixed_means(
    chains: Chains, outer: float, inside: float, fronts: Array, values: Array, weights: Array, means: Array, out: Array
) -> None:
    """Write the means of nodes, and add the weighted ones of pairs, given what `mixed_fronts` left.

    `out` has a table for each example or one for all.
    """
    nodes, hidden, k = chains.nodes, chains.hidden, chains.nodes.shape[1]
    longest, longest_inside = _longest_runs(chains)
    across, within, back = new_tables(k)
    vectors = new_room(longest, ONE, k)
    tables = new_room(longest_inside, k, k) if outer > 0.0 else vectors
    width = vectors.shape[3]
    after, now, pairs, turned = np.zeros((k, width)), np.zeros((k, width)), np.zeros((k, width)), np.zeros((k, width))
    rows, terms, row, tops, sums, ratios, labels = new_rows(k, width)
    for i in range(weights.size):
        prepare_tables(chains, i, outer, inside, across, within, back)
        start, stop = chains.offsets[i], chains.offsets[i + 1]
        if values[i] == -np.inf:
            means[start:stop] = 0.0
            continue
        pairs[:] = 0.0
        turned[:] = 0.0
        t = _last_visible(hidden, start, stop)
        count, label = stop - 1 - t, ZERO
        if t < start:
            write(vectors[SCORES, 0], ZERO, chains.first)
            pass_through(nodes, start, FORWARD, count, vectors, ONE, within, inside, False)
            write(row, ZERO, vectors[SCORES, count - 1, 0])
            add(row, ZERO, chains.last)
            soft_value(row, k, inside, after)
            write(means, stop - 1, after[0, :k])
            _spread(means, start, FORWARD, count - 1, vectors, ONE, within, inside, after, now, pairs, ratios)
        else:
            through_end(nodes, chains.last, stop - 1, BACKWARD, count, vectors, back, inside, row)
            label = _best(fronts, t, row)
            add(row, ZERO, fronts[t])
            soft_value(row, k, outer, after)
            write(means, t, after[0, :k])
            _spread(means, stop - 1, BACKWARD, count, vectors, ONE, back, inside, after, now, turned, ratios)
        while t >= start:
            before = _last_visible(hidden, start, t)
            count = t - before - 1
            if before < start:
                through_end(nodes, chains.first, start, FORWARD, count, vectors, within, inside, row)
                write(after, ZERO, means[t])
                _spread(means, start, FORWARD, count, vectors, ONE, within, inside, after, now, pairs, ratios)
            elif outer == 0.0 and count == 0:
                write(row, ZERO, back[SCORES, label, :k])
                after_label, label = label, _best(fronts, before, row)
                pairs[label, after_label] += 1.0
                _only(label, means[before : before + 1], k)
            elif outer == 0.0:
                write(vectors[SCORES, 0], ZERO, back[SCORES, label, :k])
                pass_through(nodes, t - 1, BACKWARD, count, vectors, ONE, back, inside, False)
                finish(vectors, count - 1, ONE, k, back, inside, row)
                after_label, label = label, _best(fronts, before, row)
                _only(label, means[before : before + 1], k)
                _only(label, after, k)
                _spread(means, t - 1, BACKWARD, count, vectors, ONE, back, inside, after, now, turned, ratios)
                add(turned, after_label, after[0, :k])
            elif count == 0:
                write(vectors[SCORES, 0], ZERO, fronts[before])
                weigh(vectors, ZERO, ONE, outer)
                multiply(vectors, ZERO, ONE, k, across, outer)
                write(after, ZERO, means[t])
                share(vectors, ZERO, ONE, k, across, outer, after, now, pairs, ratios)
                write(means, before, now[0, :k])
            else:
                n = list_rows(fronts, before, within, outer, labels)
                j = through_run(nodes, before + 1, count, tables, within, inside, labels, n, ratios)
                finish(tables, j, n, k, within, inside, rows)
                combine(fronts, before, labels, n, rows, outer, terms, tops, sums)
                for m in range(k):
                    means[before, m] = 0.0
                for r in range(n):
                    for b in range(k):
                        after[r, b] = means[t, b] * (terms[r, b] / sums[0, b]) if means[t, b] > 0.0 else 0.0
                        means[before, labels[r]] += after[r, b]
                _spread(means, before + 1, FORWARD, count, tables, n, within, inside, after, now, pairs, ratios)
                for r in range(n):
                    add(pairs, labels[r], after[r, :k])
            t = before
        table, weight = out[min(i, len(out) - 1)], weights[i]
        for l in range(k):
            for m in range(k):
                table[l, m] += weight * (pairs[l, m] + turned[m, l])
