"""Labels for the nodes of graphs."""

from maximand.estimators.graph_labeler.estimator import GraphLabeler

__all__ = ["GraphLabeler"]
