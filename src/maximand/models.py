"""Saving and loading fitted estimators."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.feature_extraction import FeatureHasher
from sklearn.kernel_approximation import (
    AdditiveChi2Sampler,
    Nystroem,
    PolynomialCountSketch,
    RBFSampler,
    SkewedChi2Sampler,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from maximand import costs, decoding, features, inference, losses, oracles, sets, solvers, spaces, support, tasks
from maximand.cards import all_cards
from maximand.cards.steps import first_step, predictor_of, transformed
from maximand.estimators.predictor import StructuredPredictor
from maximand.files.atomic import write_atomically
from maximand.files.container import LARGEST_FILE, Source, from_bytes, read, to_bytes
from maximand.files.errors import ModelFileError
from maximand.files.packing import Packer, Unpacker
from maximand.one_versus_all import OneVersusAll
from maximand.solvers.approximation import Shortfall
from maximand.tasks.label_names import LabelNames

if TYPE_CHECKING:
    from maximand.cards.card import Card

KERNELS = (AdditiveChi2Sampler, Nystroem, PolynomialCountSketch, RBFSampler, SkewedChi2Sampler)
TRANSFORMERS = (tasks.WindowVectorizer, MaxAbsScaler, MinMaxScaler, StandardScaler, *KERNELS)
# What any model may hold; its card adds to that.
PARTS: tuple[type, ...] = (
    costs.Absolute, costs.CostMatrix, costs.DifferentParts, costs.DiscountedGain, costs.Hamming, costs.Kendall,
    costs.MissedTop, costs.PrecisionAt, costs.Squared, costs.Sum, costs.Weighted, costs.ZeroOne,
    decoding.Calibrated, decoding.MaxScore, features.PerLabel,
    inference.BeliefPropagation, inference.Combine, inference.Exhaustive, inference.GraphCut, inference.Greedy,
    inference.IntegerProgram, inference.IteratedModes, inference.LinearProgram, inference.RhoApproximate,
    inference.Tree,
    losses.Loss, oracles.Entropic, oracles.Euclidean, oracles.Larger, oracles.Over, oracles.Rescaled,
    oracles.Soft, OneVersusAll,
    sets.Cube, sets.Everything, sets.Hull, sets.RowStochastic, sets.Sized,
    solvers.BlockFrankWolfe, solvers.CCCP, solvers.Decreasing, solvers.Distance, solvers.LBFGS, solvers.NSlack,
    solvers.OneSlack, solvers.Perceptron, solvers.Polyak, solvers.Record, solvers.Subgradient,
    spaces.ActiveSet, spaces.AwaySteps, support.Guarantee, LabelNames, Shortfall, FeatureHasher,
)  # fmt: skip
LEFT_OUT = object()
LARGEST_WEIGHT = 1e200  # features have at most 1e30
MOST_SCORES = 1 << 20  # of a small input, which a model that is loaded is tried on


def save(model: Any, path: str | os.PathLike[str], *, classes: Iterable[type] = ()) -> None:
    """Write a fitted estimator to a file, atomically: a reader finds the old file or the new one, never half of it.

    A model is any estimator of this library but `StructuredPredictor`, or a Pipeline that ends with one after a
    `WindowVectorizer` or some of scikit-learn's scalers and approximations of kernels. Of a `RegularizationCV` or a
    search of scikit-learn the best estimator is saved. `classes` names dataclasses of your own that the model holds,
    such as a cost; `load` needs them too.
    """
    write_atomically(path, dump(model, classes))


def dump(model: Any, classes: Iterable[type] = ()) -> bytes:
    """Return the content of the file of a fitted estimator."""
    model = _chosen(model)
    steps = [(name, _chosen(step)) for name, step in model.steps] if isinstance(model, Pipeline) else [("", model)]
    predictor = steps[-1][1]
    check_is_fitted(predictor, "weights_" if isinstance(predictor, StructuredPredictor) else None)
    cards = _cards()
    card = cards.get(type(predictor))
    if card is None and isinstance(predictor, StructuredPredictor):
        raise ModelFileError(
            f"{type(predictor).__name__} cannot be saved: its task may hold Python functions, and files hold nothing "
            "that runs. Keep model.weights_ with numpy.save and fit the same task again to use them."
        )
    if card is None:
        raise ModelFileError(f"A model ends with one of {_names(cards)}, not with a {type(predictor).__name__}.")
    packer = Packer((*PARTS, *_own(card), *classes))
    trees = [[name, _tree(packer, _kinds(cards), step)] for name, step in steps]
    return to_bytes("model", {"steps": trees, "summary": summary(predictor)}, packer.arrays)


def _cards() -> dict[type, Card]:
    return {card.estimator: card for card in all_cards()}


def _kinds(cards: Iterable[type]) -> dict[str, type[Any]]:
    """Return the classes that the steps of a model may have, by name."""
    return {kind.__name__: kind for kind in (*cards, *TRANSFORMERS)}


def _own(card: Card | None) -> tuple[type, ...]:
    """Return the classes that only models with this card hold."""
    return () if card is None else (card.task, card.bound, *card.stored)


def _chosen(model: Any) -> Any:
    """Return the best estimator of a fitted search; any other model itself."""
    return getattr(model, "best_estimator_", model)


def _tree(packer: Packer, kinds: dict[str, type[Any]], estimator: Any) -> dict[str, Any]:
    name = type(estimator).__name__
    if kinds.get(name) is not type(estimator):
        raise ModelFileError(f"{name} cannot be saved; the steps of a model are of {_names(kinds.values())}.")
    parameters = {key: _parameter(packer, key, value) for key, value in estimator.get_params(deep=False).items()}
    fitted = {key: value for key, value in vars(estimator).items() if _is_fitted(key)}
    return {
        "estimator": name,
        "parameters": {key: tree for key, tree in parameters.items() if tree is not LEFT_OUT},
        "fitted": {key: packer.pack(value, key) for key, value in fitted.items()},
    }


def _is_fitted(name: str) -> bool:
    return name == "_n_features_out" or (name.endswith("_") and not name.startswith("_"))


def _names(kinds: Iterable[type]) -> str:
    return ", ".join(kind.__name__ for kind in kinds)


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
        "guarantee": model.guarantee_text_,
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
        if name not in ("scheme", "vectorizer", "solver", "random_state"):
            raise
        warnings.warn(
            f"The parameter {name}={value!r} cannot be stored and will have its default in the loaded model. It "
            "predicts the same; set the parameter again before fitting it anew.",
            UserWarning,
            stacklevel=5,
        )
        return LEFT_OUT


def load(source: Source, *, classes: Iterable[type] = (), largest: int = LARGEST_FILE) -> Any:
    """Read a fitted estimator from a path, an open file or bytes.

    `classes` adds to the classes that may occur in the file: your own costs, for example. Files are data: reading
    one never runs code from it, and takes memory in proportion to its size, which `largest` limits.
    """
    where = "" if isinstance(source, bytes) or hasattr(source, "read") else f"{Path(source).name}: "
    content = read(source, largest)
    try:
        header, arrays = from_bytes(content, "model")
    except ModelFileError as error:
        raise ModelFileError(f"{where}{error}") from None
    try:
        cards = _cards()
        kinds = _kinds(cards)
        card = cards.get(kinds.get(header["steps"][-1][1]["estimator"], object))
        unpacker = Unpacker((*PARTS, *_own(card), *classes), arrays)
        steps = [(str(name), _estimator(unpacker, kinds, tree)) for name, tree in header["steps"]]
        if card is None:
            raise ModelFileError(f"it does not end with one of {_names(cards)}")
        _check(steps[-1][1], card)
        model = steps[0][1] if len(steps) == 1 else Pipeline(steps)
        _try(model, len(content))
        return model
    except ModelFileError as error:
        raise ModelFileError(f"{where}the file is damaged or not a model: {error}.") from None
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OverflowError, MemoryError):
        raise ModelFileError(f"{where}the file is damaged or not a model: its parts do not fit together.") from None


def _estimator(unpacker: Unpacker, kinds: dict[str, type[Any]], tree: Any) -> Any:
    if tree["estimator"] not in kinds:
        raise ModelFileError(f"it holds a {tree['estimator']!r}, which cannot be loaded")
    estimator = kinds[tree["estimator"]](**_mapping(unpacker, tree["parameters"]))
    for name, value in _mapping(unpacker, tree["fitted"]).items():
        if not _is_fitted(name) or isinstance(getattr(type(estimator), name, None), property):
            raise ModelFileError(f"{name!r} is no attribute of a fitted {tree['estimator']}")
        setattr(estimator, name, value)
    return estimator


def _mapping(unpacker: Unpacker, trees: Any) -> dict[str, Any]:
    if not isinstance(trees, dict):
        raise ModelFileError("its parts are not named")
    return {str(name): unpacker.unpack(tree) for name, tree in trees.items()}


def _check(model: Any, card: Card) -> None:
    """Refuse parts that do not fit together: the kernels trust their indices."""
    task, weights = model.task_, model.weights_
    if (
        not isinstance(task, card.bound)
        or not isinstance(task.names, LabelNames)
        or not isinstance(task.cost, costs.Cost)
    ):
        raise ModelFileError("the task is not that of the estimator")
    names = task.names.classes
    if names.ndim != 1 or not names.size or not np.array_equal(model.classes_, names):
        raise ModelFileError("the labels do not fit the weights")
    task.names.check()
    task.features.check()
    card.check(task)
    if (
        not isinstance(weights, np.ndarray)
        or weights.dtype != np.float64
        or weights.shape != (task.features.n_weights,)
    ):
        raise ModelFileError(f"there should be {task.features.n_weights} weights")
    if not (np.abs(weights) <= LARGEST_WEIGHT).all():
        raise ModelFileError("some weights are not finite, or so large that scores would not be")
    if not all(isinstance(record, solvers.Record) for record in model.history_):
        raise ModelFileError("the history holds no records")
    summary(model)
    model._check_parameters()


def _try(model: Any, size: int) -> None:
    """Refuse a model that cannot predict for a small input, so that what is wrong shows here and not at first use.

    The input and its scores take memory in proportion to the size of the file; a sound model of many labels may need
    far more, and is not tried.
    """
    X = _small_input(first_step(model), size)
    if X is None:
        return
    model = (
        Pipeline([(n, _nameless(step)) for n, step in model.steps]) if isinstance(model, Pipeline) else _nameless(model)
    )
    predictor = predictor_of(model)
    try:
        with np.errstate(all="ignore"):
            inputs = transformed(model, X)
            space = predictor.task_.encode(inputs).space
            losses.named(predictor.loss).check(space)
            if space.layout.n_scores <= MOST_SCORES + size:
                predictor.predict(inputs)
                if hasattr(predictor, "predict_soft"):
                    predictor.predict_soft(inputs)
    except Exception as error:
        raise ModelFileError(f"it cannot predict ({str(error).rstrip('.')})") from None


def _nameless(step: Any) -> Any:
    """Return a step that takes arrays, whatever names its columns had."""
    twin = copy(step)
    vars(twin).pop("feature_names_in_", None)
    return twin


def _small_input(first: Any, size: int) -> Any:
    """Return a small input for the first step of a model."""
    if isinstance(first, StructuredPredictor):
        found = first.task_.small_input()
        width = getattr(first, "n_features_in_", None)
    elif isinstance(first, tasks.WindowVectorizer):
        width, room = first.n_columns_, len(first.vocabulary_)
        if type(first.window) is not int or type(first.affixes) is not int or not 0 <= first.window <= room:
            raise ModelFileError("the window does not fit its features")
        found = [[("",) * _count(width, size)] * 2]
    else:
        width = first.n_features_in_
        found = np.zeros((2, _count(width, size)))
    columns = getattr(first, "feature_names_in_", None)
    if columns is not None and (not isinstance(columns, np.ndarray) or columns.shape != (width,)):
        raise ModelFileError("the names of the columns do not fit their number")
    return found


def _count(width: Any, size: int) -> int:
    """Refuse what is no number of columns of a file of some size: each column takes at least a byte."""
    if type(width) is not int or not 0 < width <= size:
        raise ModelFileError(f"{width!r} is not the number of its columns")
    return width
