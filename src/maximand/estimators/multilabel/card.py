"""The card of `MultilabelClassifier`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from maximand.cards.answers import by_label, line
from maximand.cards.card import Card, Scored, class_names
from maximand.cards.data import Dataset, Unlabelled
from maximand.cards.options import CLASS_WEIGHT, INFERENCE, INFERENCES, SCALE, Option, Options, weights_by_label
from maximand.cards.steps import scaled
from maximand.estimators.multilabel.checkup import CHECKUP
from maximand.estimators.multilabel.estimator import SHAPES, MultilabelClassifier
from maximand.estimators.multilabel.reading import FORMATS
from maximand.estimators.multilabel.scores import indicators, scores_of_labels, scores_of_sets, side_by_side
from maximand.features import GraphFeatures, TableWeights
from maximand.tasks import Budget, Independent, MultilabelTask, Pairwise
from maximand.tasks.multilabel import BoundMultilabel

OPTIONS = (
    SCALE,
    Option(
        "--structure",
        "of label sets: labels decided one by one, with bounds on their number, or with a weight for each pair "
        "(default: independent)",
        default="independent",
        choices=tuple(SHAPES),
    ),
    Option("--min-size", "fewest labels of a set, with --structure budget (default: 0)", int, metavar="N"),
    Option(
        "--max-size",
        "most labels of a set, with --structure budget (default: mean plus standard deviation, rounded up)",
        int,
        metavar="N",
    ),
    INFERENCE,
    CLASS_WEIGHT,
)


def build(data: Dataset, settings: dict[str, Any], options: Options) -> Any:
    """Return a classifier, behind a scaler where asked for."""
    weights = weights_by_label(options["class_weight"], (0, 1))
    classifier = MultilabelClassifier(
        structure=_shape(data, options), classes=data.labels, class_weight=weights, **settings
    )
    return scaled(classifier, options["scale"])


def _shape(data: Dataset, options: Options) -> Independent | Budget | Pairwise:
    """Return the structure of label sets; what it has no use for is refused."""
    name, inference = options["structure"], options["inference"]
    if inference and name != "pairwise":
        raise ValueError("--inference is how to find labels that are weighed together; add --structure pairwise.")
    if (options["min_size"], options["max_size"]) != (None, None) and name != "budget":
        raise ValueError("--min-size and --max-size bound the number of labels; add --structure budget.")
    if name == "budget":
        return _budget(data, options["min_size"] or 0, options["max_size"])
    return Pairwise(INFERENCES[inference] if inference else None) if name == "pairwise" else Independent()


def _budget(data: Dataset, least: int, most: int | None) -> Budget:
    """Refuse bounds that cannot be met."""
    n_labels, sizes = len(data.labels), data.y.sum(axis=1, dtype=int)
    if not 0 <= least <= (n_labels if most is None else most) <= n_labels:
        bounds = f"--min-size {least}" + ("" if most is None else f" and --max-size {most}")
        raise ValueError(
            f"{bounds} cannot be met; choose 0 <= min-size <= max-size <= {n_labels}, as there are labels."
        )
    short = np.flatnonzero(sizes < least)
    if short.size:
        row = int(short[0])
        raise ValueError(
            f"{data.source}: row {row + 1} has {sizes[row]} labels, fewer than --min-size {least}; lower it, or "
            "leave such rows out."
        )
    return Budget(least, most)


def lines(predictor: Any, unlabelled: Unlabelled, answers: Any, means: Any, as_json: bool) -> Iterator[str]:
    """Yield the labels of each row and, behind a tab, the probability of every label."""
    classes = predictor.classes_
    for present, chance in zip(indicators(answers, classes), means, strict=True):
        labels = classes[present].tolist()
        chances = None if chance is None else {"probabilities": by_label(classes, chance)}
        yield line("labels", labels, ",".join(map(str, labels)), chances, as_json)


def scores(predictor: Any, answers: Any, data: Dataset) -> Scored:
    """Compare sets of labels by the names of labels."""
    given = [str(label) for label in data.labels]
    labels, guesses, truth = side_by_side(
        indicators(answers, predictor.classes_), class_names(predictor), data.y, given
    )
    values = {"examples": len(truth), **scores_of_sets(guesses, truth)}
    return values, dict(zip(labels, scores_of_labels(guesses, truth), strict=True))


def part_name(predictor: Any, kind: str, part: int) -> tuple[str, str]:
    """Name a label that is there, or two that are."""
    labels = class_names(predictor)
    if kind == "tables":
        first, second = (int(side[part // 4]) for side in np.triu_indices(len(labels), 1))
        return "both", f"{labels[first]} & {labels[second]}"
    return "", labels[part // 2 if kind == "nodes" else part]


CARD = Card(
    MultilabelClassifier,
    MultilabelTask,
    BoundMultilabel,
    check=BoundMultilabel.check,
    formats=FORMATS,
    build=build,
    lines=lines,
    scores=scores,
    checkup=CHECKUP,
    stored=(Budget, GraphFeatures, Independent, Pairwise, TableWeights),
    options=OPTIONS,
    part_name=part_name,
    min_labels=1,
)
