"""maximand doctor: a look at the data before training."""

from __future__ import annotations

import argparse
import copy
from typing import Any

from rich.console import Console
from rich.markup import escape
from scipy.sparse import csr_array

from maximand.cards.card import Card
from maximand.cards.checkup import matrix_bytes
from maximand.cards.data import Dataset, Format, Known
from maximand.cards.options import SCALE
from maximand.cards.steps import predictor_of
from maximand.cli.data import add_data_options, card_with, facts_of, format_of, given, read_dataset
from maximand.cli.estimates import estimates_of, peak_bytes
from maximand.cli.findings import leaks, of_columns
from maximand.cli.model_options import add_model_options, model_of
from maximand.cli.output import add_common_options, listing, show


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("data", help="training data, - for standard input")
    parser.add_argument("--test", metavar="FILE", help="test data, to be compared with the training data")
    add_data_options(parser)
    add_model_options(parser)
    add_common_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print sizes, findings with cures, and what a fit would take; exit 1 when training would fail."""
    before = peak_bytes()
    form = format_of(options)
    card = card_with(form)
    checkup, data = card.checkup, read_dataset(options, form)
    model = model_of(options, card, form, data)
    rows, matrix = checkup.rows(model, data)
    after = peak_bytes()
    held = None if before is None or after is None else max(before, after)
    labels = checkup.counts(data)
    listed = csr_array(matrix)
    facts = {
        "examples": len(data.y), **checkup.sizes(data, labels), "features": matrix.shape[1],
        "stored values": int(listed.nnz), "input bytes": matrix_bytes(matrix), f"{card.noun}s": len(labels),
        **checkup.facts(data, labels), **facts_of(data.decided),
    }  # fmt: skip
    by_size = sorted(labels.items()) if checkup.in_order else labels.most_common()
    facts[f"{card.noun} counts"] = {str(label): count for label, count in by_size}
    chosen = {**given(options, card), "loss": options.loss or card.loss}
    findings = [*checkup.findings(data, labels, chosen)]
    findings += of_columns(data, listed, *_scaling(options, card))
    if options.test:
        findings += leaks(checkup, data, _test_data(options, card, form, data, matrix))
    fatal = any(finding.fatal for finding in findings)
    estimates = {} if fatal else estimates_of(checkup, predictor_of(model), rows, matrix, data, held)

    def people(console: Console) -> None:
        console.print(listing({name: _shortened(v) if isinstance(v, dict) else v for name, v in facts.items()}))
        for finding in findings:
            console.print(
                f"[bold yellow]![/] {escape(finding.culprit)}\n  [green]→[/] {escape(finding.cure)}", highlight=False
            )
        if not findings:
            console.print("[green]Nothing to worry about.")
        if estimates:
            peak = estimates["peak bytes"]
            memory = "" if peak is None else f"{peak / 1e6:,.0f} MB at its peak and "
            console.print(
                f"A fit with loss {estimates['loss']} has {estimates['weights']:,} weights and takes about "
                f"{memory}{estimates['seconds']:,.0f} seconds."
            )
            if peak is None:
                console.print("How much memory it takes is not known: this system does not tell what reading took.")

    show(options, facts | {"findings": [vars(finding) for finding in findings], "estimates": estimates}, people)
    return int(fatal)


def _scaling(options: argparse.Namespace, card: Card) -> tuple[bool, str]:
    """Say whether columns are scaled, and how they can be."""
    if SCALE in card.options:
        return options.scale, "Scale the columns: fit --scale, or a scaler in a Pipeline."
    return False, "Scale the columns before you write the file."


def _test_data(options: argparse.Namespace, card: Card, form: Format, data: Dataset, matrix: Any) -> Dataset:
    """Read the test data, in any format that holds the same."""
    other = copy.copy(options)
    other.data = options.test
    known = Known(
        tuple(theirs for theirs in card.formats if theirs.content == form.content),
        matrix.shape[1],
        columns=tuple(column.name for column in data.columns),
        decided=data.decided,
    )
    return read_dataset(other, format_of(other, known), known)


def _shortened(counts: dict[str, int]) -> str:
    shown = ", ".join(f"{label} {count:,}" for label, count in list(counts.items())[:12])
    return shown + (f", ... {len(counts) - 12} more" if len(counts) > 12 else "")
