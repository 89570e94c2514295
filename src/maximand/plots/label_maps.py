"""Grids of labels as pictures, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from maximand.plots.canvas import plain, pyplot


class LabelMapsDisplay:
    """Grids of labels or of numbers, each drawn as a picture with its name.

    Grids of labels share their colours; labels that are not known are left blank.

    Parameters
    ----------
    grids : dict from names to arrays (height, width)
        Arrays of floating point are numbers, in levels of grey; others are labels, numbers below 0 or None not known.

    After `plot`, `axes_` holds the axes of each picture, `figure_` their figure.
    """

    def __init__(self, grids: Mapping[str, Any]):
        self.grids = {name: np.asarray(grid) for name, grid in grids.items()}
        bad = [name for name, grid in self.grids.items() if grid.ndim != 2]
        if bad or not self.grids:
            raise ValueError(f"Give arrays (height, width) by name{f'; {bad[0]!r} is none' if bad else ''}.")

    def plot(self) -> Self:
        """Draw on a new figure."""
        shape = next(iter(self.grids.values())).shape
        n, height = len(self.grids), 2.6 * shape[0] / shape[1]
        self.figure_, axes = pyplot().subplots(
            1, n, figsize=(2.6 * n, height + 0.5), layout="constrained", squeeze=False
        )
        self.axes_ = axes[0]
        labelled = [grid.ravel().tolist() for grid in self.grids.values() if grid.dtype.kind != "f"]
        known = [label for grid in labelled for label in grid if _known(label)]
        numbers = {label: i for i, label in enumerate(sorted(set(known), key=str))}
        for ax, (name, grid) in zip(self.axes_, self.grids.items(), strict=True):
            if grid.dtype.kind == "f":
                ax.imshow(grid, cmap="gray")
            else:
                codes = np.array([numbers.get(label, -1) for label in grid.ravel().tolist()]).reshape(grid.shape)
                masked = np.ma.masked_less(codes, 0)
                ax.imshow(masked, cmap="viridis", vmin=0, vmax=max(1, len(numbers) - 1), interpolation="nearest")
            ax.set_title(plain(name), fontsize=10)
            ax.set(xticks=[], yticks=[])
        return self


def _known(label: Any) -> bool:
    return label is not None and not (isinstance(label, int) and label < 0)
