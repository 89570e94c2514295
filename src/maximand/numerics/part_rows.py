"""The rows of a feature map's matrix A, one for each part of an example, made at the moment they are needed.

Kept for every part they would take many times the memory of the input. An example's own parts are numbered from 0:
first (row, label) for each of its rows, then a block of parts that are the same for all examples (transitions).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.support import Array, Ints


class PartRows(NamedTuple):
    """What the rows are made of; -1 stands for "no such weight"."""

    indptr: Ints  # the features of every row, in CSR form
    indices: Ints
    data: Array
    first_row: Ints  # example i owns rows first_row[i]:first_row[i+1]
    n_labels: int
    starts: Ints  # pairs of feature and label as in numerics.rows; empty: all pairs, in order
    labels: Ints
    positions: Ints  # the weight of each listed pair
    bias: int  # where the biases of the labels begin
    start: int  # where their weights at the first row begin, and at the last
    end: int
    block: Ints  # the weight of each part of the block


@njit(cache=True, nogil=True)
def _weight(rows, feature, label):  # type: ignore[no-untyped-def]
    if rows.starts.size == 0:
        return feature * rows.n_labels + label
    start, stop = rows.starts[feature], rows.starts[feature + 1]
    if stop - start == rows.n_labels:
        return np.int64(rows.positions[start + label])
    for p in range(start, stop):
        if rows.labels[p] == label:
            return np.int64(rows.positions[p])
    return -1


@njit(cache=True, nogil=True)
def part_score(rows, i, part, weights):  # type: ignore[no-untyped-def]
    """Return the score of a part of example i."""
    first, stop = rows.first_row[i], rows.first_row[i + 1]
    r, label = first + part // rows.n_labels, part % rows.n_labels
    if r >= stop:
        at = rows.block[part - (stop - first) * rows.n_labels]
        return weights[at] if at >= 0 else 0.0
    total = weights[rows.bias + label] if rows.bias >= 0 else 0.0
    for j in range(rows.indptr[r], rows.indptr[r + 1]):
        at = _weight(rows, rows.indices[j], label)
        if at >= 0:
            total += rows.data[j] * weights[at]
    if rows.start >= 0 and r == first:
        total += weights[rows.start + label]
    if rows.end >= 0 and r == stop - 1:
        total += weights[rows.end + label]
    return total


@njit(cache=True, nogil=True)
def add_part(rows, i, part, amount, out):  # type: ignore[no-untyped-def]
    """Add amount times the row of a part of example i."""
    first, stop = rows.first_row[i], rows.first_row[i + 1]
    r, label = first + part // rows.n_labels, part % rows.n_labels
    if r >= stop:
        at = rows.block[part - (stop - first) * rows.n_labels]
        if at >= 0:
            out[at] += amount
        return
    if rows.bias >= 0:
        out[rows.bias + label] += amount
    for j in range(rows.indptr[r], rows.indptr[r + 1]):
        at = _weight(rows, rows.indices[j], label)
        if at >= 0:
            out[at] += amount * rows.data[j]
    if rows.start >= 0 and r == first:
        out[rows.start + label] += amount
    if rows.end >= 0 and r == stop - 1:
        out[rows.end + label] += amount


@njit(cache=True, nogil=True)
def _drain(out, at):  # type: ignore[no-untyped-def]
    value = out[at]
    out[at] = 0.0
    return value * value


@njit(cache=True, nogil=True)
def drain_part(rows, i, part, out):  # type: ignore[no-untyped-def]
    """Return the sum of squares of `out` where the row of a part is not zero, and set it to zero there."""
    first, stop = rows.first_row[i], rows.first_row[i + 1]
    r, label = first + part // rows.n_labels, part % rows.n_labels
    if r >= stop:
        at = rows.block[part - (stop - first) * rows.n_labels]
        return _drain(out, at) if at >= 0 else 0.0
    total = _drain(out, rows.bias + label) if rows.bias >= 0 else 0.0
    for j in range(rows.indptr[r], rows.indptr[r + 1]):
        at = _weight(rows, rows.indices[j], label)
        if at >= 0:
            total += _drain(out, at)
    if rows.start >= 0 and r == first:
        total += _drain(out, rows.start + label)
    if rows.end >= 0 and r == stop - 1:
        total += _drain(out, rows.end + label)
    return total


@njit(cache=True, nogil=True)
def nonzeros(vector: Array, bounds: Ints, block: int, wanted: Ints) -> tuple[Ints, Ints, Array]:
    """Return the nonzero entries of some examples as CSR rows over their own parts.

    Example i owns vector[bounds[i]:bounds[i+1]], then, behind all of these, its block.
    """
    tail = bounds[-1]
    pointers = np.zeros(wanted.size + 1, dtype=np.int64)
    for w in range(wanted.size):
        i = wanted[w]
        count = 0
        for p in range(bounds[i], bounds[i + 1]):
            count += vector[p] != 0.0
        for p in range(tail + i * block, tail + (i + 1) * block):
            count += vector[p] != 0.0
        pointers[w + 1] = pointers[w] + count
    parts, values = np.empty(pointers[-1], dtype=np.int32), np.empty(pointers[-1])
    place = 0
    for w in range(wanted.size):
        i = wanted[w]
        for p in range(bounds[i], bounds[i + 1]):
            if vector[p] != 0.0:
                parts[place], values[place] = p - bounds[i], vector[p]
                place += 1
        own = bounds[i + 1] - bounds[i]
        for b in range(block):
            value = vector[tail + i * block + b]
            if value != 0.0:
                parts[place], values[place] = own + b, value
                place += 1
    return pointers, parts, values
