"""Entries from Python to functions that kernels alone call."""

from numba import njit

from maximand.numerics import block_rows


@njit
def room_for(rows, count):
    return block_rows.room_for(rows, count)


@njit
def write_rows(rows, i, parts, n_parts, room):
    return block_rows.write_rows(rows, i, parts, n_parts, room)


@njit
def score_rows(count, room, dense, weights, out):
    block_rows.score_rows(count, room, dense, weights, out)


@njit
def add_rows(count, amounts, factor, room, dense, out):
    block_rows.add_rows(count, amounts, factor, room, dense, out)


@njit
def clear_rows(count, amounts, room, out):
    block_rows.clear_rows(count, amounts, room, out)
