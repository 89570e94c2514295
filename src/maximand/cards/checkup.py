"""What `doctor` looks at: data before training, and what may go wrong with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from maximand.cards.data import Examples
from maximand.cards.options import Options
from maximand.spaces import OutputSpace


@dataclass(frozen=True)
class Finding:
    """Something about the data that may go wrong, and what to do about it; fatal: training would refuse them."""

    culprit: str
    cure: str
    fatal: bool = False


def nothing(examples: Examples, counts: Counter[Any]) -> dict[str, Any]:
    """Return no facts."""
    return {}


def table(model: Any, examples: Examples) -> tuple[Any, Any]:
    """Return a table as it is."""
    return examples.X, examples.X


def row_digests(examples: Examples) -> Iterator[int]:
    """Yield a number for each row of a table, equal for equal rows."""
    X = csr_array(examples.X)
    return (hash((X.indices[a:b].tobytes(), X.data[a:b].tobytes())) for a, b in pairwise(X.indptr.tolist()))


def of_parts(matrix: Any, space: OutputSpace, examples: Examples) -> tuple[float, float]:
    """Return the bytes of costs, of means and of what they are made from."""
    return 4 * 8 * space.n_parts, 0.0


def matrix_bytes(matrix: Any) -> int:
    """Return the memory of a dense or CSR matrix."""
    if isinstance(matrix, np.ndarray):
        return matrix.nbytes
    return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)


@dataclass(frozen=True)
class Checkup:
    """What to look at in the examples of an estimator.

    counts(examples): how often each label occurs. findings(examples, counts, options): what may go wrong with labels.
    sizes(examples, counts) and facts(examples, counts): what there is, beyond the number of examples and of labels; a
    mapping counts something. rows(model, examples): inputs as the estimator sees them, and their matrix of features.
    digests(examples): a number for each input, equal for equal inputs.
    planes(matrix, space, examples): bytes and seconds that a fit takes with a loss of maxima, beyond passes over data.
    in_order: whether labels have an order of their own.
    """

    counts: Callable[[Examples], Counter[Any]]
    findings: Callable[[Examples, Counter[Any], Options], Iterator[Finding]]
    sizes: Callable[[Examples, Counter[Any]], dict[str, Any]] = nothing
    facts: Callable[[Examples, Counter[Any]], dict[str, Any]] = nothing
    rows: Callable[[Any, Examples], tuple[Any, Any]] = table
    digests: Callable[[Examples], Iterator[int]] = row_digests
    planes: Callable[[Any, OutputSpace, Examples], tuple[float, float]] = of_parts
    in_order: bool = False
