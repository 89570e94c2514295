"""maximand: structured prediction with guarantees."""

from importlib.metadata import version

from maximand.callbacks import Callback, Checkpoint, EarlyStopping, History, Progress
from maximand.checks import check_oracle, check_sequence_estimator
from maximand.costs import CostMatrix, DifferentParts, Hamming, ZeroOne
from maximand.decoding import Calibrated, MaxScore
from maximand.estimators import (
    GraphLabeler,
    MulticlassClassifier,
    MultilabelClassifier,
    SequenceTagger,
    StructuredPredictor,
)
from maximand.files.errors import ModelFileError
from maximand.inference import (
    BeliefPropagation,
    Combine,
    Exhaustive,
    GraphCut,
    Greedy,
    IntegerProgram,
    IteratedModes,
    LinearProgram,
    RhoApproximate,
    Structure,
    Tree,
)
from maximand.losses import LOSSES, Loss
from maximand.models import load, save
from maximand.oracles import Larger, Over, Rescaled, Soft
from maximand.solvers import (
    CCCP,
    LBFGS,
    BlockFrankWolfe,
    Decreasing,
    NSlack,
    OneSlack,
    Perceptron,
    Polyak,
    Result,
    Subgradient,
)
from maximand.spaces import Chain, Choice, Graph, Legality, OracleSpace, OutputSpace
from maximand.support import Guarantee, Support
from maximand.tasks import (
    GraphTask,
    Independent,
    MulticlassTask,
    MultilabelTask,
    NodesAndEdges,
    OracleTask,
    Pairwise,
    Ragged,
    TaggingTask,
    Task,
    WindowVectorizer,
    bio,
    bioes,
)

__version__ = version("maximand")

__all__ = [
    "CCCP",
    "LBFGS",
    "LOSSES",
    "BeliefPropagation",
    "BlockFrankWolfe",
    "Calibrated",
    "Callback",
    "Chain",
    "Checkpoint",
    "Choice",
    "Combine",
    "CostMatrix",
    "Decreasing",
    "DifferentParts",
    "EarlyStopping",
    "Exhaustive",
    "Graph",
    "GraphCut",
    "GraphLabeler",
    "GraphTask",
    "Greedy",
    "Guarantee",
    "Hamming",
    "History",
    "Independent",
    "IntegerProgram",
    "IteratedModes",
    "Larger",
    "Legality",
    "LinearProgram",
    "Loss",
    "MaxScore",
    "ModelFileError",
    "MulticlassClassifier",
    "MulticlassTask",
    "MultilabelClassifier",
    "MultilabelTask",
    "NSlack",
    "NodesAndEdges",
    "OneSlack",
    "OracleSpace",
    "OracleTask",
    "OutputSpace",
    "Over",
    "Pairwise",
    "Perceptron",
    "Polyak",
    "Progress",
    "Ragged",
    "Rescaled",
    "Result",
    "RhoApproximate",
    "SequenceTagger",
    "Soft",
    "Structure",
    "StructuredPredictor",
    "Subgradient",
    "Support",
    "TaggingTask",
    "Task",
    "Tree",
    "WindowVectorizer",
    "ZeroOne",
    "bio",
    "bioes",
    "check_oracle",
    "check_sequence_estimator",
    "load",
    "save",
]
