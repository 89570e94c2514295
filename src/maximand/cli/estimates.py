"""How much memory and time a fit would take."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np

from maximand.batch import LANES_OF_LARGE_MODELS, Batch
from maximand.cli.data import Examples
from maximand.cli.kinds import Kind
from maximand.cli.model_options import form_of, loss_of, shape_of
from maximand.engine import Threads
from maximand.losses import named
from maximand.objective import Objective
from maximand.oracles import Projection
from maximand.solvers import LBFGS
from maximand.support import Array
from maximand.tasks import MulticlassTask, MultilabelTask, OrdinalTask, Ragged, RankingTask, TaggingTask

SAMPLE = 1000  # examples that the time of a pass is measured on
REPEATS = 3  # of the measurement; other programs may disturb one
PASSES = 170  # passes over the data that a fit takes, about
PASSES_OF_PROJECTIONS = 70  # the same, for the losses of projections
VECTORS = 8  # of the length of the weights that a solver and its objective hold
AWAY = 0.01  # how far from zero the weights are that a pass is measured at
PLANES = 0.6  # planes of single sequences, as a multiple of the input
PLANES_OF_SETS = 3  # planes of a row, with all of its parts
SECONDS_OF_SETS = 2e-6  # for each stored value and label, that steps on the planes of label sets take in a fit
SECONDS_OF_PARTS = 1e-4  # for each part, that such steps take for rankings and levels; from a fifth to five times that


def peak_bytes() -> int | None:
    """Return the most memory that this process has held so far; None on systems that do not tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def matrix_bytes(matrix: Any) -> int:
    """Return the memory of a dense or CSR matrix."""
    if isinstance(matrix, np.ndarray):
        return matrix.nbytes
    return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)


def estimates_of(options: argparse.Namespace, rows: Any, examples: Examples, held: int | None) -> dict[str, Any]:
    """Say how much memory and time a fit takes: what reading held, and the vectors of the solver; a timed sample.

    Where it is not known what reading held, neither is the peak.
    """
    loss = named(loss_of(options, examples))
    matrix = rows.matrix if isinstance(rows, Ragged) else rows
    bound, encoded, annotation = _task(options, examples).bind(rows, examples.y)
    space = encoded.space
    n_weights = bound.features.n_weights
    training = 8 * VECTORS * n_weights + 8 * (LANES_OF_LARGE_MODELS + 1) * bound.features.n_expanded
    steps = 0.0
    if loss.penalty.smooth:
        training += 2 * 4 * LBFGS().memory * n_weights
    elif examples.kind.tagged:
        training += int(PLANES * matrix_bytes(matrix))
    else:
        training += 4 * 8 * space.n_parts  # costs, means and what they are made from
        if examples.kind is Kind.SETS:
            training += (4 + 8) * PLANES_OF_SETS * space.n_parts
            steps = SECONDS_OF_SETS * matrix.size * len(examples.labels)
        elif examples.kind in (Kind.RANKINGS, Kind.LEVELS):
            steps = SECONDS_OF_PARTS * space.n_parts
    sample = slice(0, min(SAMPLE, encoded.n_examples))
    batch = Batch(encoded, annotation, bound.cost, np.ones(encoded.n_examples)).take(sample)
    objective = Objective.of(batch, bound.features, loss, 1.0, Threads(options.threads))
    weights = np.random.default_rng(0).normal(scale=AWAY, size=n_weights)  # zeros would be easy to project
    objective.penalty(weights)  # compiles
    seconds = min(_seconds(objective, weights) for _ in range(REPEATS))
    seconds *= float(space.layout.work.sum()) / float(space.layout.work[sample].sum())
    passes = PASSES_OF_PROJECTIONS if isinstance(loss.penalty, Projection) else PASSES
    peak = None if held is None else int(held + training)
    return {
        "loss": loss.name, "weights": n_weights, "peak bytes": peak,
        "peak over input": None if peak is None else peak / matrix_bytes(matrix), "seconds": seconds * passes + steps,
    }  # fmt: skip


def _seconds(objective: Objective, weights: Array) -> float:
    began = time.perf_counter()
    objective.penalty(weights)
    return time.perf_counter() - began


def _task(options: argparse.Namespace, examples: Examples) -> Any:
    shape, form = shape_of(options, examples), form_of(options, examples.kind)
    match examples.kind:
        case Kind.ROWS:
            return MulticlassTask()
        case Kind.SETS:
            return MultilabelTask(shape, classes=examples.labels)
        case Kind.RANKINGS:
            return RankingTask(**form)
        case Kind.LEVELS:
            return OrdinalTask(classes=examples.labels)
    return TaggingTask()
