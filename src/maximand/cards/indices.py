"""Whether svmlight files count features from 0 or from 1, which not every file tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from maximand.cards.data import Known
from maximand.cards.options import Option, Options
from maximand.formats import FormatError

FIRST_INDEX = Option(
    "--first-index",
    "the number of the first feature in svmlight files; default: as in the training file, which is taken to begin at "
    "0 where an index 0 occurs, else at 1",
    choices=("0", "1"),
)
BEGIN_AT_1 = "they begin at 1"
AS_TRAINED = (
    f"{BEGIN_AT_1}, as it seemed in the training file: where that one began at 0, fit again with --first-index 0; "
    "where only this one does, say --first-index 0"
)
Rows = TypeVar("Rows")


def read_counted(read: Callable[..., Rows], source: str, known: Known, options: Options) -> Rows:
    """Read rows whose features are counted as one is told, else as in the training file, else as it seems."""
    first = options["first_index"]
    zero_based = known.decided.get("zero_based", "auto") if first is None else first == "0"
    try:
        return read(source, n_features=known.n_features, zero_based=zero_based)
    except FormatError as error:
        if first is None and "zero_based" in known.decided:
            raise FormatError(error.name, error.line, error.problem.replace(BEGIN_AT_1, AS_TRAINED)) from None
        raise
