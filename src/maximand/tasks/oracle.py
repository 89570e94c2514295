"""A task known by an argmax in plain Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from maximand.costs import Cost, DifferentParts
from maximand.features import Examples, PartFeatures, Rows
from maximand.spaces import OracleSpace, Parts
from maximand.support import Array, Guarantee
from maximand.tasks.base import BoundTask, Task, finite_rows
from maximand.tasks.label_names import unknown


@dataclass(frozen=True)
class OracleTask(Task):
    """Outputs found by the user's `argmax(theta, instance) -> y`.

    X is a list of instances. `features(instance)` returns a matrix (part, feature), and theta = features @ w.
    `encode(y, instance)` counts the parts of an output; without it an output is its vector of counts. In Y, a vector
    of counts may hold -1, None or NaN for parts that are not known, and None stands for an output of which nothing is
    known. `decode(psi, instance)` turns counts back into an
    output.
    `outputs(instance)`, where given, lists all outputs: it adds marginals, hence the crf losses.
    """

    argmax: Callable[[Array, Any], Any]
    features: Callable[[Any], Any] = np.asarray
    encode: Callable[[Any, Any], Any] | None = None
    decode: Callable[[Array, Any], Any] | None = None
    outputs: Callable[[Any], Iterable[Any]] | None = None
    cost: Cost | None = None
    guarantee: Guarantee = Guarantee.EXACT

    def bind(self, X: Any, Y: Any) -> tuple[BoundOracle, Examples, Parts]:
        """Find the number of features."""
        if len(X) == 0:
            raise ValueError("X holds no instances.")
        bound = BoundOracle(self, PartFeatures(int(self.features(X[0]).shape[1])))
        examples = bound.encode(X)
        annotation = bound.annotation(examples, Y)
        self._try_argmax(examples, annotation)
        return bound, examples, annotation

    def _try_argmax(self, examples: Examples, annotation: Parts) -> None:
        """Refuse an argmax that overlooks an annotated output where nothing else is as good."""
        space = examples.space
        assert isinstance(space, OracleSpace)
        overlooked = space.overlooked(annotation)
        if not overlooked.size:
            return
        i = int(overlooked[0])
        one, known = space.take(slice(i, i + 1)), annotation.take(slice(i, i + 1))
        if known.full.all():
            found = (
                f"With scores of 1 on the parts of Y[{i}] and -1 on all others, argmax does not return Y[{i}] but one "
                f"of lower score: either Y[{i}] is not an output of X[{i}], or argmax does not find the best one"
            )
        else:
            found = (
                f"With scores of 1 on the parts that Y[{i}] has, -1 on those that it has not and 0 on those that are "
                f"not known, argmax does not return an output that agrees with Y[{i}] but one of lower score: either "
                f"no output of X[{i}] agrees with it, or argmax does not find the best one"
            )
        if not one.overlooked(known, sign=-1.0).size:
            found += ". It does where all scores change their signs, so it seems to minimise"
        found += "; check_oracle compares it with brute force on small instances."
        if self.guarantee.bounds_from_above:
            raise ValueError(found)
        warnings.warn(found, RuntimeWarning, stacklevel=5)


class BoundOracle(BoundTask):
    """An oracle task with a known number of features."""

    features: PartFeatures

    def __init__(self, task: OracleTask, features: PartFeatures):
        self.task, self.features = task, features
        self.cost = task.cost or DifferentParts()

    def encode(self, X: Any) -> Examples:
        """Stack the features of all parts."""
        blocks = [self.task.features(instance) for instance in X]
        for i, block in enumerate(blocks):
            if len(block.shape) != 2 or block.shape[1] != self.features.n_weights:
                raise ValueError(
                    f"features(X[{i}]) has shape {block.shape}; expected one row per part and "
                    f"{self.features.n_weights} columns."
                )
        matrix = vstack(blocks, format="csr") if issparse(blocks[0]) else np.vstack(blocks).astype(float)
        offsets = np.concatenate([[0], np.cumsum([block.shape[0] for block in blocks])])
        finite_rows(matrix, offsets, "part")
        task = self.task
        space = OracleSpace(task.argmax, X, np.diff(offsets), task.encode, task.outputs, task.guarantee)
        return Examples(space, Rows(csr_array(matrix) if issparse(matrix) else matrix, offsets))

    def annotation(self, examples: Examples, Y: Any) -> Parts:
        """Count the parts of the annotated outputs."""
        sizes = examples.space.layout.work
        if len(Y) != sizes.size:
            raise ValueError(f"X has {sizes.size} instances but Y has {len(Y)} outputs.")
        counts = []
        for i, y in enumerate(Y):
            if unknown(y):
                counted = np.full(sizes[i], -1.0)
            else:
                counted = y if self.task.encode is None else self.task.encode(y, _instances(examples)[i])
            psi = np.array([-1.0 if unknown(count) else count for count in np.ravel(counted)], dtype=float)
            if psi.size != sizes[i]:
                raise ValueError(f"Y[{i}] has {psi.size} parts but X[{i}] has {sizes[i]}.")
            if not np.isfinite(psi).all() or (psi < -1).any():
                raise ValueError(f"Y[{i}] must hold counts of parts, -1 where not known.")
            counts.append(psi)
        return Parts(np.concatenate(counts), np.concatenate([[0], np.cumsum(sizes)]))

    def outputs(self, examples: Examples, psi: Array) -> list[Any]:
        """Return decoded outputs, or their counts."""
        counts = examples.space.decode(psi)
        if self.task.decode is None:
            return counts
        return [self.task.decode(count, x) for count, x in zip(counts, _instances(examples), strict=True)]

    def slot_labels(self, codes: Array) -> np.ndarray:
        """Return how often a part occurs."""
        return codes

    def parts(self, examples: Examples, values: Array) -> list[Array]:
        """Return the values of the parts of each instance."""
        return examples.space.decode(values)


def _instances(examples: Examples) -> list[Any]:
    assert isinstance(examples.space, OracleSpace)
    return examples.space.instances
