"""The rows of a feature map's matrix A, one for each part of an example, made at the moment they are needed.

Kept for every part they would take many times the memory of the input. An example's own parts are numbered from 0, kind
after kind. The row of a part is the sum of those that the blocks of its kind give it: pairs of a weight and a
coefficient, and of at most one block a dense run of coefficients for weights side by side. So dense blocks want the
weights of a label side by side: `by_label` and `by_feature` translate.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.numerics.lowering import (
    BASE,
    BIAS,
    COLUMNS,
    DENSE,
    FIRST,
    LAST,
    N_FEATURES,
    N_LABELS,
    PAIRS,
    PLACE,
    SOURCE,
    TIED,
    WIDTH,
)
from maximand.support import Array, Ints


@njit(cache=True, nogil=True)
def most_parts(rows, i):  # type: ignore[no-untyped-def]
    """Return the number of parts of example i."""
    total = 0
    for k in range(len(rows.sizes)):
        total += rows.sizes[k, i]
    return total


GROUP = 64  # parts whose rows are written at a time


class Room(NamedTuple):
    """Where the rows of a group of parts are written.

    Part p has weights at[ends[p - 1]:ends[p]] with coefficients `by`, and the dense run runs[p]: its first weight, its
    first coefficient in `dense`, its length.
    """

    at: Ints
    by: Array
    ends: Ints
    runs: Ints


@njit(cache=True, nogil=True)
def room_for(rows):  # type: ignore[no-untyped-def]
    """Return room for the rows of a group."""
    n = GROUP * rows.most_pairs
    return Room(np.empty(n, np.int64), np.empty(n), np.empty(GROUP, np.int64), np.empty((GROUP, 3), np.int64))


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _write_rows(rows, i, parts, start, stop, room):  # type: ignore[no-untyped-def]
    """Write the rows of parts[start:stop] of example i."""
    sizes, first_block, blocks, first_row, columns, tied, indptr, indices, data, _, starts, labels, positions, _ = rows
    at, by, ends, runs = room
    count = 0
    for p in range(start, stop):
        part, kind = np.int64(parts[p]), 0
        while part >= sizes[kind, i]:
            part -= sizes[kind, i]
            kind += 1
        runs[p - start, 2] = 0
        for b in range(first_block[kind], first_block[kind + 1]):
            source, base = blocks[b, SOURCE], blocks[b, BASE]
            if source == TIED:
                weight = tied[blocks[b, PLACE] + part]
                if weight >= 0:
                    at[count], by[count] = base + weight, 1.0
                    count += 1
                continue
            width = blocks[b, WIDTH]
            own = part // width
            label = part - own * width
            if blocks[b, COLUMNS] >= 0:
                label = columns[blocks[b, COLUMNS] + label]
                if label < 0:
                    continue
            if source in (FIRST, LAST):
                if own == (0 if source == FIRST else sizes[kind, i] // width - 1):
                    at[count], by[count] = base + label, 1.0
                    count += 1
                continue
            if blocks[b, BIAS] >= 0:
                at[count], by[count] = blocks[b, BIAS] + label, 1.0
                count += 1
            row, place, listed, n_labels = (
                first_row[b, i] + own,
                blocks[b, PLACE],
                blocks[b, PAIRS],
                blocks[b, N_LABELS],
            )
            if source == DENSE:
                length = blocks[b, N_FEATURES]
                runs[p - start, 0], runs[p - start, 1] = base + label * length, place + row * length
                runs[p - start, 2] = length
            elif listed < 0:  # every pair
                for j in range(indptr[place + row], indptr[place + row + 1]):
                    at[count], by[count] = base + np.int64(indices[j]) * n_labels + label, data[j]
                    count += 1
            else:
                for j in range(indptr[place + row], indptr[place + row + 1]):
                    q, end = np.int64(starts[listed + indices[j]]), np.int64(starts[listed + indices[j] + 1])
                    if end - q == n_labels:
                        q += label
                    else:
                        while q < end and labels[q] != label:
                            q += 1
                    if q < end and positions[q] >= 0:
                        at[count], by[count] = base + np.int64(positions[q]), data[j]
                        count += 1
        ends[p - start] = count


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _dense_score(row, weights):  # type: ignore[no-untyped-def]
    total = 0.0
    for f in range(row.size):
        total += row[f] * weights[f]
    return total


@njit(cache=True, nogil=True)
def _dense_add(row, amount, out):  # type: ignore[no-untyped-def]
    for f in range(row.size):
        out[f] += amount * row[f]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _dense_drain(out):  # type: ignore[no-untyped-def]
    total = 0.0
    for f in range(out.size):
        total += out[f] * out[f]
        out[f] = 0.0
    return total


@njit(cache=True, nogil=True)
def part_scores(rows, i, parts, count, weights, out, room):  # type: ignore[no-untyped-def]
    """Write the scores of the first `count` parts listed of example i, each to out[part]."""
    dense, (at, by, ends, runs) = rows.dense, room
    for start in range(0, count, GROUP):
        stop, j = min(start + GROUP, count), 0
        _write_rows(rows, i, parts, start, stop, room)
        for p in range(stop - start):
            total = 0.0
            while j < ends[p]:
                total += by[j] * weights[at[j]]
                j += 1
            run, begin, length = runs[p, 0], runs[p, 1], runs[p, 2]
            if length:
                total += _dense_score(dense[begin : begin + length], weights[run : run + length])
            out[parts[start + p]] = total


@njit(cache=True, nogil=True)
def add_parts(rows, i, parts, amounts, count, factor, out, room, written):  # type: ignore[no-untyped-def]
    """Add factor times the sum of amounts times the rows of the parts listed of example i.

    `written` says that these very parts were the last whose rows were written: then a single group is there still.
    """
    dense, (at, by, ends, runs) = rows.dense, room
    for start in range(0, count, GROUP):
        stop, j = min(start + GROUP, count), 0
        if not written or count > GROUP:
            _write_rows(rows, i, parts, start, stop, room)
        for p in range(stop - start):
            amount = factor * amounts[start + p]
            while j < ends[p]:
                out[at[j]] += amount * by[j]
                j += 1
            run, begin, length = runs[p, 0], runs[p, 1], runs[p, 2]
            if length:
                _dense_add(dense[begin : begin + length], amount, out[run : run + length])


@njit(cache=True, nogil=True)
def drain_parts(rows, i, parts, count, out, room, written):  # type: ignore[no-untyped-def]
    """Return the sum of squares of `out` where the rows of the parts are not zero, and set it to zero there."""
    at, _, ends, runs = room
    total = 0.0
    for start in range(0, count, GROUP):
        stop, j = min(start + GROUP, count), 0
        if not written or count > GROUP:
            _write_rows(rows, i, parts, start, stop, room)
        for p in range(stop - start):
            while j < ends[p]:
                value = out[at[j]]
                out[at[j]] = 0.0
                total += value * value
                j += 1
            run, length = runs[p, 0], runs[p, 2]
            if length:
                total += _dense_drain(out[run : run + length])
    return total
