"""maximand doctor: a look at the data before training."""

from __future__ import annotations

import argparse
import copy
from collections import Counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from scipy.sparse import csr_array

from maximand.cli.data import Examples, add_data_options, read_examples
from maximand.cli.estimates import estimates_of, matrix_bytes, peak_bytes
from maximand.cli.findings import findings_of, leaks
from maximand.cli.kinds import Kind, Known
from maximand.cli.label_findings import label_counts
from maximand.cli.model_options import add_model_options, estimator
from maximand.cli.output import add_common_options, pairs, show
from maximand.tasks import Ragged


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser("doctor", help="look at data before training")
    parser.add_argument("data", help="training data, - for standard input")
    parser.add_argument("--test", metavar="FILE", help="test data, to be compared with the training data")
    add_data_options(parser)
    add_model_options(parser)
    add_common_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print sizes, findings with cures, and what a fit would take; exit 1 when training would fail."""
    examples = read_examples(options)
    rows = _rows(options, examples)
    held = peak_bytes()
    labels = label_counts(examples)
    matrix = rows.matrix if isinstance(rows, Ragged) else rows
    listed = csr_array(matrix)
    facts: dict[str, Any] = {"examples": len(examples.y)}
    if examples.kind.tagged:
        facts["tokens"] = sum(labels.values())
    facts |= {"features": matrix.shape[1], "stored values": int(listed.nnz), "input bytes": matrix_bytes(matrix)}
    noun, tallies = examples.kind.noun, {}
    facts[f"{noun}s"] = len(labels)
    if examples.kind is Kind.RANKINGS:
        facts["labels per ranking"] = round(sum(labels.values()) / max(len(examples.y), 1), 4)
        facts["partial rankings"] = sum(len(ranking) < len(labels) for ranking in examples.y)
        facts["different rankings"] = len(set(examples.y))
        firsts = Counter(ranking[0] for ranking in examples.y)
        tallies["first places"] = dict(firsts.most_common())
    if examples.kind is Kind.SETS:
        facts["labels per row"] = round(sum(labels.values()) / max(len(examples.y), 1), 4)
        facts["rows without labels"] = int((~examples.y.any(axis=1)).sum())
    findings = list(findings_of(options, examples, listed, labels))
    if options.test:
        findings += leaks(_again(options, examples), _test_examples(options, examples, matrix))
    fatal = any(finding.fatal for finding in findings)
    estimates = {} if fatal else estimates_of(options, rows, examples, held)
    by_size = sorted(labels.items()) if examples.kind is Kind.LEVELS else labels.most_common()
    tallies[f"{noun} counts"] = {str(label): count for label, count in by_size}

    def people(console: Console) -> None:
        console.print(pairs(facts | {name: _shortened(counts) for name, counts in tallies.items()}))
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

    values = facts | tallies | {"findings": [vars(finding) for finding in findings], "estimates": estimates}
    show(options, values, people)
    return int(fatal)


def _rows(options: argparse.Namespace, examples: Examples) -> Any:
    """Return the matrix that the estimator would see."""
    if examples.kind is Kind.TEXT:
        return estimator(options, examples)[0].fit_transform(examples.X)
    if examples.kind is Kind.SEQUENCES:
        return Ragged(csr_array(np.vstack(examples.X)), [len(x) for x in examples.X])
    return examples.X


def _again(options: argparse.Namespace, examples: Examples) -> Examples:
    """Read text once more, as its sentences are not kept."""
    return read_examples(options) if examples.kind is Kind.TEXT else examples


def _test_examples(options: argparse.Namespace, examples: Examples, matrix: Any) -> Examples:
    other = copy.copy(options)
    other.data = options.test
    n_features = None if examples.kind is Kind.TEXT else matrix.shape[1]
    columns = tuple(column.name for column in examples.columns)
    return read_examples(other, Known(examples.kind, n_features, columns=columns))


def _shortened(counts: dict[str, int]) -> str:
    shown = ", ".join(f"{label} {count:,}" for label, count in list(counts.items())[:12])
    return shown + (f", ... {len(counts) - 12} more" if len(counts) > 12 else "")
