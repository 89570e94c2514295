"""Saving and loading fitted estimators."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction import FeatureHasher
from sklearn.utils.validation import check_is_fitted

from maximand import costs, decoding, estimators, features, losses, oracles, solvers, spaces, support, tasks
from maximand.files.atomic import write_atomically
from maximand.files.container import LARGEST_FILE, Source, from_bytes, read, to_bytes
from maximand.files.errors import ModelFileError
from maximand.files.packing import Packer, Unpacker
from maximand.tasks.label_names import LabelNames
from maximand.tasks.multiclass import BoundMulticlass
from maximand.tasks.tagging import BoundTagging

ESTIMATORS = (estimators.MulticlassClassifier, estimators.SequenceTagger)
PARTS: tuple[type, ...] = (
    costs.CostMatrix, costs.DifferentParts, costs.Hamming, costs.ZeroOne,
    decoding.Calibrated, decoding.MaxScore,
    features.ChainFeatures, features.PerLabel,
    losses.Loss, oracles.Larger, oracles.Over, oracles.Rescaled, oracles.Soft,
    solvers.BlockFrankWolfe, solvers.CCCP, solvers.Decreasing, solvers.LBFGS, solvers.NSlack, solvers.OneSlack,
    solvers.Perceptron, solvers.Polyak, solvers.Record, solvers.Subgradient,
    spaces.Legality, support.Guarantee, tasks.MulticlassTask, tasks.TaggingTask,
    BoundMulticlass, BoundTagging, LabelNames, FeatureHasher,
)  # fmt: skip


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file, atomically: a reader finds the old file or the new one, never half of it."""
    write_atomically(path, dump(model))


def dump(model: Any) -> bytes:
    """Return the content of the file of a fitted estimator."""
    check_is_fitted(model, "weights_")
    if type(model) not in ESTIMATORS:
        raise ModelFileError(
            f"{type(model).__name__} cannot be saved: its task may hold Python functions, and files hold nothing that "
            "runs. Keep model.weights_ with numpy.save and fit the same task again to use them."
        )
    packer = Packer(PARTS)
    parameters = {name: _parameter(packer, name, value) for name, value in model.get_params(deep=False).items()}
    fitted = {
        name: packer.pack(value, name)
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_")
    }
    header = {"estimator": type(model).__name__, "parameters": parameters, "fitted": fitted, "summary": summary(model)}
    return to_bytes("model", header, packer.arrays)


def summary(model: Any) -> dict[str, Any]:
    """Return what a person wants to know of a model without loading it."""
    calls, seconds = (model.history_[-1].oracle_calls, model.history_[-1].seconds) if model.history_ else (0, 0.0)
    return {
        "n_weights": int(model.weights_.size),
        "nonzero_weights": int(np.count_nonzero(model.weights_)),
        "n_classes": len(model.classes_),
        "objective": model.objective_,
        "gap": model.gap_,
        "gap_is_certificate": model.gap_is_certificate_,
        "iterations": model.n_iter_,
        "oracle_calls": calls,
        "seconds": seconds,
        "stop_reason": model.stop_reason_,
    }


def _parameter(packer: Packer, name: str, value: Any) -> Any:
    """Pack a parameter; one that only matters for fitting again may be left out."""
    try:
        return packer.pack(value, name)
    except ModelFileError:
        if name not in ("scheme", "vectorizer", "solver", "loss"):
            raise
        warnings.warn(
            f"The parameter {name}={value!r} cannot be stored and will be None in the loaded model. It predicts the "
            "same; set the parameter again before fitting it anew.",
            UserWarning,
            stacklevel=4,
        )
        return None


def load(source: Source, *, classes: Iterable[type] = (), largest: int = LARGEST_FILE) -> Any:
    """Read a fitted estimator from a path, an open file or bytes.

    `classes` adds to the classes that may occur in the file: your own costs, for example. Files are data: reading
    one never runs code from it, and takes memory in proportion to its size, which `largest` limits.
    """
    header, arrays = from_bytes(read(source, largest), "model")
    where = "" if isinstance(source, bytes) or hasattr(source, "read") else f"{Path(source).name}: "
    unpacker = Unpacker((*PARTS, *classes), arrays)
    kinds = {kind.__name__: kind for kind in ESTIMATORS}
    if header.get("estimator") not in kinds:
        raise ModelFileError(f"{where}the file holds a {header.get('estimator')!r}, which cannot be loaded.")
    try:
        model = kinds[header["estimator"]](**_mapping(unpacker, header["parameters"]))
        for name, value in _mapping(unpacker, header["fitted"]).items():
            if not name.endswith("_") or name.startswith("_") or isinstance(getattr(type(model), name, None), property):
                raise ModelFileError(f"{name!r} is no attribute of a fitted model")
            setattr(model, name, value)
        _check(model)
    except ModelFileError as error:
        raise ModelFileError(f"{where}the file is damaged or not a model: {error}.") from None
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OverflowError, MemoryError):
        raise ModelFileError(f"{where}the file is damaged or not a model: its parts do not fit together.") from None
    return model


def _mapping(unpacker: Unpacker, trees: Any) -> dict[str, Any]:
    if not isinstance(trees, dict):
        raise ModelFileError("its parts are not named")
    return {str(name): unpacker.unpack(tree) for name, tree in trees.items()}


def _check(model: Any) -> None:
    """Refuse parts that do not fit together: the kernels trust their indices."""
    task, weights = model.task_, model.weights_
    expected = BoundTagging if isinstance(model, estimators.SequenceTagger) else BoundMulticlass
    if (
        not isinstance(task, expected)
        or not isinstance(task.names, LabelNames)
        or not isinstance(task.cost, costs.Cost)
    ):
        raise ModelFileError("the task is not that of the estimator")
    task.features.check()
    if (
        not isinstance(weights, np.ndarray)
        or weights.dtype != np.float64
        or weights.shape != (task.features.n_weights,)
    ):
        raise ModelFileError(f"there should be {task.features.n_weights} weights")
    if not np.isfinite(weights).all():
        raise ModelFileError("some weights are not finite")
    if task.names.count != task.features.n_labels or not np.array_equal(model.classes_, task.names.classes):
        raise ModelFileError("the labels do not fit the weights")
    if isinstance(task, BoundTagging) and task.legality is not None:
        task.legality.check(task.features.n_labels)
    summary(model)
    model._check_parameters()
