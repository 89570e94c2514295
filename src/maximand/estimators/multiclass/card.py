"""The card of `MulticlassClassifier`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from maximand.cards.answers import scores_by_label, share_equal
from maximand.cards.card import Card, Scored
from maximand.cards.checkup import Checkup, Finding
from maximand.cards.data import Dataset, Format, Known, Unlabelled
from maximand.cards.findings import of_labels
from maximand.cards.indices import FIRST_INDEX, read_counted
from maximand.cards.options import CLASS_WEIGHT, SCALE, Options, weights_by_label
from maximand.cards.steps import scaled
from maximand.estimators.multiclass.estimator import MulticlassClassifier
from maximand.formats import FormatError, read_svmlight
from maximand.tasks import MulticlassTask
from maximand.tasks.multiclass import BoundMulticlass


def read(source: str, known: Known, options: Options) -> Dataset:
    """Read svmlight rows; whole numbers are labels as they are."""
    try:
        rows = read_counted(read_svmlight, source, known, options)
    except FormatError as error:
        problem = error.problem.replace("use read_multilabel_svmlight", "say --format svmlight-multilabel")
        raise FormatError(error.name, error.line, problem) from None
    whole = np.array_equal(rows.y, np.rint(rows.y))
    y = rows.y.astype(np.int64) if whole else rows.y
    return Dataset(source, rows.X, y, decided={"zero_based": rows.zero_based})


def build(data: Dataset, settings: dict[str, Any], options: Options) -> Any:
    """Return a classifier, behind a scaler where asked for."""
    weights = weights_by_label(options["class_weight"], data.y.tolist())
    return scaled(MulticlassClassifier(class_weight=weights, **settings), options["scale"])


def lines(predictor: Any, unlabelled: Unlabelled, answers: Any, means: Any, as_json: bool) -> Iterator[str]:
    """Yield the label of each row, and its probability."""
    for label, chance in zip(answers.tolist(), means, strict=True):
        words = [label] if chance is None else [label, round(float(chance.max()), 6)]
        yield json.dumps(words[0] if len(words) == 1 else words) if as_json else " ".join(map(str, words))


def scores(predictor: Any, answers: Any, data: Dataset) -> Scored:
    """Return accuracy, and precision, recall and F1 of each label."""
    guesses, right = [str(label) for label in answers], [str(label) for label in data.y]
    values = {"examples": len(right), "accuracy": share_equal(guesses, right)}
    return values, scores_by_label(right, guesses)


def counts(data: Dataset) -> Counter[Any]:
    """Count how often each label occurs."""
    return Counter(data.y.tolist())


def findings(data: Dataset, counts: Counter[Any], options: Options) -> Iterator[Finding]:
    """Look at single labels."""
    return of_labels(counts, MulticlassClassifier(loss=options["loss"], class_weight=options["class_weight"]))


CARD = Card(
    MulticlassClassifier,
    MulticlassTask,
    BoundMulticlass,
    check=BoundMulticlass.check,
    formats=(
        Format("svmlight", "rows with one label each", read, (".svm", ".svmlight", ".libsvm"), options=(FIRST_INDEX,)),
    ),
    build=build,
    lines=lines,
    scores=scores,
    checkup=Checkup(counts, findings),
    options=(SCALE, CLASS_WEIGHT),
)
