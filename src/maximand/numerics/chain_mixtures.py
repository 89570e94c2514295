"""Soft maxima over the visible positions of chains of those over the hidden ones, each at its temperature.

Scores are those of chain.py; a temperature of 0 stands for the maximum. Given the labels of visible positions, hidden
runs between them are independent: each is a table of soft maxima over its paths from one label to another. With these
tables what is visible is a chain. The runs at both ends are vectors. For the means see chain_mixture_means.py.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.numerics.exponential import exponentials
from maximand.numerics.inner import inner
from maximand.numerics.soft_rows import (
    SCORES,
    best_of_rows,
    enter,
    finish,
    keep_rows,
    list_rows,
    multiply,
    new_room,
    new_table,
    prepare,
    weigh,
    write_gaps,
)
from maximand.support import Array, Bools, Ints

ZERO, ONE = np.int64(0), np.int64(1)  # of one type with other whole numbers, or more is compiled
FORWARD, BACKWARD = ONE, np.int64(-1)


class Chains(NamedTuple):
    """A batch of chains, see chain.py, and which of their positions are hidden."""

    nodes: Array
    transitions: Array
    offsets: Ints
    first: Array
    between: Array
    last: Array
    hidden: Bools


@inner()
def add(rows, a, vector):  # type: ignore[no-untyped-def]
    """Add a vector to the entries of row a that are for labels."""
    for m in range(vector.size):
        rows[a, m] += vector[m]


@inner()
def write(rows, a, vector):  # type: ignore[no-untyped-def]
    """Write a vector to the entries of row a that are for labels."""
    for m in range(vector.size):
        rows[a, m] = vector[m]


@inner()
def pass_through(nodes, begin, way, count, room, n, table, temperature, entered):  # type: ignore[no-untyped-def]
    """Take n rows through hidden positions, one way or the other; return the step of the last one.

    The rows are in step 0 of the room, without the scores of the first position unless they have `entered` it. Steps
    are used in turns where there are fewer of them than positions.
    """
    j, steps, k = ZERO, room.shape[1], nodes.shape[1]
    for c in range(count):
        j, t = c % steps, begin + way * c
        if c > 0 or not entered:
            for a in range(n):
                for m in range(k):
                    room[SCORES, j, a, m] += nodes[t, m]
            weigh(room, j, n, temperature)
        multiply(room, j, n, k, table, temperature)
        if c + 1 < count:
            finish(room, j, n, k, table, temperature, room[SCORES, (c + 1) % steps])
    return j


@inner()
def through_end(nodes, border, begin, way, count, room, table, temperature, out):  # type: ignore[no-untyped-def]
    """Write what the hidden positions at an end bring to each label of the visible one after them, to out[0]."""
    if count == 0:
        write(out, ZERO, border)
        return
    write(room[SCORES, 0], ZERO, border)
    j = pass_through(nodes, begin, way, count, room, ONE, table, temperature, False)
    finish(room, j, ONE, nodes.shape[1], table, temperature, out)


@inner()
def through_run(nodes, begin, count, room, table, temperature, labels, n, factors):  # type: ignore[no-untyped-def]
    """Take a row for each of n labels before a run through it; return the step of its last position."""
    enter(room, nodes, begin, table, temperature, labels, n, factors)
    return pass_through(nodes, begin, FORWARD, count, room, n, table, temperature, True)


@inner()
def through_run_of_best(fronts, before, nodes, count, room, table, temperature, labels, n, factors):  # type: ignore[no-untyped-def]
    """Do the same with rows that may count in a maximum over labels; return how many are left as well."""
    j, steps, k = ZERO, room.shape[1], nodes.shape[1]
    enter(room, nodes, before + 1, table, temperature, labels, n, factors)
    multiply(room, j, n, k, table, temperature)
    for c in range(1, count):
        finish(room, j, n, k, table, temperature, room[SCORES, c % steps])
        j = c % steps
        n = keep_rows(fronts, before, room[SCORES, j], labels, n)
        for a in range(n):
            for m in range(k):
                room[SCORES, j, a, m] += nodes[before + 1 + c, m]
        weigh(room, j, n, temperature)
        multiply(room, j, n, k, table, temperature)
    return j, n


@inner()
def combine(fronts, before, labels, n, rows, temperature, terms, tops, sums):  # type: ignore[no-untyped-def]
    """Write soft maxima over rows r of fronts[before, labels[r]] + rows[r]: the terms, their largest, their sums.

    terms[r, b] = exp((fronts[before, labels[r]] + rows[r, b] - tops[0, b]) / temperature).
    """
    width = tops.shape[1]
    for b in range(width):
        tops[0, b], sums[0, b] = -np.inf, 0.0
    for r in range(n):
        front = fronts[before, labels[r]]
        for b in range(width):
            terms[r, b] = front + rows[r, b]
            tops[0, b] = max(tops[0, b], terms[r, b])
    for r in range(n):
        for b in range(width):
            terms[r, b] = (terms[r, b] - tops[0, b]) / temperature if tops[0, b] > -np.inf else -np.inf
    exponentials(terms.reshape(terms.size)[: n * width])
    for r in range(n):
        for b in range(width):
            sums[0, b] += terms[r, b]


@inner()
def soft_value(row, k, temperature, shares):  # type: ignore[no-untyped-def]
    """Return the soft maximum of row[0], and write the shares in it to shares[0]."""
    best, total = 0, 0.0
    for m in range(k):
        best = m if row[0, m] > row[0, best] else best
        shares[0, m] = 0.0
    top = row[0, best]
    if top == -np.inf:
        return top
    if temperature == 0.0:
        shares[0, best] = 1.0
        return top
    for m in range(k):
        shares[0, m] = np.exp((row[0, m] - top) / temperature)
        total += shares[0, m]
    for m in range(k):
        shares[0, m] /= total
    return top + temperature * np.log(total)


@inner()
def new_tables(k):  # type: ignore[no-untyped-def]
    """Return tables of visible positions, of hidden ones, and of these turned round."""
    return new_table(k), new_table(k), new_table(k)


@inner()
def prepare_tables(chains, i, outer, inside, across, within, back):  # type: ignore[no-untyped-def]
    """Fill the tables in where example i has some of its own."""
    if i < len(chains.transitions):
        prepare(across, chains.transitions[i], chains.between, False, outer)
        prepare(within, chains.transitions[i], chains.between, False, inside)
        write_gaps(within, len(chains.between))
        prepare(back, chains.transitions[i], chains.between, True, inside)


@inner()
def new_rows(k, width):  # type: ignore[no-untyped-def]
    """Return room for two tables, four rows and a list of labels."""
    tables, rows = np.empty((2, k, width)), np.empty((3, 1, width))
    return tables[0], tables[1], rows[0], rows[1], rows[2], np.empty(width), np.empty(k, np.int64)


@njit(cache=True, nogil=True)
def mixed_fronts(chains: Chains, outer: float, inside: float, fronts: Array, values: Array) -> None:
    """Write for each label of each visible position what the best way to it scores, and the values of examples."""
    nodes, hidden, k = chains.nodes, chains.hidden, chains.nodes.shape[1]
    across, within, back = new_tables(k)
    vectors, tables = new_room(ONE + ONE, ONE, k), new_room(ONE + ONE, k, k)
    rows, terms, row, tops, sums, factors, labels = new_rows(k, vectors.shape[3])
    for i in range(values.size):
        prepare_tables(chains, i, outer, inside, across, within, back)
        start, stop = chains.offsets[i], chains.offsets[i + 1]
        before = start - 1
        for t in range(start, stop):
            if hidden[t]:
                continue
            count = t - before - 1
            if before < start:
                through_end(nodes, chains.first, start, FORWARD, count, vectors, within, inside, row)
            elif count == 0:
                write(vectors[SCORES, 0], ZERO, fronts[before])
                weigh(vectors, ZERO, ONE, outer)
                multiply(vectors, ZERO, ONE, k, across, outer)
                finish(vectors, ZERO, ONE, k, across, outer, row)
            else:
                n = list_rows(fronts, before, within, outer, labels)
                if outer == 0.0:
                    j, n = through_run_of_best(
                        fronts, before, nodes, count, tables, within, inside, labels, n, factors
                    )  # fmt: skip
                    best_of_rows(fronts, before, tables, j, labels, n, within, inside, factors, row)
                else:
                    j = through_run(nodes, before + 1, count, tables, within, inside, labels, n, factors)
                    finish(tables, j, n, k, within, inside, rows)
                    combine(fronts, before, labels, n, rows, outer, terms, tops, sums)
                    for b in range(k):
                        row[0, b] = tops[0, b] + outer * np.log(sums[0, b]) if sums[0, b] > 0.0 else -np.inf
            for m in range(k):
                fronts[t, m] = row[0, m] + nodes[t, m]
            before = t
        if before < start:
            write(vectors[SCORES, 0], ZERO, chains.first)
            j = pass_through(nodes, start, FORWARD, stop - start, vectors, ONE, within, inside, False)
            write(row, ZERO, vectors[SCORES, j, 0])
            add(row, ZERO, chains.last)
        else:
            through_end(nodes, chains.last, stop - 1, BACKWARD, stop - 1 - before, vectors, back, inside, row)
            add(row, ZERO, fronts[before])
        values[i] = soft_value(row, k, inside if before < start else outer, sums)
