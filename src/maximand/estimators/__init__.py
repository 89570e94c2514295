"""Estimators in the manner of scikit-learn."""

from maximand.estimators.graph_labeler import GraphLabeler
from maximand.estimators.label_ranker import LabelRanker
from maximand.estimators.multiclass import MulticlassClassifier
from maximand.estimators.multilabel import MultilabelClassifier
from maximand.estimators.ordinal import OrdinalClassifier
from maximand.estimators.path import RegularizationCV, regularization_path
from maximand.estimators.predictor import StructuredPredictor
from maximand.estimators.tagger import SequenceTagger

__all__ = [
    "GraphLabeler",
    "LabelRanker",
    "MulticlassClassifier",
    "MultilabelClassifier",
    "OrdinalClassifier",
    "RegularizationCV",
    "SequenceTagger",
    "StructuredPredictor",
    "regularization_path",
]
