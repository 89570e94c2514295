"""An ordered level for each row of a table."""

from maximand.estimators.ordinal.estimator import OrdinalClassifier

__all__ = ["OrdinalClassifier"]
