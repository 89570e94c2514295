"""Tracking of dividing cells."""

from maximand.estimators.cell_tracker.estimator import CellTracker

__all__ = ["CellTracker"]
