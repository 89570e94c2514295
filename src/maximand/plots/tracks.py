"""Where cells go, and where they divide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from maximand.lineage import Lineage
from maximand.plots.canvas import axes_or_new, hues, plain, pyplot
from maximand.support import Array, Bools, Ints

GREY = 0.8  # of what is no cell
TAIL = 5  # how many frames of its past a cell shows
DIVISION = {"marker": "D", "s": 26, "facecolor": "white", "edgecolor": "black", "linewidth": 1.0, "zorder": 4}
FALSE = {"marker": "x", "s": 16, "color": "0.55", "linewidth": 1.0, "zorder": 2}


class TracksDisplay:
    """Tracks of cells, each in a colour, seen along the axis z where there is one.

    Diamonds are cells that divide before the next frame, grey crosses are false detections.

    Parameters
    ----------
    table : dict of arrays
        Detections by column, with `y` and `x`.
    lineage : Lineage
        Who becomes whom among its rows.
    frames : sequence of int or None
        Frames to draw side by side, with the last few steps of each cell; None draws all tracks in one plane.
    images : array or dict, by frame
        Label images to draw cells from; without them a cell is a dot.
    labels : array or None
        The label of each detection in the image of its frame; without it, the column `label`.

    After `plot`, `axes_` holds the axes of each picture, `figure_` their figure.
    """

    def __init__(
        self,
        table: Mapping[str, Any],
        lineage: Lineage,
        *,
        frames: Sequence[int] | None = None,
        images: Any = None,
        labels: Ints | None = None,
    ):
        self.lineage = lineage
        self.places = np.stack([np.asarray(table["x"], dtype=float), np.asarray(table["y"], dtype=float)], axis=1)
        if len(self.places) != len(lineage.frames):
            raise ValueError(f"The table has {len(self.places)} rows but the lineage {len(lineage.frames)}.")
        self.frames = frames
        self.images = images
        self.labels = np.asarray(table["label"] if labels is None else labels) if images is not None else None

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes, one for each frame, or on those of a new figure."""
        self.colours_ = hues(self.lineage.n_tracks + 1)
        self.colours_[0] = GREY
        low, high = self._limits()
        shape = (high - low).tolist()
        if self.frames is None:
            self.axes_ = np.array([axes_or_new(ax, 6.0, 6.0 * min(2.0, shape[1] / shape[0]) + 0.4)], dtype=object)
            self._draw_steps(self.axes_[0], np.ones(len(self.lineage.links), dtype=bool))
            self._draw_marks(self.axes_[0], np.ones(len(self.places), dtype=bool))
        else:
            n = len(self.frames)
            if ax is None:
                size = (3.0 * n, 3.0 * min(2.0, shape[1] / shape[0]) + 0.5)
                ax = pyplot().subplots(1, n, figsize=size, layout="constrained", squeeze=False)[1][0]
            self.axes_ = np.atleast_1d(np.asarray(ax, dtype=object))
            if self.axes_.shape != (n,):
                raise ValueError(f"There are {n} frames; give as many axes, such as plt.subplots(1, {n})[1].")
            for one, frame in zip(self.axes_, self.frames, strict=True):
                self._draw_frame(one, frame)
        self.figure_ = self.axes_[0].figure
        for one in self.axes_:
            one.set(xlim=(low[0], high[0]), ylim=(high[1], low[1]), aspect="equal", xticks=[], yticks=[])
        return self

    def _limits(self) -> tuple[Array, Array]:
        if self.images is not None:
            first = self.images[next(iter(self.images))] if isinstance(self.images, Mapping) else self.images[0]
            return np.full(2, -0.5), np.array(first.shape[:-3:-1]) - 0.5
        if not len(self.places):
            return np.zeros(2), np.ones(2)
        low, high = self.places.min(axis=0), self.places.max(axis=0)
        margin = 0.03 * (high - low).max() + 1.0
        return low - margin, high + margin

    def _draw_frame(self, ax: Any, frame: int) -> None:
        here = self.lineage.frames == frame
        if self.images is not None:
            ax.imshow(self._picture(self.images[frame], here), interpolation="nearest")
        else:
            cells = here & ~self.lineage.false
            ax.scatter(*self.places[cells].T, s=22, c=self.colours_[self.lineage.tracks[cells]], zorder=3)
        self._draw_steps(ax, self._last_steps(here, frame), "black" if self.images is not None else None)
        self._draw_marks(ax, here)
        ax.set_title(plain(f"frame {frame}"), fontsize=10)

    def _last_steps(self, rows: Bools, frame: int) -> Bools:
        """Return the links of the last few frames that lead to some rows."""
        earlier, later = self.lineage.links.T
        steps = np.zeros(len(earlier), dtype=bool)
        rows = rows.copy()
        while (new := rows[later] & ~steps & (self.lineage.frames[later] > frame - TAIL)).any():
            steps |= new
            rows[earlier[new]] = True
        return steps

    def _picture(self, image: Ints, here: Bools) -> Array:
        """Return a label image in the colours of the tracks, on white; what is no cell is grey."""
        image = image.max(axis=0) if image.ndim == 3 else image
        assert self.labels is not None
        own = self.labels[here]
        colours = np.full((1 + max(int(image.max(initial=0)), int(own.max(initial=0))), 3), GREY)
        colours[own] = self.colours_[self.lineage.tracks[here]]
        colours[0] = 1.0
        return 0.35 + 0.65 * colours[image]

    def _draw_steps(self, ax: Any, which: Bools, colour: str | None = None) -> None:
        links = self.lineage.links[which]
        colours = self.colours_[self.lineage.tracks[links[:, 1]]] if colour is None else colour
        ax.add_collection(_lines()(self.places[links], colors=colours, linewidths=1.3, capstyle="round", zorder=2))

    def _draw_marks(self, ax: Any, which: Bools) -> None:
        divisions = self.lineage.divisions[which[self.lineage.divisions]]
        ax.scatter(*self.places[divisions].T, **DIVISION)
        ax.scatter(*self.places[which & self.lineage.false].T, **FALSE)


def _lines() -> Any:
    pyplot()
    from matplotlib.collections import LineCollection

    return LineCollection
