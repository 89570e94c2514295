"""Taking values out of a JSON object, each checked for its type."""

from __future__ import annotations

from typing import Any, Self


class Fields:
    """The fields of an object; what is wrong with one is said together with its place.

    A field without a default has to be there; extra fields are never looked at.
    """

    def __init__(self, values: Any, place: str = ""):
        if not isinstance(values, dict):
            raise ValueError(f"{place or 'The file'} holds {_kind(values)} where an object is expected.")
        self.values, self.place = values, place

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text."""
        value = self._value(name, default)
        return value if isinstance(value, str) else self._refuse(name, value, "a text")

    def number(self, name: str) -> float:
        """Return a number."""
        return self._number(name, self._value(name, None))

    def number_or_none(self, name: str) -> float | None:
        """Return a number, or None where there is none."""
        value = self.values.get(name)
        return None if value is None else self._number(name, value)

    def whole(self, name: str, default: int | None = None) -> int:
        """Return a whole number."""
        value = self._value(name, default)
        whole = isinstance(value, int) and not isinstance(value, bool)
        return value if whole else self._refuse(name, value, "a whole number")

    def yes_or_no(self, name: str) -> bool | None:
        """Return True, False, or None where it is not said."""
        value = self.values.get(name)
        return value if value is None or isinstance(value, bool) else self._refuse(name, value, "true or false")

    def texts(self, name: str) -> list[str]:
        """Return a list of texts; none where it is missing."""
        listed = [Fields({"": value}, f"{self._at(name)}[{i}]") for i, value in enumerate(self._list(name, []))]
        return [one.text("") for one in listed]

    def numbers(self, name: str, default: list[Any] | None = None) -> list[float | None]:
        """Return a list of numbers, None among them where one is missing."""
        listed = self._list(name, default)
        return [None if value is None else self._number(f"{name}[{i}]", value) for i, value in enumerate(listed)]

    def named_texts(self, name: str) -> dict[str, str]:
        """Return texts by name; none where they are missing."""
        named = Fields(self._value(name, {}), self._at(name))
        return {key: named.text(key) for key in named.values}

    def anything(self, name: str) -> list[Any]:
        """Return a list of anything; an empty one where it is missing."""
        return self._list(name, [])

    def objects(self, name: str) -> list[Self]:
        """Return a list of objects; none where it is missing."""
        return [type(self)(value, f"{self._at(name)}[{i}]") for i, value in enumerate(self._list(name, []))]

    def _value(self, name: str, default: Any) -> Any:
        value = self.values.get(name, default)
        if value is None:
            raise ValueError(f"{self._at(name)} is missing.")
        return value

    def _list(self, name: str, default: list[Any] | None) -> list[Any]:
        value = self._value(name, default)
        return value if isinstance(value, list) else self._refuse(name, value, "a list")

    def _number(self, name: str, value: Any) -> float:
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            self._refuse(name, value, "a number")
        try:
            return float(value)
        except OverflowError:
            return self._refuse(name, value, "a number that fits a float")

    def _refuse(self, name: str, value: Any, expected: str) -> Any:
        raise ValueError(f"{self._at(name)} holds {_kind(value)} where {expected} is expected.")

    def _at(self, name: str) -> str:
        return ".".join(part for part in (self.place, name) if part)


def _kind(value: Any) -> str:
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), "nothing")
