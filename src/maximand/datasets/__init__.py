"""Embedded data: simulators."""

from maximand.datasets.chains import simulate_chains
from maximand.datasets.label_sets import one_of_many, topics

__all__ = ["one_of_many", "simulate_chains", "topics"]
