"""The record that describes an estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from maximand.cards.checkup import Checkup
from maximand.cards.data import Dataset, Format, Unlabelled
from maximand.cards.options import Option, Options
from maximand.estimators.means import layer_of

Scored = tuple[dict[str, Any], dict[str, dict[str, Any]]]  # of all examples, and of each label


def class_names(predictor: Any) -> list[str]:
    """Return the labels as text."""
    return [str(label) for label in predictor.classes_.tolist()]


def class_name(predictor: Any, kind: str, part: int) -> tuple[str, str]:
    """Name a part that says that a slot has a label; those of other kinds by their number."""
    return ("", str(predictor.classes_[part])) if kind in ("parts", "nodes") else (kind, str(part))


@dataclass(frozen=True)
class Card:
    """An estimator, what may stand in its files, and what the command line does with it.

    estimator, task, bound: its class, and those of its task before and after it has seen data.
    stored: further classes that its model files may hold. check(bound task): refuses what does not fit together.
    formats: the data files that it takes. min_labels: fewer than these are refused before training.
    build(data, settings, options): the model to be fitted, a pipeline perhaps; `settings` are parameters that all
    estimators have, `options` the values of the card's own options.
    lines(predictor, unlabelled, answers, means, as_json): the text of each prediction; `means` come from the method
    `soft` or are None. scores(predictor, answers, data): names and values for all examples, and for each label.
    part_name(predictor, kind, part): what a part is that weights score, numbered as `Block.meaning` does: a name to put
    before that of a feature, "" for none, and a label. noun: what outputs are made of. mean_loss: a loss that makes
    means of scores, where the default one does not.
    """

    estimator: type[Any]
    task: type[Any]
    bound: type[Any]
    check: Callable[[Any], None]
    formats: tuple[Format, ...]
    build: Callable[[Dataset, dict[str, Any], Options], Any]
    lines: Callable[[Any, Unlabelled, Any, Any, bool], Iterator[str]]
    scores: Callable[[Any, Any, Dataset], Scored]
    checkup: Checkup
    stored: tuple[type, ...] = ()
    options: tuple[Option, ...] = ()
    soft: str = "predict_proba"
    part_name: Callable[[Any, str, int], tuple[str, str]] = class_name
    noun: str = "label"
    mean_loss: str = "crf"
    min_labels: int = 2

    @property
    def loss_parameter(self) -> str:
        """What the estimator calls its loss."""
        return str(self.estimator._loss_parameter)

    @property
    def loss(self) -> str:
        """The default loss."""
        return str(self.estimator().loss)

    @property
    def soft_loss(self) -> str:
        """A loss that makes means of scores: the default one, or `mean_loss`."""
        return self.mean_loss if layer_of(self.loss) is None else self.loss
