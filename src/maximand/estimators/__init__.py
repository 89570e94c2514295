"""Estimators in the manner of scikit-learn."""

from maximand.estimators.multiclass import MulticlassClassifier
from maximand.estimators.predictor import StructuredPredictor
from maximand.estimators.tagger import SequenceTagger

__all__ = ["MulticlassClassifier", "SequenceTagger", "StructuredPredictor"]
