"""How solvers approach the minimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maximand.plots.canvas import plain, pyplot
from maximand.solvers import Record

AGAINST = {"seconds": "seconds", "oracle_calls": "oracle calls"}


class ConvergenceDisplay:
    """The best objective so far and the bound on its distance to the minimum, against time or oracle calls.

    Parameters
    ----------
    histories : dict of lists of Record
        The history of each run, by the name that the legend shows.
    against : "seconds" or "oracle_calls"
        What the horizontal axes show.

    After `plot`, `ax_` holds the two axes (objective, gap) and `figure_` their figure.
    """

    def __init__(self, histories: Mapping[str, Sequence[Record]], *, against: str = "seconds"):
        if against not in AGAINST:
            raise ValueError(f"against is {against!r}; choose one of {', '.join(AGAINST)}.")
        self.histories = histories
        self.against = against

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, name: str | None = None, against: str = "seconds", ax: Any = None
    ) -> Self:
        """Draw the history of a fitted estimator."""
        return cls.from_estimators({name or type(estimator).__name__: estimator}, against=against, ax=ax)

    @classmethod
    def from_estimators(cls, estimators: Mapping[str, Any], *, against: str = "seconds", ax: Any = None) -> Self:
        """Draw the histories of several fitted estimators, given by name."""
        for estimator in estimators.values():
            check_is_fitted(estimator, "history_")
        return cls({name: estimator.history_ for name, estimator in estimators.items()}, against=against).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on a pair of axes, for the objective and for the gap; without one, on those of a new figure."""
        if ax is None:
            ax = pyplot().subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")[1]
        self.ax_ = np.asarray(ax, dtype=object)
        if self.ax_.shape != (2,):
            raise ValueError("Give a pair of axes, for the objective and for the gap, such as plt.subplots(1, 2)[1].")
        objective, gap = self.ax_
        self.figure_ = objective.figure
        bounded = False
        for name, history in self.histories.items():
            x = [getattr(record, self.against) for record in history]
            gaps = np.array([np.nan if record.gap is None else record.gap for record in history])
            positive = np.where(gaps > 0.0, gaps, np.nan)  # a logarithmic axis has no place for zero
            marker = "o" if len(history) <= 30 else ""
            objective.plot(x, [record.value for record in history], marker=marker, markersize=3, label=plain(name))
            gap.plot(x, positive, marker=marker, markersize=3, label=plain(name))
            bounded |= bool(np.isfinite(positive).any())
        objective.set(xlabel=AGAINST[self.against], ylabel="objective")
        gap.set(xlabel=AGAINST[self.against], ylabel="gap to the minimum, at most")
        if bounded:
            gap.set_yscale("log")
        else:
            gap.text(0.5, 0.5, "no bound on the gap", ha="center", va="center", transform=gap.transAxes)
        for one in self.ax_:
            one.grid(alpha=0.3)
        if len(self.histories) > 1:
            objective.legend(frameon=False)
        return self
