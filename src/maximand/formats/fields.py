"""Fields of a line: numbers read, numbers written, and text that must not break its line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite

from maximand.formats.errors import show
from maximand.formats.sources import Lines

LARGEST = 2**31 - 1
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}(\.0*)?")


def integer(lines: Lines, text: str, what: str, low: int = 0, high: int = LARGEST) -> int:
    """Read a whole number between low and high; "3.0" is one too."""
    value = int(text.partition(".")[0]) if _INTEGER.fullmatch(text) else low - 1
    if not low <= value <= high:
        raise lines.error(f"{what} is {show(text)}; it must be a whole number from {low} to {high}.")
    return value


def reals(lines: Lines, texts: Sequence[str], first: int = 1) -> list[float]:
    """Read finite numbers; a message names the column, counted from `first`."""
    try:
        values = [float(text) for text in texts]
        if all(map(isfinite, values)) and all(map(is_plain, texts)):
            return values
    except ValueError:
        pass
    for column, text in enumerate(texts, first):
        if not is_real(text):
            raise lines.error(f"column {column} is {show(text)}; it must be a finite number.")
    raise AssertionError("a field that is no number was there")


def is_plain(text: str) -> bool:
    """Say whether Python reads no more numbers in the text than other programs do: it skips underscores, and knows
    digits beyond ASCII.
    """
    return text.isascii() and "_" not in text


def is_real(text: str) -> bool:
    """Say whether the text is a finite number."""
    try:
        return is_plain(text) and isfinite(float(text))
    except ValueError:
        return False


def shortest(value: float) -> str:
    """Write a finite number so that it reads back the same, and a whole number without a point."""
    if not isfinite(value):
        raise ValueError(f"{value} cannot be written in this format; replace it by a finite number.")
    return repr(float(value)).removesuffix(".0")


def one_line(text: str, what: str, forbidden: str = "") -> str:
    """Return text that is to be written, unless a line end or a forbidden character would break it apart."""
    if any(character in text for character in forbidden + "\n\r\0"):
        raise ValueError(f"{what} is {show(text)}, which this format cannot hold; replace it.")
    return text


def trimmed(text: str, what: str, forbidden: str = "") -> str:
    """Return text as `one_line` does, unless readers would take white space off its ends."""
    return one_line(text, what, forbidden if text == text.strip() else text[0] + text[-1])


def unquoted(text: str) -> str:
    """Return a field without white space around it and without quotation marks around that."""
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
