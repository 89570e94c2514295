"""Answers for consecutive chunks of inputs, and what must hold in them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np

from maximand.batch import cut, require_agreement
from maximand.engine import Threads
from maximand.features import Examples, FeatureMap
from maximand.shards import LANES
from maximand.spaces import Shares
from maximand.support import Array


def chunked(
    features: FeatureMap,
    weights: Array,
    examples: Examples,
    answer: Callable[[slice, Examples, Array], Any],
    n_threads: int | None,
) -> list[Any]:
    """Return answer(chunk, examples, theta) for consecutive chunks of the examples, worked on side by side."""
    weights = features.prepared(weights, examples.inputs)
    chunks = cut(examples.space.layout, LANES, examples.space.quick)

    def one(chunk: slice) -> Any:
        part = examples if len(chunks) == 1 else examples.take(chunk)
        return answer(chunk, part, features.scores(part, weights))

    return list(Threads(n_threads).each(one, chunks))


def joined(answers: list[Any]) -> Any:
    """Put the answers of consecutive chunks together: arrays into an array, lists into a list."""
    return np.concatenate(answers) if isinstance(answers[0], np.ndarray) else list(chain.from_iterable(answers))


def held(task: Any, examples: Examples, known: Any) -> Callable[[slice], Any]:
    """Return what says what is known of a chunk, as an annotation; refuse what no output agrees with."""
    if known is None:
        return lambda chunk: None
    annotation = task.annotation(examples, known)
    if isinstance(annotation, Shares):
        raise ValueError("known holds shares of labels, which no single output has; give labels or sets of candidates.")
    require_agreement(examples.space, annotation, np.flatnonzero(annotation.n_annotated))
    return lambda chunk: annotation.take(chunk)
