"""Training with one inference and testing with all of them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from maximand.costs import Hamming
from maximand.estimators import MultilabelClassifier
from maximand.inference import BeliefPropagation, Combine, Exhaustive, GraphCut, Greedy, Inference
from maximand.papers.endings import ending
from maximand.papers.finley2008.data import Part
from maximand.solvers import NSlack
from maximand.spaces import Graph
from maximand.support import Array, Guarantee
from maximand.tasks import Independent, Pairwise

PLAIN = BeliefPropagation(damping=0.0)  # as in the paper, as far as one can tell
INFERENCES: dict[str, Inference] = {
    "Greedy": Greedy(),
    "LBP": PLAIN,
    "Combine": Combine((Greedy(), PLAIN)),
    "Exact": Exhaustive(),
    "Relaxed": GraphCut(),
}
DAMPED = "LBP, damped"
ORACLES = INFERENCES | {DAMPED: BeliefPropagation()}
EDGELESS = "edgeless"


def fitted(part: Part, inference: Inference | None, regularization: float, max_iterations: int) -> MultilabelClassifier:
    """Train by n-slack cutting planes with an inference as separation oracle; None for independent labels.

    As in the paper, the cost is the share of wrong labels.
    """
    model = MultilabelClassifier(
        structure=Independent() if inference is None else Pairwise(inference),
        solver=NSlack(tolerance=1e-2, max_iterations=max_iterations),
        regularization=regularization,
        cost=Hamming(normalized=True),
        n_threads=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the result says how each run ended
        return model.fit(part.X, part.Y)


def losses(model: MultilabelClassifier, part: Part, inference: Inference) -> tuple[Array, float]:
    """Return the share of wrong labels of each row, and the share of labels that the inference left undecided.

    A label that a relaxation leaves undecided counts half: what it costs on average when decided by chance.
    """
    task = model.task_
    examples = task.encode(part.X)
    if isinstance(examples.space, Graph):  # labels by themselves need no inference
        examples = replace(examples, space=examples.space.using(inference))
    theta = task.features.scores(examples, task.features.expand(model.weights_))
    present = task.parts(examples, examples.space.argmax(theta).mean)
    return np.abs(present - part.Y).mean(axis=1), float(np.mean((present > 0) & (present < 1)))


def chosen(
    part: Part, inference: Inference | None, regularizations: list[float], folds: int, max_iterations: int, seed: int
) -> tuple[float, dict[str, float]]:
    """Choose the regularisation by cross-validation, predicting with the inference of training."""
    splits = list(KFold(folds, shuffle=True, random_state=seed).split(part.Y))
    tried: dict[float, float] = {}
    for regularization in regularizations:
        found = []
        for a, b in splits:
            model = fitted(Part(part.X[a], part.Y[a]), inference, regularization, max_iterations)
            found.append(losses(model, Part(part.X[b], part.Y[b]), inference or Exhaustive())[0])
        tried[regularization] = float(np.mean(np.concatenate(found)))
    return min(tried, key=lambda value: tried[value]), {f"{value:g}": loss for value, loss in tried.items()}


def account(model: MultilabelClassifier) -> dict[str, Any]:
    """Return how training ended and what its result is worth."""
    values = {"regularization": model.regularization} | ending(model)
    if model.guarantee_ is Guarantee.UNDER and model.shortfall_ is not None:
        values["intervals at rho 0.9"] = vars(model.shortfall_.intervals(0.9))
    return values


def percent(losses_of_rows: Array) -> tuple[float, float]:
    """Return mean and standard error, in per cent."""
    return 100.0 * float(losses_of_rows.mean()), 100.0 * float(
        losses_of_rows.std(ddof=1) / np.sqrt(losses_of_rows.size)
    )
