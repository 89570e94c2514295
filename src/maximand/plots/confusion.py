"""Which labels are taken for which."""

from __future__ import annotations

from itertools import chain
from typing import Any, Self

import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay, confusion_matrix

from maximand.plots.canvas import axes_or_new, name_ticks
from maximand.support import Array
from maximand.tasks.label_names import LabelNames
from maximand.tasks.tagging import flat_tags

MOST_WITH_NUMBERS = 12


class ConfusionDisplay:
    """How often each true label (row) was predicted as each label (column).

    The tags of sequences are counted token by token. Labels that are not known, or only up to candidates, do not
    count.

    Parameters
    ----------
    matrix : array (true label, predicted label)
    labels : sequence
        Their names, in the order of the rows.

    After `plot`, `ax_` holds the axes, `figure_` their figure and `display_` scikit-learn's display.
    """

    def __init__(self, matrix: Array, labels: Any):
        self.matrix = matrix
        self.labels = labels

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, normalize: str | None = None, ax: Any = None) -> Self:
        """Draw the mistakes of a fitted classifier or tagger; normalize is "true", "pred", "all" or None."""
        return cls.from_predictions(y, estimator.predict(X), estimator.classes_, normalize=normalize, ax=ax)

    @classmethod
    def from_predictions(
        cls, y: Any, predicted: Any, labels: Any, *, normalize: str | None = None, ax: Any = None
    ) -> Self:
        """Draw the mistakes in predictions: an array of labels, or a list of tag sequences."""
        if isinstance(predicted, list):
            offsets = np.cumsum([0, *map(len, predicted)])
            y, predicted = flat_tags(y, offsets), list(chain.from_iterable(predicted))
        names = LabelNames(np.asarray(labels))
        true, guessed = (names.encode(list(found))[0] for found in (y, predicted))
        known = true >= 0
        matrix = confusion_matrix(true[known], guessed[known], labels=range(names.count), normalize=normalize)
        return cls(matrix, names.classes).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes, or on those of a new figure; many labels without their numbers."""
        size = min(12.0, 2.6 + 0.45 * len(self.labels))
        self.ax_ = axes_or_new(ax, width=size + 1.0, height=size)
        self.figure_ = self.ax_.figure
        shares = self.matrix.dtype.kind == "f"
        self.display_ = ConfusionMatrixDisplay(self.matrix).plot(
            include_values=len(self.labels) <= MOST_WITH_NUMBERS,
            values_format=".2f" if shares else "d",
            cmap="Blues",
            im_kw={"vmin": 0.0, "vmax": 1.0} if shares else None,
            ax=self.ax_,
        )
        name_ticks(self.ax_.xaxis, self.labels)
        name_ticks(self.ax_.yaxis, self.labels)
        self.ax_.set(xlabel="predicted", ylabel="true")
        return self
