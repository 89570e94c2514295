"""Partial annotations made of fuller ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from maximand.numerics.stratified import stratified
from maximand.spaces import Labels, Parts
from maximand.support import Ints
from maximand.tasks.label_names import is_frame, unknown


def subsample(Y: Any, share: float, *, strata: Any = None, random_state: int = 0) -> Any:
    """Return a copy of annotations in which only a share of what is known still is, with some of all that is rare.

    Of each stratum that share is left, up to rounding, and at least one slot. With the same Y, strata and random state
    a larger share leaves all that a smaller one does, so that the copies make a learning curve.

    Parameters
    ----------
    Y : list or array, or an annotation such as `Labels` or `Parts`
        What `fit` takes: labels, lists of tags, grids, a matrix of indicators; a set is a single slot. What is not
        known stays so, and so does -1 where an example has several slots. Rankings have no slots: give `Labels`.
    share : float
        Above 0, at most 1.
    strata : like Y, or an array with an entry for each slot of an annotation
        What each slot counts as; None for its label. Strata that are unknown (None; below 0 for an annotation) are
        never left.
    random_state : int
        Chooses the slots.

    Examples
    --------
    >>> subsample([["D", "N", "V"], ["D", "N"]], 0.5, random_state=1)
    [['D', None, 'V'], [None, 'N']]
    """
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share is {share!r}; give a number above 0, at most 1.")
    if isinstance(Y, (Labels, Parts)):
        own = Y.strata if strata is None else np.asarray(strata)
        if own.shape != Y.open.shape:
            raise ValueError(f"strata has shape {own.shape} but there are {Y.open.size} slots; each needs one.")
        return Y.only(stratified(np.where(Y.strata < 0, -1, own), share, random_state))
    slots = list(_leaves(Y))
    named = slots if strata is None else list(_leaves(strata))
    if len(named) != len(slots):
        raise ValueError(f"strata has {len(named)} entries but Y has {len(slots)} labels; each needs one.")
    taken = stratified(_numbered(slots, named), share, random_state)
    left = iter([label if keep else None for label, keep in zip(slots, taken.tolist(), strict=True)])
    return _filled(Y, lambda: next(left))


def _numbered(slots: list[Any], named: list[Any]) -> Ints:
    """Number the strata of slots in the order in which they occur, -1 where there is nothing to leave."""
    numbers: dict[Any, int] = {}
    return np.array(
        [
            -1
            if slot is None or name is None
            else numbers.setdefault(frozenset(name) if isinstance(name, set) else name, len(numbers))
            for slot, name in zip(slots, named, strict=True)
        ],
        dtype=np.int64,
    )


def _leaves(Y: Any, depth: int = 0) -> Iterator[Any]:
    """Yield all labels, None where nothing is known."""
    for label in _items(Y):
        if _nested(label):
            yield from _leaves(label, depth + 1)
        else:
            minus_one = depth > 0 and isinstance(label, (int, float)) and label == -1
            yield None if unknown(label) or minus_one else label


def _filled(Y: Any, following: Callable[[], Any]) -> Any:
    """Return the same containers, of arrays and tables as arrays of objects, filled with labels in the same order."""
    if isinstance(Y, dict):
        return {name: _filled(labels, following) if _nested(labels) else following() for name, labels in Y.items()}
    filled = [_filled(label, following) if _nested(label) else following() for label in _items(Y)]
    if isinstance(Y, (list, tuple)):
        return type(Y)(filled) if type(Y) in (list, tuple) else filled
    array = np.empty(np.shape(Y), dtype=object)
    array[:] = filled
    return array


def _nested(label: Any) -> bool:
    return isinstance(label, (list, tuple, dict, np.ndarray)) or is_frame(label)


def _items(Y: Any) -> Any:
    """Return what a container holds, as plain Python values where it is an array."""
    if isinstance(Y, dict):
        return Y.values()
    if hasattr(Y, "to_numpy"):
        Y = Y.to_numpy()
    if isinstance(Y, np.ndarray):
        return Y.tolist()
    return Y
