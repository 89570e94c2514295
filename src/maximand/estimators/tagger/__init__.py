"""Tagging sequences."""

from maximand.estimators.tagger.estimator import SequenceTagger

__all__ = ["SequenceTagger"]
