"""Embedded data: simulators."""

from maximand.datasets.chains import simulate_chains

__all__ = ["simulate_chains"]
