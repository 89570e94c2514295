"""What tasks on the rows of a table share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from maximand.costs import Cost
from maximand.features import Examples, PerLabel, Rows
from maximand.spaces import OutputSpace
from maximand.tasks.base import BoundTask, finite_rows
from maximand.tasks.label_names import LabelNames


class BoundTable(BoundTask):
    """A task with a row of features for each example, known labels, and a linear score for each of its parts."""

    names: LabelNames
    cost: Cost
    features: PerLabel

    @property
    def n_columns(self) -> int:
        """Scores per row."""
        return self.names.count

    @property
    def n_features(self) -> int:
        """Features per row."""
        return self.features.n_features

    def check(self) -> None:
        """Refuse features that do not fit the labels: the kernels trust them."""
        if self.features.n_labels != self.n_columns:
            raise ValueError("The features do not fit the labels.")

    @abstractmethod
    def space(self, n_examples: int) -> OutputSpace:
        """Return the outputs of so many rows."""

    def small_input(self) -> Any:
        """Return rows of zeros."""
        return np.zeros((2, self.n_features))

    def encode(self, X: Any) -> Examples:
        """Check a table of finite numbers."""
        finite_rows(X)
        if X.shape[1] != self.n_features:
            raise ValueError(f"X has {X.shape[1]} features but the model was trained with {self.n_features}.")
        return Examples(self.space(X.shape[0]), Rows.single(X))
