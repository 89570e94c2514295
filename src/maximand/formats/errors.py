"""What a reader says of a file that is not what its format promises."""

from __future__ import annotations


class FormatError(ValueError):
    """A malformed file: where (its name and the line, counted from 1, where one is to blame), what, and the cure."""

    def __init__(self, name: str, line: int | None, problem: str) -> None:
        super().__init__(name, line, problem)
        self.name, self.line, self.problem = name, line, problem

    def __str__(self) -> str:
        place = self.name if self.line is None else f"{self.name}, line {self.line}"
        return f"{place}: {self.problem}"


def show(text: str | bytes) -> str:
    """Quote a piece of a file for a message: short, and with control characters spelled out."""
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return repr(text if len(text) <= 40 else text[:37] + "...")
