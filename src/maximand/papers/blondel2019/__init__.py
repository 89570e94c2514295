"""Blondel: Structured prediction with projection oracles."""

from maximand.papers.blondel2019.label_ranking import RANKING_SCALES, table1, table2

__all__ = ["RANKING_SCALES", "table1", "table2"]
