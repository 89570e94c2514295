"""All outputs of small spaces, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maximand.support import Array, Bools, Ints, Support

if TYPE_CHECKING:
    from maximand.spaces.base import OutputSpace


class Listed(NamedTuple):
    """The outputs of an example: where its parts are in the batch, psi row by row, and which outputs agree."""

    parts: Ints
    outputs: Array
    agree: Bools


def listed(space: OutputSpace, annotation: Any) -> list[Listed]:
    """List the outputs of each example, and which of them agree with its annotation."""
    found, places = [], np.arange(space.n_parts, dtype=float)
    for i in range(space.n_examples):
        one = space.take(np.array([i]))
        outputs = one.outputs()
        agree = annotation.take(np.array([i])).agree([one.decode(psi)[0] for psi in outputs])
        own = space.layout.pick(places, np.array([i]), one.layout)
        found.append(Listed(own.astype(np.int64), outputs, agree))
    return found


def one_versus_all(space: OutputSpace, theta: Array, lists: list[Listed]) -> Support:
    """Return l(mean score over Y*) + sum over Y° of l(-score), where l(a) = max(0, 1 - a)."""
    theta = space.layout.expand(theta)
    values, mean = np.empty(space.n_examples), np.zeros(space.n_parts)
    for i, (parts, outputs, agree) in enumerate(lists):
        known, scores = outputs[agree].mean(axis=0), outputs @ theta[parts]
        short, high = 1.0 - known @ theta[parts], np.where(agree, 0.0, 1.0 + scores)
        values[i] = max(0.0, short) + np.maximum(high, 0.0).sum()
        mean[parts] = (high > 0.0) @ outputs - (short > 0.0) * known
    return Support(values, mean)
