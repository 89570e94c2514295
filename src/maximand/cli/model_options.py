"""The options that choose a model, and the estimator that they ask for."""

from __future__ import annotations

import argparse
from typing import Any

from maximand.cards import all_cards
from maximand.cards.card import Card
from maximand.cards.data import Dataset, Format
from maximand.cards.options import SHARED, Option
from maximand.cli.data import given
from maximand.losses import LOSSES


def own_options() -> dict[Option, list[Card]]:
    """Return the options that some estimators have, and whose they are."""
    found: dict[Option, list[Card]] = {}
    for card in all_cards():
        for option in card.options:
            found.setdefault(option, []).append(card)
    return found


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose the model."""
    by_loss: dict[str, list[str]] = {}
    for card in all_cards():
        by_loss.setdefault(card.loss, []).append(card.estimator.__name__)
    defaults = "; ".join(f"{loss} for {', '.join(names)}" for loss, names in by_loss.items())
    parser.add_argument("--loss", choices=tuple(LOSSES), help=f"default: {defaults}")
    for option in (*SHARED.values(), *own_options()):
        option.add_to(parser)


def model_of(options: argparse.Namespace, card: Card, form: Format, data: Dataset) -> Any:
    """Return the model that the options ask for, to be fitted; options that it has no use for are refused."""
    for option, owners in own_options().items():
        if card not in owners and getattr(options, option.name) != option.default:
            names = " or ".join(theirs.name for owner in owners for theirs in owner.formats)
            raise ValueError(f"{option.flag} is for --format {names}; these are {form.content}.")
    settings = {name: getattr(options, option.name) for name, option in SHARED.items()}
    if options.loss:
        settings[card.loss_parameter] = options.loss
    return card.build(data, settings, given(options, card))
