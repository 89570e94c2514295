"""Blondel: Structured prediction with projection oracles."""

from maximand.papers.blondel2019.label_ranking import RANKING_SCALES, table1, table2
from maximand.papers.blondel2019.ordinal import ORDINAL_SCALES, ordinal

__all__ = ["ORDINAL_SCALES", "RANKING_SCALES", "ordinal", "table1", "table2"]
