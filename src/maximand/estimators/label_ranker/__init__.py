"""A ranking of labels for each row of a table."""

from maximand.estimators.label_ranker.estimator import LabelRanker

__all__ = ["LabelRanker"]
