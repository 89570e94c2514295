"""The rows of a feature map's matrix A, one for each part of an example, made at the moment they are needed.

Kept for every part they would take many times the memory of the input. An example's own parts are numbered from 0, kind
after kind. The row of a part is the sum of those that the blocks of its kind give it: pairs of a weight and a
coefficient, and of at most one block a dense run of coefficients for weights side by side. So dense blocks want the
weights of a label side by side: `by_label` and `by_feature` translate.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from maximand.support import Array, Ints

TIED, SPARSE, DENSE, FIRST, LAST = range(5)  # what a block's rows are made of


class Lowered(NamedTuple):
    """What the rows of a block are made of.

    A block has rows of `width` parts; those of example i begin at first_row[i]. The part in column c of a row has the
    label columns[c] (none for -1), or c where columns are empty.
    """

    source: int
    width: int
    first_row: Ints
    n_labels: int = 1
    n_features: int = 0
    bias: int = -1  # where the biases of the labels begin among the block's weights; -1: there are none
    columns: Ints = np.empty(0, dtype=np.int64)
    tied: Ints = np.empty(0, dtype=np.int64)  # the weight of each part of an example, or -1
    csr: Any = None  # the features of every row, sparse
    dense: Array = np.empty(0)  # or dense, row by row
    pairs: tuple[Ints, Ints, Ints] | None = None  # starts, labels as in numerics.rows, and the weight of each pair


class PartRows(NamedTuple):
    """The blocks of a map in a fixed number of arrays, whatever blocks there are: kernels are compiled once."""

    sizes: Ints  # (kind, example): the number of parts
    first_block: Ints  # kind k has the blocks first_block[k]:first_block[k+1]
    blocks: Ints  # (block, what): see the names below
    first_row: Ints  # (block, example)
    columns: Ints
    tied: Ints
    indptr: Ints
    indices: Ints
    data: Array
    dense: Array
    starts: Ints
    labels: Ints
    positions: Ints
    most_pairs: int  # of any row


SOURCE, WIDTH, N_LABELS, N_FEATURES, BASE, BIAS, COLUMNS, PLACE, PAIRS = range(9)


def lower(sizes: Ints, blocks: Sequence[tuple[int, int, Lowered]]) -> PartRows:
    """Put blocks into one record, given for each its kind and where its weights begin, in the order of the kinds.

    Arrays of a single block stay where they are; those of several are copied side by side.
    """
    records = [record for _, _, record in blocks]
    sparse = [record.csr for record in records]
    pairs = [record.pairs or (None, None, None) for record in records]
    columns, columns_at = _pooled([record.columns if record.columns.size else None for record in records], np.int64)
    tied, tied_at = _pooled([record.tied if record.tied.size else None for record in records], np.int64)
    dense, dense_at = _pooled([record.dense if record.dense.size else None for record in records], np.float64)
    indices, indices_at = _pooled([None if rows is None else rows.indices for rows in sparse], np.int32)
    data, _ = _pooled([None if rows is None else rows.data for rows in sparse], np.float64)
    indptr, rows_at = _pooled([None if rows is None else rows.indptr for rows in sparse], np.int32, indices_at)
    labels, labels_at = _pooled([of[1] for of in pairs], np.uint16)
    positions, _ = _pooled([of[2] for of in pairs], np.int32)
    starts, pairs_at = _pooled([of[0] for of in pairs], np.int32, labels_at)
    table = np.array(
        [
            (
                record.source, record.width, record.n_labels, record.n_features, base,
                base + record.bias if record.bias >= 0 else -1, columns_at[b],
                max(tied_at[b], dense_at[b], rows_at[b]), pairs_at[b],
            )
            for b, (_, base, record) in enumerate(blocks)
        ],
        dtype=np.int64,
    ).reshape(-1, 9)  # fmt: skip
    first_row = np.array([record.first_row for record in records], dtype=np.int64).reshape(-1, sizes.shape[1])
    first_block = np.searchsorted([kind for kind, _, _ in blocks], np.arange(len(sizes) + 1))
    longest = sum(int(np.diff(rows.indptr).max(initial=0)) for rows in sparse if rows is not None)
    return PartRows(
        sizes, first_block, table, first_row, columns, tied, indptr, indices, data, dense, starts, labels, positions,
        longest + 2 * len(blocks),
    )  # fmt: skip


def _pooled(arrays: Sequence[Any], kind: Any, shifts: Sequence[int] = ()) -> tuple[Any, list[int]]:
    """Put arrays side by side, each shifted by a number; return where each begins, -1 for None."""
    places, kept, total = [], [], 0
    for b, array in enumerate(arrays):
        places.append(-1 if array is None else total)
        if array is not None:
            kept.append(array + shifts[b] if shifts and shifts[b] else array)
            total += array.size
    if len(kept) == 1:
        return kept[0], places
    return np.concatenate(kept) if kept else np.empty(0, dtype=kind), places


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
            source, base = blocks[b, 0], blocks[b, 4]
            if source == 0:  # tied
                weight = tied[blocks[b, 7] + part]
                if weight >= 0:
                    at[count], by[count] = base + weight, 1.0
                    count += 1
                continue
            width = blocks[b, 1]
            own = part // width
            label = part - own * width
            if blocks[b, 6] >= 0:
                label = columns[blocks[b, 6] + label]
                if label < 0:
                    continue
            if source >= 3:  # first or last
                if own == (0 if source == 3 else sizes[kind, i] // width - 1):
                    at[count], by[count] = base + label, 1.0
                    count += 1
                continue
            if blocks[b, 5] >= 0:
                at[count], by[count] = blocks[b, 5] + label, 1.0
                count += 1
            row, place, listed, n_labels = first_row[b, i] + own, blocks[b, 7], blocks[b, 8], blocks[b, 2]
            if source == 2:  # dense
                length = blocks[b, 3]
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


def by_label(blocks: Ints, weights: Array) -> Array:
    """Return weights with those of dense blocks ordered by label, then feature; `blocks` is that of `PartRows`."""
    return _turned(blocks, weights, N_FEATURES, N_LABELS)


def by_feature(blocks: Ints, weights: Array) -> Array:
    """Return such weights in the order of the feature map: by feature, then label."""
    return _turned(blocks, weights, N_LABELS, N_FEATURES)


def _turned(blocks: Ints, weights: Array, outer: int, inner: int) -> Array:
    dense = blocks[blocks[:, SOURCE] == DENSE]
    if not len(dense):
        return weights
    turned = weights.copy()
    for block in dense:
        own = slice(block[BASE], block[BASE] + block[outer] * block[inner])
        turned[own] = weights[own].reshape(block[outer], block[inner]).T.ravel()
    return turned
