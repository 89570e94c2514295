"""How much memory and time a fit would take."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from maximand.batch import Batch
from maximand.cards.checkup import Checkup, matrix_bytes
from maximand.cards.data import Dataset
from maximand.engine import Threads
from maximand.losses import named
from maximand.objective import Objective
from maximand.oracles import Projection
from maximand.shards import LANES_OF_LARGE_MODELS
from maximand.solvers import LBFGS
from maximand.support import Array

SAMPLE = 1000  # examples that the time of a pass is measured on
REPEATS = 3  # of the measurement; other programs may disturb one
PASSES = 170  # passes over the data that a fit takes, about
PASSES_OF_PROJECTIONS = 70  # the same, for the losses of projections
VECTORS = 8  # of the length of the weights that a solver and its objective hold
AWAY = 0.01  # how far from zero the weights are that a pass is measured at


def peak_bytes() -> int | None:
    """Return the most memory that this process has held so far; None on systems that do not tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def estimates_of(
    checkup: Checkup, predictor: Any, rows: Any, matrix: Any, data: Dataset, held: int | None
) -> dict[str, Any]:
    """Say how much memory and time a fit takes: what reading held, and the vectors of the solver; a timed sample.

    Where it is not known what reading held, neither is the peak.
    """
    loss = named(predictor.loss)
    _, bound, examples, annotation = predictor._bind(rows, data.y)
    space = examples.space
    n_weights = bound.features.n_weights
    training = 8.0 * VECTORS * n_weights + 8 * (LANES_OF_LARGE_MODELS + 1) * bound.features.n_expanded
    if loss.penalty.smooth:
        own, steps = 2.0 * 4 * LBFGS().memory * n_weights, 0.0
    else:
        own, steps = checkup.planes(matrix, space, data)
    sample = slice(0, min(SAMPLE, examples.n_examples))
    batch = Batch(examples, annotation, bound.cost, np.ones(examples.n_examples)).take(sample)
    objective = Objective.of(batch, bound.features, loss, 1.0, Threads(predictor.n_threads))
    weights = np.random.default_rng(0).normal(scale=AWAY, size=n_weights)  # zeros would be easy to project
    objective.penalty(weights)  # compiles
    times = float(space.layout.work.sum()) / float(space.layout.work[sample].sum())
    seconds = times * min(_seconds(objective, weights) for _ in range(REPEATS))
    laid_out = bound.features.laid_out(batch.examples).inputs.n_bytes - batch.examples.inputs.n_bytes
    passes = PASSES_OF_PROJECTIONS if isinstance(loss.penalty, Projection) else PASSES
    peak = None if held is None else int(held + training + own + times * laid_out)
    return {
        "loss": loss.name, "weights": n_weights, "peak bytes": peak,
        "peak over input": None if peak is None else peak / matrix_bytes(matrix), "seconds": passes * seconds + steps,
    }  # fmt: skip


def _seconds(objective: Objective, weights: Array) -> float:
    began = time.perf_counter()
    objective.penalty(weights)
    return time.perf_counter() - began
