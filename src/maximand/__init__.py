"""maximand: structured prediction with guarantees."""

from importlib.metadata import version

from maximand.callbacks import Callback, Checkpoint, EarlyStopping, History, Progress
from maximand.checks import check_oracle, check_sequence_estimator
from maximand.costs import CostMatrix, DifferentParts, Hamming, ZeroOne
from maximand.decoding import Calibrated, MaxScore
from maximand.estimators import MulticlassClassifier, SequenceTagger, StructuredPredictor
from maximand.files.errors import ModelFileError
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
from maximand.spaces import Chain, Choice, Legality, OracleSpace, OutputSpace
from maximand.support import Guarantee, Support
from maximand.tasks import MulticlassTask, OracleTask, Ragged, TaggingTask, Task, WindowVectorizer, bio, bioes

__version__ = version("maximand")

__all__ = [
    "CCCP",
    "LBFGS",
    "LOSSES",
    "BlockFrankWolfe",
    "Calibrated",
    "Callback",
    "Chain",
    "Checkpoint",
    "Choice",
    "CostMatrix",
    "Decreasing",
    "DifferentParts",
    "EarlyStopping",
    "Guarantee",
    "Hamming",
    "History",
    "Larger",
    "Legality",
    "Loss",
    "MaxScore",
    "ModelFileError",
    "MulticlassClassifier",
    "MulticlassTask",
    "NSlack",
    "OneSlack",
    "OracleSpace",
    "OracleTask",
    "OutputSpace",
    "Over",
    "Perceptron",
    "Polyak",
    "Progress",
    "Ragged",
    "Rescaled",
    "Result",
    "SequenceTagger",
    "Soft",
    "StructuredPredictor",
    "Subgradient",
    "Support",
    "TaggingTask",
    "Task",
    "WindowVectorizer",
    "ZeroOne",
    "bio",
    "bioes",
    "check_oracle",
    "check_sequence_estimator",
    "load",
    "save",
]
