"""The family trees of cells."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from maximand.lineage import Lineage
from maximand.plots.canvas import axes_or_new, hues
from maximand.support import Array


class LineageDisplay:
    """Family trees: each track is a line from its first frame down to its last one, and divisions are forks.

    Where tracks merge, the tree follows the lowest parent, and dotted lines lead from the others.

    Parameters
    ----------
    lineage : Lineage
    families : int
        How many families to draw, those with most tracks.

    After `plot`, `ax_` holds the axes, `figure_` their figure, and `places_` where on the horizontal axis each track is
    that is drawn.
    """

    def __init__(self, lineage: Lineage, *, families: int = 20):
        self.lineage = lineage
        self.families = families

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes, or on those of a new figure."""
        lineage = self.lineage
        trees = sorted(self._trees(), key=len, reverse=True)[: self.families]
        leaves = 0
        self.places_: dict[int, float] = {}
        for tree in trees:
            leaves = self._place(tree, leaves) + 1
        self.ax_ = axes_or_new(ax, min(16.0, 2.0 + 0.13 * leaves), 5.0)
        self.figure_ = self.ax_.figure
        for tree, colour in zip(trees, hues(len(trees)), strict=True):
            for track in tree:
                self._draw_track(track, colour)
        links = lineage.tracks[lineage.links[~lineage.plain]]
        for parent, child in links[links[:, 0] != lineage.parents[links[:, 1] - 1]].tolist():
            if parent in self.places_ and child in self.places_:
                self._line([parent, child], [lineage.ends[parent - 1], lineage.begins[child - 1]], "0.3", linestyle=":")
        forks = np.bincount(lineage.parents, minlength=lineage.n_tracks + 1) > 1
        dividing = [track for track in self.places_ if forks[track]]
        self.ax_.plot(
            [self.places_[track] for track in dividing],
            [lineage.ends[track - 1] for track in dividing],
            "D", color="black", markerfacecolor="white", markersize=4, linestyle="",
        )  # fmt: skip
        self.ax_.set(xticks=[], ylabel="frame", xlim=(-1, max(leaves - 1, 1)))
        self.ax_.yaxis.get_major_locator().set_params(integer=True)
        self.ax_.invert_yaxis()
        self.ax_.grid(axis="y", alpha=0.3)
        for side in ("top", "right", "bottom"):
            self.ax_.spines[side].set_visible(False)
        return self

    def _trees(self) -> list[list[int]]:
        """Return the tracks of each family, parents before children and each child's before the next one's."""
        children: dict[int, list[int]] = {}
        for track, parent in enumerate(self.lineage.parents.tolist(), 1):
            children.setdefault(parent, []).append(track)
        trees = []
        for root in children.get(0, []):
            tree, waiting = [], [root]
            while waiting:
                tree.append(waiting.pop())
                waiting += reversed(children.get(tree[-1], []))
            trees.append(tree)
        return trees

    def _place(self, tree: list[int], leaves: int) -> int:
        """Place the leaves of a tree side by side and parents above the middle of their children; count the leaves."""
        below: dict[int, list[float]] = {}
        parents = set(self.lineage.parents[np.array(tree) - 1].tolist())
        for track in tree:
            if track not in parents:
                self.places_[track] = leaves
                leaves += 1
        for track in reversed(tree):
            if track in below:
                self.places_[track] = (min(below[track]) + max(below[track])) / 2
            below.setdefault(int(self.lineage.parents[track - 1]), []).append(self.places_[track])
        return leaves

    def _draw_track(self, track: int, colour: Array) -> None:
        begin, end, parent = (one[track - 1] for one in (self.lineage.begins, self.lineage.ends, self.lineage.parents))
        if parent:
            fork = self.lineage.ends[parent - 1]
            self._line([parent, track, track], [fork, fork, begin], colour)
        self._line([track, track], [begin, end], colour, marker="_" if begin == end and not parent else "")

    def _line(self, tracks: list[int], frames: list[Any], colour: Any, **style: Any) -> None:
        style = {"solid_joinstyle": "round", "markersize": 5, **style}
        self.ax_.plot([self.places_[track] for track in tracks], frames, color=colour, linewidth=1.4, **style)
