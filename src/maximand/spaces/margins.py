"""How sure the best outputs are of what they say of single slots."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import entr

from maximand.support import Array, Ints

if TYPE_CHECKING:
    from maximand.spaces.base import OutputSpace

MOST_PARTS = 1 << 18  # of the copies of examples that are asked at once


class Doubts(NamedTuple):
    """What is not known, slot by slot: the best code, the best of another label, and how far ahead the one is.

    values: margins between maxima, infinite where there is no other; or entropies.
    """

    slots: Ints
    codes: Array
    others: Array
    values: Array


def by_maxima(space: OutputSpace, theta: Array, annotation: Any) -> Doubts:
    """Return by how much the best output that agrees is ahead of the best that agrees but for having another label.

    Each slot asks for a maximum of its own, in a copy of its example.
    """
    best = space.argmax_given(theta, annotation)
    slots, codes = space.unknown_slots(annotation), np.hstack(space.decode(best.mean))
    owners = np.searchsorted(annotation.offsets, slots, side="right") - 1
    others, values = np.empty(slots.size, codes.dtype), np.empty(slots.size)
    rounds = np.cumsum(space.layout.work[owners]) // MOST_PARTS
    bounds = np.flatnonzero(np.diff(rounds, prepend=-1, append=-1))
    for start, stop in pairwise(bounds.tolist()):
        asked, own = slots[start:stop], owners[start:stop]
        copies, turned = space.take(own), annotation.turned(asked, codes[asked], space.label_of_codes)
        found = copies.argmax_given(space.layout.pick(theta, own, copies.layout), turned)
        places = asked - annotation.offsets[own] + turned.offsets[:-1]
        others[start:stop] = np.hstack(copies.decode(found.mean))[places]
        values[start:stop] = best.value[own] - found.value
    return Doubts(slots, codes[slots], others, np.maximum(values, 0.0))


def by_columns(slots: Ints, codes: Ints, columns: Array, label_of_codes: Ints | None) -> Doubts:
    """Return how far the codes of slots are ahead of the best of other labels, given a value for each (slot, code)."""
    rows = np.arange(slots.size)
    labels = np.arange(columns.shape[1]) if label_of_codes is None else label_of_codes
    others = np.where(labels == labels[codes][:, None], -np.inf, columns)
    second = others.argmax(axis=1)
    return Doubts(slots, codes, second, np.maximum(columns[rows, codes] - others[rows, second], 0.0))


def by_entropy(space: OutputSpace, theta: Array, annotation: Any, temperature: float) -> Doubts:
    """Return the entropies of labels, of the soft maximum over the outputs that agree; codes are the likeliest ones."""
    mean, labels = space.marginals_given(theta, annotation, temperature).mean, space.label_of_codes
    slots, first = space.unknown_slots(annotation), None
    chances = annotation.chances(space, mean)[slots]
    if labels is not None:
        known, first = np.unique(labels, return_index=True)
        chances = chances @ (labels[:, None] == known)
    found = by_columns(slots, chances.argmax(axis=1), chances, None)._replace(values=entr(chances).sum(axis=1))
    return found if first is None else found._replace(codes=first[found.codes], others=first[found.others])
