"""The outputs that contradict an annotation, piece by piece."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from maximand.support import Array, Support, Temperature

if TYPE_CHECKING:
    from maximand.spaces.base import OutputSpace


def over_contradictions(space: OutputSpace, theta: Array, annotation: Any, temperature: Temperature = 0.0) -> Support:
    """Return the (soft) maximum over Y°, which the annotation cuts into pieces: annotations of some examples each.

    An output contradicts y when at least one annotated part is off, so the best of these constrained maxima is exact.
    A soft maximum needs pieces that do not overlap. With temperatures (visible, hidden) pieces are joined at the first:
    what the annotation leaves open contradicts nothing, so each output is in one piece with all that may be hidden.
    """
    heat = temperature[0] if isinstance(temperature, tuple) else temperature
    value, mean = np.full(space.n_examples, -np.inf), np.zeros(space.n_parts)
    bound, guarantee = np.full(space.n_examples, -np.inf), annotation.contradictions_found
    bounded, converged = True, np.ones(space.n_examples, dtype=bool)
    for examples, turned in annotation.contradictions():
        pieces = space.take(examples)
        scores = space.layout.pick(theta, examples, pieces.layout)
        if isinstance(temperature, tuple):
            hidden = pieces.open(annotation.take(examples))
            found = pieces.mixed(pieces.restricted(scores, turned), temperature, hidden)
        elif temperature:
            found = pieces.marginals_given(scores, turned, temperature)
        else:
            found = pieces.argmax_given(scores, turned)
        guarantee = guarantee & found.guarantee
        known = value[examples]
        with np.errstate(invalid="ignore"):  # -inf - -inf: nothing was found yet, nor now
            ahead = np.where(np.isneginf(found.value), -np.inf, found.value - known)
        share = expit(ahead / heat) if heat else (ahead > 0.0).astype(float)
        value[examples] = np.maximum(known, found.value)
        if heat:
            value[examples] += heat * np.log1p(np.exp(-np.abs(ahead) / heat))
        so_far = space.layout.pick(mean, examples, pieces.layout)
        blended = pieces.layout.scale(so_far, 1.0 - share) + pieces.layout.scale(found.mean, share)
        space.layout.put(mean, examples, blended, pieces.layout)
        bounded &= found.bound is not None and not heat
        if found.bound is not None:
            bound[examples] = np.maximum(bound[examples], found.bound)
        if found.converged is not None:
            converged[examples] &= found.converged
    return Support(value, mean, guarantee, bound if bounded else None, converged)
