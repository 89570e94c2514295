"""The card of `OrdinalClassifier`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from maximand.cards.answers import by_label, line, scores_by_label, share_equal
from maximand.cards.card import Card, Scored, class_names
from maximand.cards.checkup import Checkup, Finding, of_timed_parts
from maximand.cards.data import Dataset, Format, Known, Unlabelled
from maximand.cards.findings import clashes, imbalance, rare, some
from maximand.cards.options import CLASS_WEIGHT, SCALE, Options, weights_by_label
from maximand.cards.steps import scaled
from maximand.cards.tables import check_width, unlabelled_csv
from maximand.estimators.ordinal.estimator import OrdinalClassifier
from maximand.formats import FormatError, read_ordinal
from maximand.tasks import OrdinalTask
from maximand.tasks.levels import BoundOrdinal

MANY_LEVELS = 30


def read(source: str, known: Known, options: Options) -> Dataset:
    """Read a csv file without a header; the levels are all from the lowest to the highest that occurs."""
    try:
        graded = read_ordinal(source)
    except FormatError as error:
        cure = " If this is a header, delete it: levels have none." if error.line == 1 else ""
        raise FormatError(error.name, error.line, error.problem + cure) from None
    check_width(source, known, graded.X)
    levels = tuple(range(int(graded.y.min()), int(graded.y.max()) + 1))
    return Dataset(source, graded.X, graded.y, levels)


def unlabelled(source: str, known: Known, options: Options) -> Iterator[Unlabelled]:
    """Read rows that may lack their level."""
    return unlabelled_csv(source, known, header=False)


def build(data: Dataset, settings: dict[str, Any], options: Options) -> Any:
    """Return a classifier, behind a scaler where asked for."""
    weights = weights_by_label(options["class_weight"], data.labels)
    return scaled(OrdinalClassifier(classes=data.labels, class_weight=weights, **settings), options["scale"])


def lines(predictor: Any, unlabelled: Unlabelled, answers: Any, means: Any, as_json: bool) -> Iterator[str]:
    """Yield the level of each row and, behind a tab, the probability of every level."""
    for level, chance in zip(answers.tolist(), means, strict=True):
        chances = None if chance is None else {"probabilities": by_label(predictor.classes_, chance)}
        yield line("level", level, str(level), chances, as_json)


def scores(predictor: Any, answers: Any, data: Dataset) -> Scored:
    """Return accuracy, the mean number of levels between prediction and truth, and how often it is at most one."""
    guesses, right = [str(level) for level in answers], [str(level) for level in data.y]
    if np.asarray(answers).dtype.kind not in "iuf":
        raise ValueError(f"The model knows the level {answers[0]!r}, but the data have numbers; evaluate it in Python.")
    away = np.abs(np.asarray(answers) - data.y)
    values = {
        "examples": len(right), "accuracy": share_equal(guesses, right), "mean absolute error": float(away.mean()),
        "within one level": float((away <= 1).mean()),
    }  # fmt: skip
    return values, scores_by_label(right, guesses, key=float)


def counts(data: Dataset) -> Counter[Any]:
    """Count how often each level occurs."""
    return Counter(data.y.tolist())


def findings(data: Dataset, counts: Counter[Any], options: Options) -> Iterator[Finding]:
    """Look at ordered levels."""
    if len(counts) < 2:
        yield Finding(f"There is only the level {data.labels[0]}.", "Training needs at least two.", fatal=True)
        return
    yield from rare(counts, "level")
    weighed = OrdinalClassifier(loss=options["loss"], class_weight=options["class_weight"])
    yield from imbalance(counts, "level", "the mean absolute error", weighed)
    empty = [level for level in data.labels if level not in counts]
    if empty:
        yield Finding(
            f"The levels go from {data.labels[0]} to {data.labels[-1]} without {some(empty)}.",
            "They count as steps between their neighbours, but nothing teaches them; number the levels without holes "
            "if they do not exist.",
        )
    if len(counts) > MANY_LEVELS:
        yield Finding(
            f"There are {len(counts)} levels.",
            "Each has weights of its own; for a quantity join neighbours, or use a regression.",
        )
    yield from clashes(data, "level")


def part_name(predictor: Any, kind: str, part: int) -> tuple[str, str]:
    """Name the threshold between two neighbouring levels."""
    return "", f"above {class_names(predictor)[part]}"


CARD = Card(
    OrdinalClassifier,
    OrdinalTask,
    BoundOrdinal,
    check=BoundOrdinal.check,
    formats=(Format("ordinal", "rows with an ordered level each", read, (".csv",), unlabelled),),
    build=build,
    lines=lines,
    scores=scores,
    checkup=Checkup(counts, findings, planes=of_timed_parts, in_order=True),
    options=(SCALE, CLASS_WEIGHT),
    part_name=part_name,
    noun="level",
)
