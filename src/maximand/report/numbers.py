"""Numbers as a reader likes them."""

from __future__ import annotations

import math

MINUS = "\u2212"


def fixed(value: float, digits: int) -> str:
    """Return a number with so many digits behind the point; one too long for a cell in powers of ten."""
    shown = f"{value:.{digits}f}" if abs(value) < 1e12 else f"{value:.3g}"
    return shown.lstrip("-") if float(shown) == 0.0 else shown.replace("-", MINUS)


def signed(value: float, digits: int) -> str:
    """Return a number with its sign, also where it is positive; what rounds to zero has none."""
    shown = fixed(value, digits)
    return f"+{shown}" if value > 0 and float(shown) != 0.0 else shown


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if not math.isfinite(seconds):
        return "not known"
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
