"""The papers' experiments, with the papers' own numbers beside ours where they have such."""

from maximand.papers.catalogue import EXPERIMENTS, Experiment
from maximand.papers.outcome import Cell, Figure, HeatMap, Outcome, Row, Table
from maximand.papers.study import Study, reproduce

__all__ = ["EXPERIMENTS", "Cell", "Experiment", "Figure", "HeatMap", "Outcome", "Row", "Study", "Table", "reproduce"]
