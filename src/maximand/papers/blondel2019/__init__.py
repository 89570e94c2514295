"""Blondel: Structured prediction with projection oracles."""

from maximand.papers.blondel2019.figure3 import FIGURE3_SCALES, figure3
from maximand.papers.blondel2019.label_ranking import RANKING_SCALES, table1, table2
from maximand.papers.blondel2019.multilabel import MULTILABEL_SCALES, multilabel
from maximand.papers.blondel2019.ordinal import ORDINAL_SCALES, ordinal

__all__ = [
    "FIGURE3_SCALES",
    "MULTILABEL_SCALES",
    "ORDINAL_SCALES",
    "RANKING_SCALES",
    "figure3",
    "multilabel",
    "ordinal",
    "table1",
    "table2",
]
