"""The axis of a figure: its range, its scale, and where it is marked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeGuard

LARGEST = 1e150  # beyond this, differences of two numbers may overflow
NARROWEST = 1e-6  # a range is at least this share of its numbers
RATIO = 1000.0  # positive numbers that differ by more than this factor are drawn on a logarithmic scale
MARGIN = 0.04
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def drawable(value: float | None) -> TypeGuard[float]:
    """Whether a number is there, finite, and not so large that arithmetic fails."""
    return value is not None and abs(value) <= LARGEST


def logarithmic(values: Iterable[float]) -> bool:
    """Whether numbers are all positive and span so many powers of ten that a linear axis would hide the small ones."""
    values = list(values)
    return bool(values) and min(values) > 0 and max(values) / RATIO >= min(values)


@dataclass(frozen=True)
class Axis:
    """The range that is shown; on a logarithmic axis `low` and `high` are exponents of ten."""

    low: float
    high: float
    log: bool

    @classmethod
    def around(cls, values: Iterable[float], log: bool) -> Axis:
        """Return an axis around drawable values; on a logarithmic one around those that are positive."""
        numbers = [math.log10(value) if log else value for value in values if value > 0 or not log] or [0.0, 1.0]
        low, high = min(numbers), max(numbers)
        size = max(abs(low), abs(high))
        if high - low > max(NARROWEST * size, 1.0 / LARGEST):
            margin = MARGIN * (high - low)
        else:
            margin = MARGIN * size if size > 1.0 / LARGEST else 1.0
        return cls(low - margin, high + margin, log)

    def share(self, value: float) -> float:
        """Return where a value lies, 0 at the low end and 1 at the high one; values outside lie at the ends."""
        if self.log:
            value = math.log10(value) if value > 0 else -math.inf
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Return up to about so many round values with their names."""
        return self._powers(most) if self.log else self._multiples(most)

    def _powers(self, most: int) -> list[tuple[float, str]]:
        first, last = math.ceil(self.low), math.floor(self.high)
        exponents = range(first, last + 1, max(1, math.ceil((last - first + 1) / most)))
        if first >= -3 and last <= 4:
            return [(10.0**power, f"{10.0**power:g}") for power in exponents]
        return [(10.0**power, "10" + str(power).translate(RAISED)) for power in exponents]

    def _multiples(self, most: int) -> list[tuple[float, str]]:
        least = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(least))
        step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0, 20.0) if factor * power >= least)
        places = range(math.ceil(self.low / step), math.floor(self.high / step) + 1)
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        plain = decimals <= 6 and max(abs(self.low), abs(self.high)) < 1e6
        names = [f"{place * step:.{decimals}f}" if plain else f"{place * step:.9g}" for place in places]
        return [(place * step, name.replace("-", "\u2212")) for place, name in zip(places, names, strict=True)]
