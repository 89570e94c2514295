"""Copying inside kernels."""

from maximand.numerics.inner import inner


@inner()
def overwrite(out, source):  # type: ignore[no-untyped-def]
    """Do out[:] = source[:out.size], without what numba adds to that: text for shapes that differ, slow to compile."""
    for m in range(out.size):
        out[m] = source[m]
