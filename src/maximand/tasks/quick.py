"""The best outputs of a few inputs by the shortest way: what the trunk finds, for models that are frozen.

Each of these returns None for inputs that are better left to the trunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maximand.features import Rows
from maximand.features.blocks import Block
from maximand.spaces import Chain
from maximand.support import Array
from maximand.tasks.base import finite_rows
from maximand.tasks.sequences import Ragged

if TYPE_CHECKING:
    from maximand.tasks.multiclass import BoundMulticlass
    from maximand.tasks.tagging import BoundTagging

FEW = 1 << 12  # parts; more are shared out to threads
SMALL = 1 << 13  # multiplications; BLAS keeps products of this size on one thread


@dataclass(frozen=True)
class QuickLabels:
    """The labels of a few rows of a dense table."""

    classes: np.ndarray
    coefficients: Array
    biases: Array

    @classmethod
    def of(cls, task: BoundMulticlass, weights: Array) -> QuickLabels | None:
        """Lay the weights out, where there is one for each feature and label."""
        features = task.features
        if not features.every_pair:
            return None
        return cls(task.names.classes, features.coefficients(weights), features.biases(weights))

    def __call__(self, X: Any) -> np.ndarray | None:
        """Return the label of each row."""
        if type(X) is not np.ndarray or X.ndim != 2 or X.dtype != np.float64 or not X.flags.c_contiguous:
            return None
        if X.shape[1] != len(self.coefficients) or not 0 < len(X) * self.coefficients.size <= SMALL:
            return None
        finite_rows(X)
        scores = X @ self.coefficients
        scores += self.biases
        labels: np.ndarray = self.classes[scores.argmax(axis=1)]
        return labels


@dataclass(frozen=True)
class QuickTags:
    """The tags of a few sequences with sparse features."""

    task: BoundTagging
    emission: tuple[Block, Array]
    transitions: Array
    ends: list[tuple[Block, Array]]

    @classmethod
    def of(cls, task: BoundTagging, weights: Array) -> QuickTags:
        """Lay the weights out."""
        emission, (tied, own), *ends = task.features.pieces(weights)
        transitions = np.empty(task.names.count**2)
        tied.write_scores(Rows.single(np.empty((0, 0))), own, transitions, add=False)
        return cls(task, emission, transitions, ends)

    def __call__(self, X: Any) -> list[np.ndarray] | None:
        """Return the tags of each sequence."""
        if isinstance(X, Ragged):
            lengths = X.lengths
        elif isinstance(X, list) and not any(isinstance(x, np.ndarray) for x in X):
            lengths = [x.shape[0] if hasattr(x, "shape") else len(x) for x in X]
        else:
            return None
        if not len(lengths) or min(lengths) <= 0 or sum(lengths) * self.task.names.count > FEW:
            return None
        examples = self.task.encode(X)
        space, inputs = examples.space, examples.inputs
        if not (isinstance(inputs, Rows) and inputs.sparse and isinstance(space, Chain)):
            return None
        n_nodes = int(space.offsets[-1]) * space.n_labels
        theta = np.empty(n_nodes + self.transitions.size)
        nodes = space.nodes(theta)
        block, weights = self.emission
        block.write_scores(inputs, weights, nodes, add=False)
        for block, weights in self.ends:
            block.write_scores(inputs, weights, nodes, add=True)
        theta[n_nodes:] = self.transitions
        best = space.argmax(theta)
        return None if np.isneginf(best.value).any() else self.task.outputs(examples, best.mean)
