"""Ping, Liu, Ihler: Marginal structured SVM with hidden variables."""

from maximand.papers.ping2014.table2 import TABLE2_SCALES, table2

__all__ = ["TABLE2_SCALES", "table2"]
