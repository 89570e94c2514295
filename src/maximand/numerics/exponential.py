"""The exponential function on whole arrays, in a form that compilers turn into vector instructions."""

import numpy as np
from numba import njit

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # their sum is log 2 to 100 bits
TO_WHOLE = 1.5 * 2.0**52  # adding and taking it away again rounds to a whole number
SMALLEST_EXPONENT = -1022.0


@njit(cache=True, nogil=True, fastmath={"contract"})
def exponentials(values, bits):  # type: ignore[no-untyped-def]
    """Replace numbers that are at most 0 by their exponentials, to the last digit; below 1e-307 they become 0.

    exp(x) = 2^whole * exp(rest) with |rest| <= log(2) / 2, where twelve terms of the series suffice. `bits` is room
    for as many int64.
    """
    n = values.size
    for m in range(n):
        x = max(values[m], -1000.0)
        whole = (x * LOG2_E + TO_WHOLE) - TO_WHOLE
        rest = (x - whole * LN2_HIGH) - whole * LN2_LOW
        series = 1.0 / 479001600.0
        series = series * rest + 1.0 / 39916800.0
        series = series * rest + 1.0 / 3628800.0
        series = series * rest + 1.0 / 362880.0
        series = series * rest + 1.0 / 40320.0
        series = series * rest + 1.0 / 5040.0
        series = series * rest + 1.0 / 720.0
        series = series * rest + 1.0 / 120.0
        series = series * rest + 1.0 / 24.0
        series = series * rest + 1.0 / 6.0
        series = series * rest + 0.5
        series = series * rest + 1.0
        values[m] = series * rest + 1.0
        bits[m] = (np.int64(whole) + 1023) << 52 if whole >= SMALLEST_EXPONENT else 0
    powers = bits.view(np.float64)
    for m in range(n):
        values[m] *= powers[m]
