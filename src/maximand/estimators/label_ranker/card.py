"""The card of `LabelRanker`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from maximand.cards.answers import by_label, line
from maximand.cards.card import Card, Scored, class_names
from maximand.cards.data import Dataset, Format, Known, Unlabelled
from maximand.cards.options import SCALE, Option, Options
from maximand.cards.steps import scaled
from maximand.cards.tables import check_columns, check_width, has_rankings, unlabelled_csv
from maximand.estimators.label_ranker.checkup import CHECKUP
from maximand.estimators.label_ranker.estimator import LabelRanker
from maximand.estimators.label_ranker.scores import scores_of_rankings
from maximand.estimators.means import layer_of
from maximand.formats import Attribute, FormatError, read_rankings
from maximand.oracles import Projection
from maximand.tasks import RankingTask
from maximand.tasks.rankings import ENCODINGS, UNLISTED, BoundRanking

OPTIONS = (
    SCALE,
    Option(
        "--encoding",
        "of rankings: weights for each label in each position, or for each label alone (default: matrix)",
        choices=ENCODINGS,
    ),
    Option("--unlisted", "where labels belong that a ranking leaves out (default: anywhere)", choices=UNLISTED),
)


def read(source: str, known: Known, options: Options) -> Dataset:
    """Read a csv file with a header; rankings are tuples of labels and of sets of labels that tie, the best first."""
    ranked = read_rankings(source, labels=known.labels or None)
    if not ranked.rankings:
        raise FormatError(source, None, "no rows below the header.")
    columns = tuple(map(Attribute, ranked.feature_names))
    check_columns(source, known, columns)
    check_width(source, known, ranked.X)
    return Dataset(source, ranked.X, list(ranked.rankings), ranked.labels, columns)


def unlabelled(source: str, known: Known, options: Options) -> Iterator[Unlabelled]:
    """Read rows that may lack their ranking."""
    return unlabelled_csv(source, known, header=True)


def build(data: Dataset, settings: dict[str, Any], options: Options) -> Any:
    """Return a ranker, behind a scaler where asked for; a loss that rankings cannot have is refused."""
    form = {name: options[name] for name in ("encoding", "unlisted") if options[name]}
    if "projection" in settings:
        _check_loss(data, settings["projection"], options["encoding"])
    return scaled(LabelRanker(**form, **settings), options["scale"])


def _check_loss(data: Dataset, loss: str, encoding: str | None) -> None:
    layer = layer_of(loss)
    if layer is not None and not isinstance(layer, Projection):
        raise ValueError(f"--loss {loss} needs sums over all rankings; say --loss euclidean or entropic.")
    partial = next((i for i, y in enumerate(data.y, 1) if len(y) < len(data.labels)), None)
    if encoding == "vector" and partial and layer is None and loss != "perceptron":
        raise ValueError(
            f"{data.source}: ranking {partial} leaves labels out or has ties, and --loss {loss} with --encoding vector "
            "needs whole rankings; say --loss euclidean, or --encoding matrix."
        )


def lines(predictor: Any, unlabelled: Unlabelled, answers: Any, means: Any, as_json: bool) -> Iterator[str]:
    """Yield the labels of each row, the best first, and, behind a tab, what is known of the position of each.

    That is the probability of every position, or where labels have a single weight the expected position, 1 for the
    best.
    """
    for order, mean in zip(answers.tolist(), means, strict=True):
        more = None
        if mean is not None and predictor.encoding == "matrix":
            more = {"probabilities": by_label(predictor.classes_, mean)}
        elif mean is not None:  # the first of k positions weighs k, the last 1
            more = {"expected positions": by_label(predictor.classes_, len(order) + 1 - mean)}
        yield line("ranking", order, ">".join(map(str, order)), more, as_json)


def scores(predictor: Any, answers: Any, data: Dataset) -> Scored:
    """Compare the positions of labels."""
    labels = class_names(predictor)
    place = {label: code for code, label in enumerate(labels)}
    order = np.array([[place[str(label)] for label in row] for row in answers.tolist()])
    return scores_of_rankings(np.argsort(order, axis=1), data.y, labels, predictor.unlisted)


def part_name(predictor: Any, kind: str, part: int) -> tuple[str, str]:
    """Name a label, or a label in a position."""
    labels = class_names(predictor)
    if predictor.encoding == "vector":
        return "", labels[part]
    label, place = divmod(part, len(labels))
    return "", f"{labels[label]} in place {place + 1}"


CARD = Card(
    LabelRanker,
    RankingTask,
    BoundRanking,
    check=BoundRanking.check,
    formats=(Format("rankings", "rows with a ranking of labels each", read, (".csv",), unlabelled, has_rankings),),
    build=build,
    lines=lines,
    scores=scores,
    checkup=CHECKUP,
    options=OPTIONS,
    soft="predict_soft",
    part_name=part_name,
)
