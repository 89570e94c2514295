"""HTML elements whose text is escaped unless it is markup already."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class Markup(str):
    """Text that is HTML and goes into a page as it is."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str | float | None) -> Markup:
    """Return an element with its children; an attribute that is None is left out.

    Names of attributes are written with _ for -, and with _ at the end where Python has the word (class_).
    """
    opening = [name]
    for key, value in attributes.items():
        if value is not None:
            opening.append(f'{key.rstrip("_").replace("_", "-")}="{escaped(str(value))}"')
    return Markup(f"<{' '.join(opening)}>{joined(children)}</{name}>")


def joined(children: Iterable[str]) -> Markup:
    """Return pieces one after the other."""
    return Markup("".join(child if isinstance(child, Markup) else escaped(child) for child in children))


def escaped(text: str) -> Markup:
    """Return text as HTML; characters that no page may hold become a replacement character."""
    return Markup(html.escape(UNPRINTABLE.sub("\ufffd", text)))
