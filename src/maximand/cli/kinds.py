"""What data are and what a model takes: sentences, or rows with a label, a set of labels, a ranking or a level."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sklearn.pipeline import Pipeline

from maximand.cli.csv_tables import has_rankings
from maximand.estimators import (
    LabelRanker,
    MulticlassClassifier,
    MultilabelClassifier,
    OrdinalClassifier,
    SequenceTagger,
)
from maximand.models import load, predictor_of
from maximand.tasks import WindowVectorizer


class Kind(Enum):
    """What examples are, in the words of messages."""

    TEXT = "sentences with a tag for each word"
    SEQUENCES = "sequences of vectors with a tag for each"
    ROWS = "rows with one label each"
    SETS = "rows with a set of labels each"
    RANKINGS = "rows with a ranking of labels each"
    LEVELS = "rows with an ordered level each"

    @property
    def tagged(self) -> bool:
        """Whether an example is a sequence."""
        return self in (Kind.TEXT, Kind.SEQUENCES)

    @property
    def noun(self) -> str:
        """What outputs are made of."""
        return "level" if self is Kind.LEVELS else "label"


KINDS = {
    "conll": Kind.TEXT, "conllu": Kind.TEXT, "svmlight": Kind.ROWS, "svmlight-multilabel": Kind.SETS,
    "mulan": Kind.SETS, "rankings": Kind.RANKINGS, "ordinal": Kind.LEVELS, "letters": Kind.SEQUENCES,
}  # fmt: skip
FORMATS = tuple(KINDS)
SUFFIXES = {
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight", ".conll": "conll", ".bio": "conll",
    ".iob": "conll", ".txt": "conll", ".tsv": "conll", ".conllu": "conllu", ".data": "letters", ".arff": "mulan",
}  # fmt: skip


@dataclass(frozen=True)
class Known:
    """What is known of a file before it is read: from the model that it is for, or from the training data."""

    kind: Kind | None = None
    n_features: int | None = None
    labels: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


NOTHING_KNOWN = Known()


def load_model(path: str) -> tuple[Any, Known]:
    """Load a model and say what it takes.

    The names of columns leave the model: files are compared with them here, and arrays have none that scikit-learn
    could compare.
    """
    model = load(path)
    predictor = predictor_of(model)
    return model, Known(
        _kind_of(model),
        getattr(predictor, "n_features_in_", None),
        tuple(map(str, predictor.classes_.tolist())),
        tuple(map(str, vars(first_step(model)).pop("feature_names_in_", ()))),
    )


def first_step(model: Any) -> Any:
    """Return the first step of a pipeline; any other model itself."""
    return model[0] if isinstance(model, Pipeline) else model


def _kind_of(model: Any) -> Kind:
    match predictor_of(model):
        case SequenceTagger():
            return Kind.TEXT if isinstance(first_step(model), WindowVectorizer) else Kind.SEQUENCES
        case MulticlassClassifier():
            return Kind.ROWS
        case MultilabelClassifier():
            return Kind.SETS
        case LabelRanker():
            return Kind.RANKINGS
        case OrdinalClassifier():
            return Kind.LEVELS
        case other:
            raise ValueError(f"No data format holds what a {type(other).__name__} takes; load the model in Python.")


def format_of(options: argparse.Namespace, known: Known = NOTHING_KNOWN) -> str:
    """Return the format of the data file, given or by its name; svmlight has label sets where these are wanted.

    A csv file holds what is wanted, rankings or levels; where that is not known, its first line tells.
    """
    name = options.data.removesuffix(".gz")
    found = options.format or next((form for suffix, form in SUFFIXES.items() if name.endswith(suffix)), None)
    if found is None and name.endswith(".csv"):
        wanted = {Kind.RANKINGS: "rankings", Kind.LEVELS: "ordinal"}.get(known.kind)  # type: ignore[arg-type]
        found = wanted or ("rankings" if has_rankings(options.data) else "ordinal")
    if found is None:
        raise ValueError(f"{options.data}: its name does not tell the format; say --format {'|'.join(FORMATS)}.")
    if found == "svmlight" and known.kind is Kind.SETS:
        return "svmlight-multilabel"
    if known.kind not in (None, KINDS[found]):
        raise ValueError(f"{options.data}: {found} holds {KINDS[found].value}, but {known.kind.value} are wanted.")
    return str(found)
