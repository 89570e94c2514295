"""One card for each estimator: what model files, the command line, the documentation and the laws know of it.

A new estimator is a folder with a module that holds its `CARD`, and a line in `MODULES`. Cards are loaded when they are
asked for, not before.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maximand.cards.card import Card

MODULES = (
    "maximand.estimators.tagger.card",
    "maximand.estimators.multiclass.card",
    "maximand.estimators.multilabel.card",
    "maximand.estimators.label_ranker.card",
    "maximand.estimators.ordinal.card",
    "maximand.estimators.graph_labeler.card",
)


def all_cards() -> tuple[Card, ...]:
    """Return the cards of all estimators."""
    return tuple(import_module(name).CARD for name in MODULES)


def card_of(estimator: Any) -> Card:
    """Return the card of an estimator that has one."""
    return next(card for card in all_cards() if card.estimator is type(estimator))
