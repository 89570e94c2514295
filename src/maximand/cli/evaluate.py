"""maximand evaluate: how good a model is on labelled data."""

from __future__ import annotations

import argparse

from rich.console import Console

from maximand.cards.steps import predictor_of
from maximand.cli.data import add_data_options, format_of, load_model, read_dataset
from maximand.cli.output import add_common_options, listing, show, table


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("model")
    parser.add_argument("data", help="labelled data, - for standard input")
    add_data_options(parser)
    add_common_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the scores of all examples together and those of each label."""
    model, card, known = load_model(options.model)
    data = read_dataset(options, format_of(options, known), known)
    values, by_label = card.scores(predictor_of(model), model.predict(data.X), data)

    def people(console: Console) -> None:
        console.print(listing({name: f"{v:.4f}" if isinstance(v, float) else v for name, v in values.items()}))
        names = [name for name in next(iter(by_label.values()), {}) if name != "count"]
        rows = [[label, *(f"{s[n]:.3f}" for n in names), f"{s['count']:,}"] for label, s in by_label.items()]
        shown = ["F1" if name == "f1" else name for name in names]
        console.print(table(None, [card.noun, *shown, "count"], rows))

    show(options, values | {f"{card.noun}s": by_label}, people)
    return 0
