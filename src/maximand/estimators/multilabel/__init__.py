"""A set of labels for each row of a table."""

from maximand.estimators.multilabel.estimator import MultilabelClassifier

__all__ = ["MultilabelClassifier"]
