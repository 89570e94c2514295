"""The blocks of a feature map put into a fixed number of arrays, so that kernels are compiled once."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maximand.support import Array, Ints

TIED, SPARSE, DENSE, FIRST, LAST = range(5)  # what the stencils of a block are made of


class Lowered(NamedTuple):
    """What the stencils of a block are made of.

    A row of features has `width` parts; the rows of example i begin at first_row[i]. The part in column c of a row has
    the label columns[c] (none for -1), or c where columns are empty.
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


class Stencils(NamedTuple):
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
    most_parts: int  # of any example


SOURCE, WIDTH, N_LABELS, N_FEATURES, BASE, BIAS, COLUMNS, PLACE, PAIRS = range(9)


def lower(sizes: Ints, blocks: Sequence[tuple[int, int, Lowered]]) -> Stencils:
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
    return Stencils(
        sizes, first_block, table, first_row, columns, tied, indptr, indices, data, dense, starts, labels, positions,
        longest + 2 * len(blocks), int(sizes.sum(axis=0).max(initial=0)),
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


def by_label(blocks: Ints, weights: Array) -> Array:
    """Return weights with those of dense blocks ordered by label, then feature; `blocks` is that of `Stencils`."""
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
