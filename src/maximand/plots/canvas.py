"""What all pictures share: matplotlib, loaded when something is drawn, and axes to draw on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maximand.support import Array

MOST_NAMED = 60  # more ticks than this are left to matplotlib
LONG = 3  # names with more letters are turned


def pyplot() -> Any:
    """Return matplotlib's pyplot."""
    try:
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError("Pictures need matplotlib; install it with: pip install 'maximand[plot]'") from error
    return matplotlib.pyplot


def axes_or_new(ax: Any, width: float = 6.4, height: float = 4.0) -> Any:
    """Return the given axes, or those of a new figure of this size in inches."""
    plt = pyplot()
    return plt.subplots(figsize=(width, height), layout="constrained")[1] if ax is None else ax


def name_ticks(axis: Any, names: Sequence[Any]) -> None:
    """Write a name at each of the places 0, 1, ... of an axis, where they are few enough to be read.

    Long names on a horizontal axis are turned.
    """
    if len(names) > MOST_NAMED:
        return
    shown = [plain(name) for name in names]
    turned = axis.axis_name == "x" and max(map(len, shown), default=0) > LONG
    style = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"} if turned else {}
    axis.set_ticks(range(len(names)), labels=shown, **style)


def hues(n: int) -> Array:
    """Return so many colours (n, 3), each far from the few before it."""
    pyplot()
    from matplotlib.colors import hsv_to_rgb

    turns = np.arange(n) * (np.sqrt(5.0) - 1.0) / 2.0 % 1.0
    shade = np.array([0.85, 0.65, 0.75])[np.arange(n) % 3]
    return hsv_to_rgb(np.stack([turns, np.full(n, 0.8), shade], axis=1))


def plain(name: object) -> str:
    """Return a name as matplotlib shows it letter by letter: a dollar sign begins no formula."""
    return str(name).replace("$", r"\$")
