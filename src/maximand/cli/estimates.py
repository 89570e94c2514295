"""How much memory and time a fit would take."""

from __future__ import annotations

import resource
import sys
import time
from typing import Any

import numpy as np

from maximand.batch import LANES_OF_LARGE_MODELS, Batch
from maximand.cards.checkup import Checkup, matrix_bytes
from maximand.cards.data import Dataset
from maximand.engine import Threads
from maximand.losses import named
from maximand.objective import Objective
from maximand.oracles import Projection
from maximand.solvers import LBFGS
from maximand.support import Array

SAMPLE = 1000  # examples that the time of a pass is measured on
REPEATS = 3  # of the measurement; other programs may disturb one
PASSES = 170  # passes over the data that a fit takes, about
PASSES_OF_PROJECTIONS = 70  # the same, for the losses of projections
VECTORS = 8  # of the length of the weights that a solver and its objective hold
AWAY = 0.01  # how far from zero the weights are that a pass is measured at


def peak_bytes() -> int:
    """Return the most memory that this process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def estimates_of(checkup: Checkup, predictor: Any, rows: Any, matrix: Any, data: Dataset, held: int) -> dict[str, Any]:
    """Say how much memory and time a fit takes: what reading held, and the vectors of the solver; a timed sample."""
    loss = named(predictor.loss)
    X, bound, inputs, annotation = predictor._bind(rows, data.y)
    space = bound.space(X, inputs)
    n_weights, n_spread = bound.features.n_weights, bound.features.n_spread
    training = 8.0 * VECTORS * n_weights + 8 * (LANES_OF_LARGE_MODELS + 1) * n_spread
    if loss.penalty.smooth:
        own, steps = 2.0 * 4 * LBFGS().memory * n_weights, 0.0
    else:
        own, steps = checkup.planes(matrix, space, data)
    peak = int(held + training + own)
    n = len(inputs.offsets) - 1
    sample = slice(0, min(SAMPLE, n))
    batch = Batch(inputs, space, annotation, bound.cost, np.ones(n)).take(sample)
    objective = Objective.of(batch, bound.features, loss, 1.0, Threads(predictor.n_threads))
    weights = np.random.default_rng(0).normal(scale=AWAY, size=n_weights)  # zeros would be easy to project
    objective.penalty(weights)  # compiles
    seconds = min(_seconds(objective, weights) for _ in range(REPEATS))
    seconds *= float(space.work.sum()) / float(space.work[sample].sum())
    passes = PASSES_OF_PROJECTIONS if isinstance(loss.penalty, Projection) else PASSES
    return {
        "loss": loss.name, "weights": n_weights, "peak bytes": peak, "peak over input": peak / matrix_bytes(matrix),
        "seconds": seconds * passes + steps,
    }  # fmt: skip


def _seconds(objective: Objective, weights: Array) -> float:
    began = time.perf_counter()
    objective.penalty(weights)
    return time.perf_counter() - began
