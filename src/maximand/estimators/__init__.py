"""Estimators in the manner of scikit-learn."""

from maximand.estimators.graph_labeler import GraphLabeler
from maximand.estimators.multiclass import MulticlassClassifier
from maximand.estimators.multilabel import MultilabelClassifier
from maximand.estimators.predictor import StructuredPredictor
from maximand.estimators.tagger import SequenceTagger

__all__ = ["GraphLabeler", "MulticlassClassifier", "MultilabelClassifier", "SequenceTagger", "StructuredPredictor"]
