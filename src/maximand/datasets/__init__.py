"""Embedded data: simulators."""

from maximand.datasets.chains import simulate_chains
from maximand.datasets.label_sets import one_of_many, topics
from maximand.datasets.rankings import simulate_rankings
from maximand.datasets.snakes import simulate_snakes

__all__ = ["one_of_many", "simulate_chains", "simulate_rankings", "simulate_snakes", "topics"]
