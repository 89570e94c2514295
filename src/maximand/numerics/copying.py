"""Copying inside kernels."""

from numba import njit


@njit(cache=True, nogil=True)
def overwrite(out, source):  # type: ignore[no-untyped-def]
    """Do out[:] = source[:out.size], without what numba adds to that: text for shapes that differ, slow to compile."""
    for m in range(out.size):
        out[m] = source[m]
