"""Lou, Hamprecht: Structured learning from partial annotations."""

from maximand.papers.lou2012.figure3 import FIGURE3_SCALES, figure3
from maximand.papers.lou2012.figure5 import FIGURE5_SCALES, figure5
from maximand.papers.lou2012.held_out import HELD_OUT_SCALES, held_out
from maximand.papers.lou2012.table3 import TABLE3_SCALES, table3

__all__ = [
    "FIGURE3_SCALES", "FIGURE5_SCALES", "HELD_OUT_SCALES", "TABLE3_SCALES", "figure3", "figure5", "held_out", "table3",
]  # fmt: skip
