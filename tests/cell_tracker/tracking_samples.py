"""Small movies."""

import numpy as np

from maximand.datasets import simulate_cells
from maximand.lineage import Lineage


def movie(seed, n_frames=8, n_cells=15, **settings):
    """A movie in which every cell is seen in every frame, and its lineage."""
    return simulate_cells(
        n_frames, n_cells, shape=(112, 112), division=0.04, missed=0.0, false=0.0, random_state=seed, **settings
    )


def spotted(seed, n_frames=10, n_cells=15):
    """A movie with cells that are missed and detections that are none."""
    return simulate_cells(
        n_frames, n_cells, shape=(112, 112), division=0.04, missed=0.05, false=0.05, random_state=seed
    )


def parted(movies):
    """The tables and the lineages."""
    tables, lineages = zip(*movies, strict=True)
    return list(tables), list(lineages)


def tiny():
    """Two frames: a cell moves, one divides, one disappears, one appears; rows 0 to 2, then 3 to 6."""
    table = {
        "frame": np.array([0, 0, 0, 1, 1, 1, 1]),
        "id": np.array([1, 2, 3, 1, 2, 3, 4]),
        "y": np.array([0.0, 10.0, 30.0, 1.0, 8.0, 12.0, 50.0]),
        "x": np.array([0.0, 10.0, 30.0, 0.0, 10.0, 10.0, 50.0]),
    }
    return table, Lineage.of(table["frame"], [(0, 3), (1, 4), (1, 5)])
