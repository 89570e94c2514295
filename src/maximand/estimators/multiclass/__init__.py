"""One label for each row of a table."""

from maximand.estimators.multiclass.estimator import MulticlassClassifier

__all__ = ["MulticlassClassifier"]
