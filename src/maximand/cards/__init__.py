"""One card for each estimator: what model files, the command line, the documentation and the laws know of it.

A new estimator is a folder with a module `card` that holds its `CARD`, and a line with its name in the stub of
`maximand.estimators`. Cards are loaded when they are asked for, not before.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from maximand import estimators

if TYPE_CHECKING:
    from maximand.cards.card import Card

MODULES = tuple(
    f"{estimators.__name__}.{folder.name}.card" for folder in iter_modules(estimators.__path__) if folder.ispkg
)


def all_cards() -> tuple[Card, ...]:
    """Return the cards of all estimators."""
    return tuple(import_module(name).CARD for name in MODULES)


def card_of(estimator: Any) -> Card:
    """Return the card of an estimator that has one."""
    return next(card for card in all_cards() if card.estimator is type(estimator))
