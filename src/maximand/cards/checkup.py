"""What `doctor` looks at: data before training, and what may go wrong with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from maximand.cards.data import Dataset
from maximand.cards.options import Options
from maximand.spaces import OutputSpace

SECONDS_OF_PARTS = 1e-4  # that steps on planes take for each part in a fit; from a fifth to five times that


@dataclass(frozen=True)
class Finding:
    """Something about the data that may go wrong, and what to do about it; fatal: training would refuse them."""

    culprit: str
    cure: str
    fatal: bool = False


def nothing(data: Dataset, counts: Counter[Any]) -> dict[str, Any]:
    """Return no facts."""
    return {}


def table(model: Any, data: Dataset) -> tuple[Any, Any]:
    """Return a table as it is."""
    return data.X, data.X


def row_digests(data: Dataset) -> Iterator[int]:
    """Yield a number for each row of a table, equal for equal rows."""
    X = csr_array(data.X)
    return (hash((X.indices[a:b].tobytes(), X.data[a:b].tobytes())) for a, b in pairwise(X.indptr.tolist()))


def of_parts(matrix: Any, space: OutputSpace, data: Dataset) -> tuple[float, float]:
    """Return the bytes of costs, of means and of what they are made from."""
    return 4 * 8 * space.n_parts, 0.0


def of_timed_parts(matrix: Any, space: OutputSpace, data: Dataset) -> tuple[float, float]:
    """Return the same bytes, and a time for each part."""
    return of_parts(matrix, space, data)[0], SECONDS_OF_PARTS * space.n_parts


def matrix_bytes(matrix: Any) -> int:
    """Return the memory of a dense or CSR matrix."""
    if isinstance(matrix, np.ndarray):
        return matrix.nbytes
    return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)


@dataclass(frozen=True)
class Checkup:
    """What to look at in the examples of an estimator.

    counts(data): how often each label occurs. findings(data, counts, options): what may go wrong with labels; options
    has the loss too.
    sizes(data, counts) and facts(data, counts): what there is, beyond the number of examples and of labels; a
    mapping counts something. rows(model, data): inputs as the estimator sees them, and their matrix of features.
    digests(data): a number for each input, equal for equal inputs.
    planes(matrix, space, data): bytes and seconds that a fit takes with a loss of maxima, beyond passes over data.
    in_order: whether labels have an order of their own.
    """

    counts: Callable[[Dataset], Counter[Any]]
    findings: Callable[[Dataset, Counter[Any], Options], Iterator[Finding]]
    sizes: Callable[[Dataset, Counter[Any]], dict[str, Any]] = nothing
    facts: Callable[[Dataset, Counter[Any]], dict[str, Any]] = nothing
    rows: Callable[[Any, Dataset], tuple[Any, Any]] = table
    digests: Callable[[Dataset], Iterator[int]] = row_digests
    planes: Callable[[Any, OutputSpace, Dataset], tuple[float, float]] = of_parts
    in_order: bool = False
