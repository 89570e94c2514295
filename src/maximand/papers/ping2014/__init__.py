"""Ping, Liu, Ihler: Marginal structured SVM with hidden variables."""

from maximand.papers.ping2014.figure2 import FIGURE2_SCALES, figure2
from maximand.papers.ping2014.figure3 import FIGURE3_SCALES, figure3
from maximand.papers.ping2014.figure5 import FIGURE5_SCALES, figure5
from maximand.papers.ping2014.table2 import TABLE2_SCALES, table2
from maximand.papers.ping2014.table3 import TABLE3_SCALES, table3

__all__ = [
    "FIGURE2_SCALES", "FIGURE3_SCALES", "FIGURE5_SCALES", "TABLE2_SCALES", "TABLE3_SCALES", "figure2", "figure3",
    "figure5", "table2", "table3",
]  # fmt: skip
