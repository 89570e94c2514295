"""Exponentials and logarithms of whole arrays, in a form that compilers turn into vector instructions."""

import numpy as np
from numba import njit

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # their sum is log 2 to 100 bits
TO_WHOLE = 1.5 * 2.0**52  # adding and taking it away again rounds to a whole number
SMALLEST_EXPONENT = -1022.0
ONE_EXPONENT, FRACTION_BITS = np.int64(1023), np.int64(52)
# Bits of floating-point numbers: those of sqrt(1/2), of 2^52, of all fractions, and how far 1 is above sqrt(1/2).
SQRT_HALF_BITS = np.uint64(0x3FE6A09E667F3BCD)
TWO_TO_52_BITS = np.uint64(0x4330000000000000)
MANTISSA = np.uint64(0x000FFFFFFFFFFFFF)
ABOVE_SQRT_HALF = np.uint64(0x3FF0000000000000 - 0x3FE6A09E667F3BCD)
TWO_TO_52 = 2.0**52


@njit(cache=True, nogil=True, fastmath={"contract"})
def exponentials(values):  # type: ignore[no-untyped-def]
    """Replace numbers that are at most 0 by their exponentials, to the last digit; below 1e-307 they become 0.

    exp(x) = 2^whole * exp(rest) with |rest| <= log(2) / 2, where twelve terms of the series suffice. The last bits of
    `shifted` are those of `whole`.
    """
    for m in range(values.size):
        x = max(values[m], -1000.0)
        shifted = x * LOG2_E + TO_WHOLE
        whole = shifted - TO_WHOLE
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
        power = np.int64((np.float64(shifted).view(np.int64) + ONE_EXPONENT) << FRACTION_BITS).view(np.float64)
        values[m] = (series * rest + 1.0) * (power if whole >= SMALLEST_EXPONENT else 0.0)


@njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def logarithms(values):  # type: ignore[no-untyped-def]
    """Replace positive and normal numbers by their logarithms, to the last digit; 0 becomes about -709.

    x = 2^power (1 + rest) with 1 + rest from sqrt(1/2) to sqrt(2); log(1 + rest) = 2 artanh(s) where s = rest / (2 +
    rest), by the first ten terms of its series, of which the first is taken apart: 2 s = rest - s rest.
    """
    for i in range(values.size):
        shifted = np.float64(values[i]).view(np.uint64) + ABOVE_SQRT_HALF
        power = np.uint64((shifted >> np.uint64(52)) | TWO_TO_52_BITS).view(np.float64) - (TWO_TO_52 + 1023.0)
        rest = np.uint64((shifted & MANTISSA) + SQRT_HALF_BITS).view(np.float64) - 1.0
        s = rest / (2.0 + rest)
        z = s * s
        series = 2.0 / 21.0
        series = series * z + 2.0 / 19.0
        series = series * z + 2.0 / 17.0
        series = series * z + 2.0 / 15.0
        series = series * z + 2.0 / 13.0
        series = series * z + 2.0 / 11.0
        series = series * z + 2.0 / 9.0
        series = series * z + 2.0 / 7.0
        series = series * z + 2.0 / 5.0
        series = series * z + 2.0 / 3.0
        values[i] = power * LN2_HIGH + (rest - (s * (rest - z * series) - power * LN2_LOW))
