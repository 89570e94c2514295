"""Data files on the command line: their format, by name or by what a model takes, and their examples."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from maximand.cards import all_cards, card_of
from maximand.cards.card import Card
from maximand.cards.data import NOTHING_KNOWN, Dataset, Format, Known
from maximand.cards.steps import first_step, predictor_of
from maximand.models import load


def listed_formats() -> dict[str, Format]:
    """Return the formats of all estimators by name."""
    return {form.name: form for card in all_cards() for form in card.formats}


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add what says how to read a data file."""
    formats = listed_formats()
    parser.add_argument(
        "--format", choices=tuple(formats), help="default: by the name of the file, of csv by its first line"
    )
    for option in dict.fromkeys(option for form in formats.values() for option in form.options):
        option.add_to(parser)


def given(options: argparse.Namespace, described: Card | Format) -> dict[str, Any]:
    """Return the values of the options of a card or format."""
    return {option.name: getattr(options, option.name) for option in described.options}


def sources(options: argparse.Namespace, described: Card | Format) -> list[str | Path]:
    """Return the files that data are read from."""
    return [options.data, *(value for value in given(options, described).values() if isinstance(value, Path))]


def load_model(path: str) -> tuple[Any, Card, Known]:
    """Load a model and say what it takes.

    The names of columns leave the model: files are compared with them here, and arrays have none that scikit-learn
    could compare.
    """
    model = load(path)
    predictor, first = predictor_of(model), first_step(model)
    card = card_of(predictor)
    return model, card, Known(
        tuple(form for form in card.formats if form.fits(model)),
        getattr(first, "n_features_in_", None),
        tuple(map(str, predictor.classes_.tolist())),
        tuple(map(str, vars(first).pop("feature_names_in_", ()))),
        model,
        decided_by_training(predictor),
    )  # fmt: skip


def decided_by_training(predictor: Any) -> dict[str, bool]:
    """Return how the training file was read, where a command fitted the model: what was ambiguous stays as it was."""
    decided = getattr(predictor, "decided_", {})
    if not isinstance(decided, dict) or not all(isinstance(choice, bool) for choice in decided.values()):
        raise ValueError("The model does not say properly how its training file was read; fit it again.")
    return decided


def facts_of(decided: Mapping[str, bool]) -> dict[str, Any]:
    """Say what a training file has decided for later ones."""
    return {"first index": int(not decided["zero_based"])} if "zero_based" in decided else {}


def format_of(options: argparse.Namespace, known: Known = NOTHING_KNOWN) -> Format:
    """Return the format of the data file, given or by its name; one that is not wanted is refused.

    Where several formats have such names, the one that is wanted is meant or, if that is not known, the first that
    recognises the file.
    """
    formats = listed_formats()
    found = formats[options.format] if options.format else _by_name(options.data, known, list(formats.values()))
    if found is None:
        raise ValueError(f"{options.data}: its name does not tell the format; say --format {'|'.join(formats)}.")
    if not known.formats or found in known.formats:
        return found
    for form in known.formats:
        if form.variant_of == found.name:
            return form
    raise ValueError(f"{options.data}: {found.name} holds {found.content}, but {known.formats[0].content} are wanted.")


def _by_name(source: str, known: Known, formats: list[Format]) -> Format | None:
    among = [form for form in formats if source.removesuffix(".gz").endswith(form.suffixes)]
    wanted = [form for form in among if form in known.formats] or among
    return wanted[0] if len(wanted) == 1 else next((form for form in wanted if form.recognises(source)), None)


def card_with(form: Format) -> Card:
    """Return the card of the estimator that takes a format."""
    return next(card for card in all_cards() if form in card.formats)


def read_dataset(options: argparse.Namespace, form: Format, known: Known = NOTHING_KNOWN) -> Dataset:
    """Read the data file."""
    return form.read(options.data, known, given(options, form))
