"""The rows of a feature map's matrix A, one for each part of an example, made at the moment they are needed.

Kept for every part they would take many times the memory of the input. An example's own parts are numbered from 0:
first `width` parts for each of its rows, most often one for each label, then its tables. Either all examples have the
same tables, with a weight for each entry (the block: transitions), or each table has a row of features of its own.

The functions take lists of parts, as reaching into a tuple of arrays costs more than what they do with one part.
Dense rows want the weights of a label side by side: `by_label` and `by_feature` translate.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.support import Array, Ints


class TableRows(NamedTuple):
    """Features of tables: entry c has the weights base + feature * n_columns + columns[c], none for column -1."""

    indptr: Ints  # the features of every table, in CSR form
    indices: Ints
    data: Array
    first: Ints  # example i owns tables first[i]:first[i+1]
    columns: Ints
    n_columns: int
    base: int


def _no_indices() -> Ints:
    return np.empty(0, dtype=np.int64)


NO_TABLES = TableRows(
    np.zeros(1, dtype=np.int64), _no_indices(), np.empty(0), np.zeros(1, dtype=np.int64), _no_indices(), 0, 0
)


class PartRows(NamedTuple):
    """What the rows are made of; -1 stands for "no such weight"."""

    indptr: Ints  # the features of every row, in CSR form
    indices: Ints
    data: Array
    first_row: Ints  # example i owns rows first_row[i]:first_row[i+1]
    n_labels: int
    width: int  # parts of a row
    columns: Ints  # the label of each of them, or -1; empty: they are the labels
    starts: Ints = _no_indices()  # pairs of feature and label as in numerics.rows; empty: all pairs, in order
    labels: Ints = _no_indices()
    positions: Ints = _no_indices()  # the weight of each listed pair
    bias: int = -1  # where the biases of the labels begin
    start: int = -1  # where their weights at the first row begin, and at the last
    end: int = -1
    block: Ints = _no_indices()  # the weight of each part of the block
    tables: TableRows = NO_TABLES
    dense: Array = np.empty((0, 0))  # the features of every row, where they are dense: then all pairs, label by label


@njit(cache=True, nogil=True)
def most_parts(rows, i):  # type: ignore[no-untyped-def]
    """Return the number of parts of example i."""
    own = (rows.first_row[i + 1] - rows.first_row[i]) * rows.width + rows.block.size
    if rows.tables.first.size > 1:
        own += (rows.tables.first[i + 1] - rows.tables.first[i]) * rows.tables.columns.size
    return own


@njit(cache=True, nogil=True)
def _pair(starts, labels, positions, n_labels, feature, label):  # type: ignore[no-untyped-def]
    """Return the weight of a feature and a label; -1 where there is none."""
    if starts.size == 0:
        return feature * n_labels + label
    start, stop = starts[feature], starts[feature + 1]
    if stop - start == n_labels:
        return np.int64(positions[start + label])
    for p in range(start, stop):
        if labels[p] == label:
            return np.int64(positions[p])
    return -1


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
def part_scores(rows, i, parts, count, weights, out):  # type: ignore[no-untyped-def]
    """Write the scores of the first `count` parts listed of example i, each to out[part]."""
    first, n_rows = rows.first_row[i], rows.first_row[i + 1] - rows.first_row[i]
    width, columns, block, d, n_labels = rows.width, rows.columns, rows.block, rows.dense.shape[1], rows.n_labels
    indptr, indices, data, dense = rows.indptr, rows.indices, rows.data, rows.dense
    starts, labels, positions = rows.starts, rows.labels, rows.positions
    bias, start, end, tables = rows.bias, rows.start, rows.end, rows.tables
    for place in range(count):
        part = parts[place]
        r, label = part // width, part % width
        total = 0.0
        if r < n_rows:
            if columns.size:
                label = columns[label]
            if label >= 0:
                if bias >= 0:
                    total = weights[bias + label]
                if d:
                    total += _dense_score(dense[first + r], weights[label * d : (label + 1) * d])
                else:
                    for j in range(indptr[first + r], indptr[first + r + 1]):
                        at = _pair(starts, labels, positions, n_labels, indices[j], label)
                        if at >= 0:
                            total += data[j] * weights[at]
                if start >= 0 and r == 0:
                    total += weights[start + label]
                if end >= 0 and r == n_rows - 1:
                    total += weights[end + label]
        elif block.size:
            at = block[part - n_rows * width]
            if at >= 0:
                total = weights[at]
        else:
            table, at = _entry(tables, i, part - n_rows * width)
            if at >= 0:
                for j in range(tables.indptr[table], tables.indptr[table + 1]):
                    total += tables.data[j] * weights[at + tables.indices[j] * tables.n_columns]
        out[part] = total


@njit(cache=True, nogil=True)
def _entry(tables, i, place):  # type: ignore[no-untyped-def]
    """Return the table of a part behind the rows, and the weight of its entry for feature 0; -1 where it has none."""
    column = tables.columns[place % tables.columns.size]
    return tables.first[i] + place // tables.columns.size, tables.base + column if column >= 0 else -1


@njit(cache=True, nogil=True)
def add_parts(rows, i, parts, amounts, count, factor, out):  # type: ignore[no-untyped-def]
    """Add factor times the sum of amounts times the rows of the parts listed of example i."""
    first, n_rows = rows.first_row[i], rows.first_row[i + 1] - rows.first_row[i]
    width, columns, block, d, n_labels = rows.width, rows.columns, rows.block, rows.dense.shape[1], rows.n_labels
    indptr, indices, data, dense = rows.indptr, rows.indices, rows.data, rows.dense
    starts, labels, positions = rows.starts, rows.labels, rows.positions
    bias, start, end, tables = rows.bias, rows.start, rows.end, rows.tables
    for place in range(count):
        part, amount = parts[place], factor * amounts[place]
        r, label = part // width, part % width
        if r < n_rows:
            if columns.size:
                label = columns[label]
            if label < 0:
                continue
            if bias >= 0:
                out[bias + label] += amount
            if d:
                _dense_add(dense[first + r], amount, out[label * d : (label + 1) * d])
            else:
                for j in range(indptr[first + r], indptr[first + r + 1]):
                    at = _pair(starts, labels, positions, n_labels, indices[j], label)
                    if at >= 0:
                        out[at] += amount * data[j]
            if start >= 0 and r == 0:
                out[start + label] += amount
            if end >= 0 and r == n_rows - 1:
                out[end + label] += amount
        elif block.size:
            at = block[part - n_rows * width]
            if at >= 0:
                out[at] += amount
        else:
            table, at = _entry(tables, i, part - n_rows * width)
            if at >= 0:
                for j in range(tables.indptr[table], tables.indptr[table + 1]):
                    out[at + tables.indices[j] * tables.n_columns] += amount * tables.data[j]


@njit(cache=True, nogil=True)
def _drain(out, at):  # type: ignore[no-untyped-def]
    value = out[at]
    out[at] = 0.0
    return value * value


@njit(cache=True, nogil=True)
def drain_parts(rows, i, parts, count, out):  # type: ignore[no-untyped-def]
    """Return the sum of squares of `out` where the rows of the parts are not zero, and set it to zero there."""
    first, n_rows = rows.first_row[i], rows.first_row[i + 1] - rows.first_row[i]
    width, columns, block, d, n_labels = rows.width, rows.columns, rows.block, rows.dense.shape[1], rows.n_labels
    indptr, indices = rows.indptr, rows.indices
    starts, labels, positions = rows.starts, rows.labels, rows.positions
    bias, start, end, tables = rows.bias, rows.start, rows.end, rows.tables
    total = 0.0
    for place in range(count):
        part = parts[place]
        r, label = part // width, part % width
        if r < n_rows:
            if columns.size:
                label = columns[label]
            if label < 0:
                continue
            if bias >= 0:
                total += _drain(out, bias + label)
            if d:
                total += _dense_drain(out[label * d : (label + 1) * d])
            else:
                for j in range(indptr[first + r], indptr[first + r + 1]):
                    at = _pair(starts, labels, positions, n_labels, indices[j], label)
                    if at >= 0:
                        total += _drain(out, at)
            if start >= 0 and r == 0:
                total += _drain(out, start + label)
            if end >= 0 and r == n_rows - 1:
                total += _drain(out, end + label)
        elif block.size:
            at = block[part - n_rows * width]
            if at >= 0:
                total += _drain(out, at)
        else:
            table, at = _entry(tables, i, part - n_rows * width)
            if at >= 0:
                for j in range(tables.indptr[table], tables.indptr[table + 1]):
                    total += _drain(out, at + tables.indices[j] * tables.n_columns)
    return total


def by_label(rows: PartRows, weights: Array) -> Array:
    """Return weights, ordered by feature and then label, in the order that dense rows want; others stay as they are."""
    d = rows.dense.shape[1]
    if not d:
        return weights
    pairs = weights[: d * rows.n_labels].reshape(d, rows.n_labels)
    return np.concatenate([pairs.T.ravel(), weights[d * rows.n_labels :]])


def by_feature(rows: PartRows, weights: Array) -> Array:
    """Return weights in the order that dense rows want in the order of feature and then label."""
    d = rows.dense.shape[1]
    if not d:
        return weights
    pairs = weights[: d * rows.n_labels].reshape(rows.n_labels, d)
    return np.concatenate([pairs.T.ravel(), weights[d * rows.n_labels :]])
