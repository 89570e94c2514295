"""Tasks bind a space, features and a cost to the user's data, and check it at the door."""

from maximand.tasks.base import BoundTask, Task
from maximand.tasks.graph_inputs import NodesAndEdges
from maximand.tasks.graphs import GraphTask
from maximand.tasks.multiclass import MulticlassTask
from maximand.tasks.multilabel import Independent, MultilabelTask, Pairwise
from maximand.tasks.oracle import OracleTask
from maximand.tasks.schemes import bio, bioes
from maximand.tasks.sequences import Ragged
from maximand.tasks.tagging import TaggingTask
from maximand.tasks.windows import WindowVectorizer

__all__ = [
    "BoundTask",
    "GraphTask",
    "Independent",
    "MulticlassTask",
    "MultilabelTask",
    "NodesAndEdges",
    "OracleTask",
    "Pairwise",
    "Ragged",
    "TaggingTask",
    "Task",
    "WindowVectorizer",
    "bio",
    "bioes",
]
