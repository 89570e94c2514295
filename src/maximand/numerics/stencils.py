"""Stencils: the rows of the matrix A of a feature map, one for each part, made at the moment they are needed.

Kept for every part they would take many times the memory of the input. An example's own parts are numbered from 0, kind
after kind. The stencil of a part is the sum of those that the blocks of its kind give it: pairs of a weight and a
coefficient, and of at most one block a dense run of coefficients for weights side by side. So dense blocks want the
weights of a label side by side: `by_label` and `by_feature` translate.
"""

from typing import NamedTuple

import numpy as np

from maximand.numerics.inner import inner
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


class Room(NamedTuple):
    """Where the stencils of some parts are written, one after the other.

    Stencil p has the weights at[begins[p]:begins[p + 1]] with coefficients `by`, and the dense run runs[p]: its first
    weight, its first coefficient in `dense`, its length.
    """

    at: Ints
    by: Array
    begins: Ints
    runs: Ints


@inner()
def room_for(stencils, count):  # type: ignore[no-untyped-def]
    """Return room for so many stencils."""
    n = count * stencils.most_pairs
    return Room(np.empty(n, np.int64), np.empty(n), np.empty(count + 1, np.int64), np.empty((count, 3), np.int64))


@inner(error_model="numpy")
def write_stencils(stencils, i, parts, n_parts, room):  # type: ignore[no-untyped-def]
    """Write the stencils of the first parts listed of example i; return the room, larger where there was too little."""
    if n_parts > len(room.runs):
        room = room_for(stencils, 2 * n_parts)
    (
        sizes, first_block, blocks, first_row, columns, tied, indptr, indices, data, _, starts, labels, positions, _, _
    ) = stencils  # fmt: skip
    at, by, begins, runs = room
    begins[0] = count = 0
    for p in range(n_parts):
        part, kind = np.int64(parts[p]), 0
        while part >= sizes[kind, i]:
            part -= sizes[kind, i]
            kind += 1
        runs[p, 2] = 0
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
                runs[p, 0], runs[p, 1] = base + label * length, place + row * length
                runs[p, 2] = length
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
        begins[p + 1] = count
    return room


@inner(fastmath={"reassoc", "contract"})
def _dense_score(row, weights):  # type: ignore[no-untyped-def]
    total = 0.0
    for f in range(row.size):
        total += row[f] * weights[f]
    return total


@inner()
def _dense_add(row, amount, out):  # type: ignore[no-untyped-def]
    for f in range(row.size):
        out[f] += amount * row[f]


@inner()
def score_stencils(count, room, dense, weights, out):  # type: ignore[no-untyped-def]
    """Write the products of the stencils with the weights."""
    at, by, begins, runs = room
    for p in range(count):
        total = 0.0
        for j in range(begins[p], begins[p + 1]):
            total += by[j] * weights[at[j]]
        run, begin, length = runs[p, 0], runs[p, 1], runs[p, 2]
        if length:
            total += _dense_score(dense[begin : begin + length], weights[run : run + length])
        out[p] = total


@inner()
def add_stencils(count, amounts, factor, room, dense, out):  # type: ignore[no-untyped-def]
    """Add factor times the sum of the stencils times their amounts."""
    at, by, begins, runs = room
    for p in range(count):
        amount = factor * amounts[p]
        if amount != 0.0:
            for j in range(begins[p], begins[p + 1]):
                out[at[j]] += amount * by[j]
            run, begin, length = runs[p, 0], runs[p, 1], runs[p, 2]
            if length:
                _dense_add(dense[begin : begin + length], amount, out[run : run + length])


@inner()
def clear_stencils(count, amounts, room, out):  # type: ignore[no-untyped-def]
    """Write zeros where stencils with an amount are not zero."""
    at, _, begins, runs = room
    for p in range(count):
        if amounts[p] != 0.0:
            for j in range(begins[p], begins[p + 1]):
                out[at[j]] = 0.0
            for j in range(runs[p, 0], runs[p, 0] + runs[p, 2]):
                out[j] = 0.0
