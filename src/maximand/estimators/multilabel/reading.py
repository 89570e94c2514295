"""Label sets in files: Mulan's ARFF, and svmlight rows with several labels."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.sparse import issparse

from maximand.cards.data import Dataset, Format, Known, Unlabelled
from maximand.cards.indices import FIRST_INDEX, read_counted
from maximand.cards.options import Option, Options
from maximand.cards.tables import check_columns
from maximand.formats import (
    Source,
    read_arff,
    read_labels_xml,
    read_mulan,
    read_multilabel_svmlight,
    write_labels_xml,
)

CONTENT = "rows with a set of labels each"


def read_table(source: str, known: Known, options: Options) -> Dataset:
    """Read Mulan's ARFF; y is a matrix of indicators with a column for each label."""
    table = read_mulan(source, _names_of_labels(source, known, options))
    check_columns(source, known, table.features)
    return Dataset(source, table.X, table.Y.toarray() if issparse(table.Y) else table.Y, table.labels, table.features)


def unlabelled_table(source: str, known: Known, options: Options) -> Iterator[Unlabelled]:
    """Read a table that may lack its labels or have ? in their place."""
    labels = set(read_labels_xml(options["labels"]) if options["labels"] else known.labels)
    table = read_arff(source)
    kept = [place for place, column in enumerate(table.attributes) if column.name not in labels]
    check_columns(source, known, tuple(table.attributes[place] for place in kept))
    yield Unlabelled(table.data[:, kept])


class _LabelsOfModel(io.StringIO):
    name = "the model"


def _names_of_labels(source: str, known: Known, options: Options) -> Source:
    """Return the XML file that names the labels, or one made of those that the model knows."""
    if options["labels"]:
        return str(options["labels"])
    if not known.labels:
        raise ValueError(f"{source}: which of its columns are labels? Say --labels with the XML file beside it.")
    file = _LabelsOfModel()
    write_labels_xml(known.labels, file)
    file.seek(0)
    return file


def read_rows(source: str, known: Known, options: Options) -> Dataset:
    """Read svmlight rows; y is a matrix of indicators with a column for each label that occurs."""
    sets = read_counted(read_multilabel_svmlight, source, known, options)
    labels = sorted(set().union(*sets.labels))
    place = {label: column for column, label in enumerate(labels)}
    y = np.zeros((len(sets.labels), len(labels)), dtype=np.int8)
    for row, present in enumerate(sets.labels):
        y[row, [place[label] for label in present]] = 1
    return Dataset(source, sets.X, y, tuple(labels), decided={"zero_based": sets.zero_based})


LABELS = Option(
    "--labels", "XML file that names the labels among the columns of Mulan's ARFF", kind=Path, metavar="FILE"
)
FORMATS = (
    Format("mulan", CONTENT, read_table, (".arff",), unlabelled_table, options=(LABELS,)),
    Format("svmlight-multilabel", CONTENT, read_rows, variant_of="svmlight", options=(FIRST_INDEX,)),
)
