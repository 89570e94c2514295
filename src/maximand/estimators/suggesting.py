"""Which parts of outputs to annotate next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maximand.capabilities import Can
from maximand.estimators.means import layer_of
from maximand.estimators.predictor import StructuredPredictor
from maximand.features import Examples
from maximand.oracles import Soft
from maximand.spaces.margins import Doubts, by_entropy
from maximand.support import Array


@dataclass(frozen=True)
class Suggestion:
    """A slot that is worth annotating: a token, a node, a label of a set, an item of a ranking, a part.

    slot counts within its example. label is what the model takes the slot for, other the next best. margin is how much
    the best output is ahead of the best one that has another label there; with losses that have marginals entropy is
    that of the label, in nats, and margin is None.
    """

    example: int
    slot: int
    label: Any
    other: Any
    margin: float | None = None
    entropy: float | None = None


def suggest(model: Any, X: Any, n: int = 10, Y: Any = None) -> list[Suggestion]:
    """Return the n slots of inputs that are most ambiguous to a fitted model, the most ambiguous first.

    With a loss that has marginals (`crf`) these are the slots of largest entropy, otherwise those of smallest margin,
    between the best output and the best that contradicts it there. Slots of which only one label is possible are left
    out, and slots that are equally ambiguous come in their order.

    Parameters
    ----------
    model : StructuredPredictor
        Fitted: `SequenceTagger`, `GraphLabeler`, `MulticlassClassifier`, ... or one of your own.
    X : as `predict` takes it
    n : int
        How many slots to return, at the most.
    Y : as `fit` takes it, or None
        What is known already: it is not suggested, and all outputs that are compared agree with it.
    """
    if not isinstance(model, StructuredPredictor):
        raise ValueError(
            f"The model is a {type(model).__name__}; give an estimator of maximand, such as SequenceTagger."
        )
    if not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"n is {n!r}; ask for at least one slot.")
    task = model._fitted
    examples = task.encode(X)
    annotation = task.annotation(examples, [None] * examples.n_examples if Y is None else Y)
    impossible = np.flatnonzero(~examples.space.possible(annotation))
    if impossible.size:
        raise ValueError(f"No output agrees with what is known of example {impossible[0]}; {examples.space.remedy}.")
    heat = _temperature(model, examples)

    def doubts(chunk: slice, part: Examples, theta: Array) -> Doubts:
        known = annotation.take(chunk)
        found = by_entropy(part.space, theta, known, heat) if heat else part.space.margins(theta, known)
        return found._replace(slots=found.slots + annotation.offsets[chunk.start])

    slots, codes, others, values = map(np.concatenate, zip(*model._chunked(examples, doubts), strict=True))
    best = np.argsort(-values if heat else values, kind="stable")[: min(n, int(np.isfinite(values).sum()))]
    owners = np.searchsorted(annotation.offsets, slots[best], side="right") - 1
    places = slots[best] - annotation.offsets[owners]
    named = (task.slot_labels(own[best]) for own in (codes, others))
    measures = [(None, value) if heat else (value, None) for value in values[best].tolist()]
    rows = zip(owners.tolist(), places.tolist(), *(labels.tolist() for labels in named), measures, strict=True)
    return [Suggestion(*row, *measure) for *row, measure in rows]


def _temperature(model: StructuredPredictor, examples: Examples) -> float:
    """Return the temperature of the marginals of the model's loss, 0 where it has none."""
    layer = layer_of(model.loss)
    return layer.heats[0] if isinstance(layer, Soft) and Can.MARGINALS in examples.space.can else 0.0
