"""maximand doctor: a look at the data before training."""

from __future__ import annotations

import argparse
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from scipy.sparse import csr_array

from maximand.cli.data import Examples, add_data_options, read_examples
from maximand.cli.estimates import estimates_of, matrix_bytes, peak_bytes
from maximand.cli.fit import add_model_options, estimator
from maximand.cli.output import add_common_options, pairs, show
from maximand.tasks import Ragged, bio, bioes

RARE = 5  # labels with fewer examples than this are hard to learn
IMBALANCED = 100.0
UNEVEN = 1e3  # how far the sizes of columns may be apart


@dataclass(frozen=True)
class Finding:
    """Something about the data that may go wrong, and what to do about it."""

    culprit: str
    cure: str


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
    before = peak_bytes()
    examples = read_examples(options)
    rows = _rows(options, examples)
    reading = max(0, peak_bytes() - before)
    labels = Counter(_flat(examples))
    facts: dict[str, Any] = {"examples": len(examples.y)}
    if examples.sequences:
        facts["tokens"] = sum(labels.values())
    matrix = rows.matrix if isinstance(rows, Ragged) else rows
    facts |= {"features": matrix.shape[1], "stored values": int(matrix.nnz), "input bytes": matrix_bytes(matrix)}
    facts["labels"] = len(labels)
    findings = [*_label_findings(labels), *_sequence_findings(examples), *_scale_findings(matrix, examples)]
    if options.test:
        findings += _leaks(options, examples, matrix)
    fatal = len(labels) < 2
    estimates = {} if fatal else estimates_of(options, rows, examples, before + reading)
    counts = {str(label): count for label, count in labels.most_common()}

    def people(console: Console) -> None:
        console.print(pairs(facts | {"label counts": _shortened(counts)}))
        for finding in findings:
            console.print(
                f"[bold yellow]![/] {escape(finding.culprit)}\n  [green]→[/] {escape(finding.cure)}", highlight=False
            )
        if not findings:
            console.print("[green]Nothing to worry about.")
        if estimates:
            console.print(
                f"A fit with loss {estimates['loss']} has {estimates['weights']:,} weights and takes about "
                f"{estimates['peak bytes'] / 1e6:,.0f} MB at its peak and {estimates['seconds']:,.0f} seconds."
            )

    values = facts | {
        "label counts": counts,
        "findings": [vars(finding) for finding in findings],
        "estimates": estimates,
    }
    show(options, values, people)
    return int(fatal)


def _rows(options: argparse.Namespace, examples: Examples) -> Any:
    """Return the matrix that the estimator would see."""
    if examples.textual:
        return estimator(options, sequences=True, textual=True)[0].fit_transform(examples.X)
    if examples.sequences:
        return Ragged(csr_array(np.vstack(examples.X)), [len(x) for x in examples.X])
    return examples.X


def _flat(examples: Examples) -> Iterator[Any]:
    if examples.sequences:
        return (tag for tags in examples.y for tag in tags)
    return iter(examples.y.tolist())


def _shortened(counts: dict[str, int]) -> str:
    shown = ", ".join(f"{label} {count:,}" for label, count in list(counts.items())[:12])
    return shown + (f", ... {len(counts) - 12} more" if len(counts) > 12 else "")


def _label_findings(labels: Counter[Any]) -> Iterator[Finding]:
    if len(labels) < 2:
        yield Finding(f"There is only the label {next(iter(labels), None)!r}.", "Training needs at least two labels.")
        return
    rare = [str(label) for label, count in labels.items() if count < RARE]
    if rare:
        yield Finding(
            f"{len(rare)} labels occur fewer than {RARE} times: {', '.join(rare[:8])}.",
            "Merge them with others or collect more; folds of a cross-validation may lack them.",
        )
    most, least = labels.most_common(1)[0], labels.most_common()[-1]
    if most[1] > IMBALANCED * least[1]:
        yield Finding(
            f"Label {most[0]!r} is {most[1] / least[1]:,.0f} times as frequent as {least[0]!r}.",
            "If rare labels matter, use class_weight='balanced' and look at F1, not at accuracy.",
        )
    if all(isinstance(label, int) for label in labels):
        missing = sorted(set(range(min(labels), max(labels))) - set(labels))
        if missing and max(labels) - min(labels) < 10_000:
            yield Finding(
                f"The labels go from {min(labels)} to {max(labels)} without {', '.join(map(str, missing[:8]))}.",
                "Fine if they do not exist; otherwise the data may be cut off.",
            )


def _sequence_findings(examples: Examples) -> Iterator[Finding]:
    names = sorted({str(tag) for tag in _flat(examples)})
    prefixes = {name.partition("-")[0] for name in names}
    if not examples.sequences or "I" not in prefixes or not prefixes <= set("BIOES"):
        return
    scheme = bioes if prefixes & set("ES") else bio
    legal, codes = scheme(names), {name: code for code, name in enumerate(names)}
    broken = [i for i, tags in enumerate(examples.y) if legal.violation(np.array([codes[tag] for tag in tags]))]
    if broken:
        yield Finding(
            f"{len(broken)} sequences break the {scheme.__name__.upper()} scheme, first number {broken[0] + 1}.",
            "Mend them (IOB1 tags, for instance, can be converted to BIO), or do not use --scheme.",
        )


def _scale_findings(matrix: csr_array, examples: Examples) -> Iterator[Finding]:
    if not np.isfinite(matrix.data).all():
        yield Finding(
            "Some feature values are NaN or infinite.", "Impute them or drop the examples; training refuses them."
        )
        return
    sizes = np.zeros(matrix.shape[1])
    np.maximum.at(sizes, matrix.indices, np.abs(matrix.data))
    used = sizes[sizes > 0]
    if used.size < sizes.size and not examples.textual:
        yield Finding(
            f"{sizes.size - used.size} columns hold zeros only.", "They are harmless; drop them to save memory."
        )
    if used.size and used.max() > UNEVEN * used.min() and not examples.sequences:
        yield Finding(
            f"Column {int(sizes.argmax()) + 1} has values up to {used.max():g}, column "
            f"{int(np.where(sizes > 0, sizes, np.inf).argmin()) + 1} only up to {used.min():g}.",
            "Scale the columns: fit --scale, or a scaler in a Pipeline.",
        )


def _leaks(options: argparse.Namespace, examples: Examples, matrix: csr_array) -> Iterator[Finding]:
    """Compare examples of training and test data, byte by byte."""
    other = copy.copy(options)
    other.data, other.n_features = options.test, None if examples.textual else matrix.shape[1]
    tests = read_examples(other)
    if examples.textual:
        again = copy.copy(options)
        train = {hash(tuple(map(tuple, tokens))) for tokens in read_examples(again).X}
        found = [i for i, tokens in enumerate(tests.X) if hash(tuple(map(tuple, tokens))) in train]
        total = len(tests.y)
    else:
        train_rows, test_rows = ([*_digests(side)] for side in (examples, tests))
        known = set(train_rows)
        found, total = [i for i, digest in enumerate(test_rows) if digest in known], len(test_rows)
    if found:
        yield Finding(
            f"{len(found)} of {total} test examples are in the training data as well, first number {found[0] + 1}.",
            "Remove them from one side, or the test says nothing about new data.",
        )
    unseen = set(map(str, _flat(tests))) - set(map(str, _flat(examples)))
    if unseen:
        yield Finding(
            f"The test data have labels that training does not know: {', '.join(sorted(unseen)[:8])}.",
            "They can never be predicted; check that both files use the same names.",
        )


def _digests(examples: Examples) -> Iterator[int]:
    if examples.sequences:
        return (hash(x.tobytes()) for x in examples.X)
    X = examples.X
    starts = X.indptr.tolist()
    return (hash((X.indices[a:b].tobytes(), X.data[a:b].tobytes())) for a, b in pairwise(starts))
