"""A figure of a reproduced experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Self

import numpy as np

from maximand.papers.outcome import Figure
from maximand.plots.canvas import axes_or_new, plain
from maximand.report.axis import logarithmic
from maximand.report.fields import Fields
from maximand.report.reading import read_figure


class FigureDisplay:
    """The curves of a stored figure with their bands.

    An axis whose numbers are positive and span a factor of a thousand is logarithmic.

    Parameters
    ----------
    figure : Figure or dict
        One of the `figures` of an outcome, or of a result.json.

    After `plot`, `ax_` holds the axes, `figure_` their figure.
    """

    def __init__(self, figure: Figure | Mapping[str, Any]):
        self.figure = read_figure(Fields(asdict(figure) if isinstance(figure, Figure) else dict(figure), "figure"))

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes, or on those of a new figure."""
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        xs, ys = [], []
        for curve in self.figure.curves:
            x, y, band = (np.array(curve[name], dtype=float) for name in ("x", "y", "band"))
            (line,) = self.ax_.plot(x, y, marker="o" if x.size <= 40 else "", markersize=4, label=plain(curve["name"]))
            if np.isfinite(band).any():
                self.ax_.fill_between(x, y - band, y + band, color=line.get_color(), alpha=0.16, linewidth=0)
            drawn = np.isfinite(x) & np.isfinite(y)
            xs.append(x[drawn])
            ys.append(y[drawn])
        if xs and logarithmic(np.concatenate(xs)):
            self.ax_.set_xscale("log")
        if ys and logarithmic(np.concatenate(ys)):
            self.ax_.set_yscale("log", nonpositive="clip")
        self.ax_.set(
            title=plain(self.figure.title), xlabel=plain(self.figure.x_label), ylabel=plain(self.figure.y_label)
        )
        self.ax_.grid(alpha=0.3)
        if len(self.figure.curves) > 1:
            self.ax_.legend(frameon=False)
        return self
