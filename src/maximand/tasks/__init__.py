"""Tasks bind a space, features and a cost to the user's data, and check it at the door."""

from maximand.tasks.base import BoundTask, Task
from maximand.tasks.graph_inputs import NodesAndEdges
from maximand.tasks.graphs import GraphTask
from maximand.tasks.levels import OrdinalTask
from maximand.tasks.multiclass import MulticlassTask
from maximand.tasks.multilabel import Budget, Independent, MultilabelTask, Pairwise
from maximand.tasks.oracle import OracleTask
from maximand.tasks.rankings import RankingTask
from maximand.tasks.schemes import bio, bioes
from maximand.tasks.sequences import Ragged
from maximand.tasks.tagging import TaggingTask
from maximand.tasks.windows import WindowVectorizer

__all__ = [
    "BoundTask",
    "Budget",
    "GraphTask",
    "Independent",
    "MulticlassTask",
    "MultilabelTask",
    "NodesAndEdges",
    "OracleTask",
    "OrdinalTask",
    "Pairwise",
    "Ragged",
    "RankingTask",
    "TaggingTask",
    "Task",
    "WindowVectorizer",
    "bio",
    "bioes",
]
