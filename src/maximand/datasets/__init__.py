"""Embedded data: simulators."""

from maximand.datasets.cells import draw_cells, simulate_cells
from maximand.datasets.chains import simulate_chains
from maximand.datasets.label_sets import one_of_many, topics
from maximand.datasets.rankings import simulate_rankings
from maximand.datasets.snakes import simulate_snakes

__all__ = [
    "draw_cells",
    "one_of_many",
    "simulate_cells",
    "simulate_chains",
    "simulate_rankings",
    "simulate_snakes",
    "topics",
]
