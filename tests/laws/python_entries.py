"""Entries from Python to functions that kernels alone call."""

from numba import njit

from maximand.numerics import stencils


@njit
def room_for(of_map, count):
    return stencils.room_for(of_map, count)


@njit
def write_stencils(of_map, i, parts, n_parts, room):
    return stencils.write_stencils(of_map, i, parts, n_parts, room)


@njit
def score_stencils(count, room, dense, weights, out):
    stencils.score_stencils(count, room, dense, weights, out)


@njit
def add_stencils(count, amounts, factor, room, dense, out):
    stencils.add_stencils(count, amounts, factor, room, dense, out)


@njit
def clear_stencils(count, amounts, room, out):
    stencils.clear_stencils(count, amounts, room, out)
