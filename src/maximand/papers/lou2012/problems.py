"""Pairs of frames of one experiment to learn tracking from, and those of another one to test it on."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping
from dataclasses import replace
from io import TextIOWrapper
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import IO, Any, cast

import numpy as np

from maximand.batch import Batch
from maximand.datasets import simulate_cells
from maximand.engine import Threads
from maximand.formats import TrackedCells, read_tracking
from maximand.inference import Partitioning
from maximand.losses import named
from maximand.numerics.stratified import stratified
from maximand.objective import Objective
from maximand.papers.study import Study
from maximand.solvers import CCCP, OneSlack, Perceptron, Result, Solver
from maximand.spaces import Events
from maximand.support import Array
from maximand.tasks.tracking import TrackingTask
from maximand.tasks.tracks.known import read_known

AREA1, AREA2, MIGRATION, SIMULATED, UNSEEN = "area1", "area2", "cellmigration", "simulator", "another simulation"
PLACES = {
    AREA1: ("tracking/epidermis.tar.gz", "epidermis/area1"),
    AREA2: ("tracking/epidermis.tar.gz", "epidermis/area2"),
    MIGRATION: ("tracking/cellmigration.tar.gz", "cellmigration/Sparse1"),
}
ZERO, WALKED = "zero weights", "the perceptron"
SEEDS = {SIMULATED: 0, UNSEEN: 1}
NEIGHBOURS, REGULARIZATION, PRECISION = 3, 1e-3, 1e-2
PATIENCE, MOST_EPOCHS = 5, 100
SETTING = (
    f"Moves lead to or from one of the {NEIGHBOURS} nearest detections, at most a fifth farther than the longest link "
    "in training; features are of positions alone. Partial annotations are stratified samples of the true events, with "
    "all events that these rule out. The task loss is the share of annotated events that are wrong. "
    f"Regularisation {REGULARIZATION:g} beside the mean loss of an annotated event, relative precision {PRECISION:g} "
    "for all but the perceptron. Training relaxes the integer programs to linear ones; predictions do not. CCCP starts "
    "from zero weights, as in the paper, and beside that from the weights of the perceptron. Seconds are those of a "
    "processor."
)


def where(study: Study, names: tuple[str, ...]) -> dict[str, str]:
    """Return the paths of the files that some experiments are in."""
    return {file: str(study.file(file)) for file in sorted({PLACES[name][0] for name in names if name in PLACES})}


def cells_of(name: str, files: Mapping[str, str], size: tuple[int, int] = (3, 12)) -> TrackedCells:
    """Return the detections of an experiment and their lineage; `size`: frames and cells of a simulated one."""
    if name in SEEDS:
        shape = (24.0 * size[1] ** 0.5,) * 2  # so that cells are as dense whatever their number
        table, lineage = simulate_cells(
            *size, shape=shape, division=0.08, missed=0.0, false=0.0, random_state=SEEDS[name]
        )
        return TrackedCells(dict(table), lineage)
    file, folder = PLACES[name]
    with tarfile.open(Path(files[file])) as archive:
        members = [archive.extractfile(f"{folder}/{end}") for end in ("regionprops.csv", "02_GT/TRA/man_track.txt")]
        return read_tracking(*(TextIOWrapper(cast(IO[bytes], member)) for member in members)).cells


class Problem:
    """An experiment to train on, of which `n_pairs` pairs of frames are drawn at random, and one to test on."""

    def __init__(self, train: str, test: str, files: Mapping[str, str], n_pairs: int | None = None, seed: int = 0):
        task, unseen = TrackingTask(n_neighbors=NEIGHBOURS, columns=()), [cells_of(test, files)]
        self.bound, examples, annotation = task.bind([cells_of(train, files)], None)
        pairs = np.arange(examples.space.n_examples)
        if n_pairs is not None:
            pairs = np.sort(np.random.default_rng(seed).choice(pairs, n_pairs, replace=False))
        self.examples, self.annotation = examples.take(pairs), annotation.take(pairs)
        self.examples = replace(self.examples, space=self.examples.space.using(Partitioning(relaxed=True)))
        self.test = self.bound.encode(unseen)
        self.truth = self.bound.annotation(self.test, read_known(unseen, None, self.bound.movies(unseen)))

    def partial(self, share: float, sample: int, seed: int) -> Events:
        """Keep a share of the true events, of each kind at least one, and what they say of others."""
        rows: Any = self.examples.inputs
        true = self.annotation.psi > 0
        strata = np.where(true, rows.events.kinds, -1)
        chosen = stratified(strata, share, random_state=int(np.random.default_rng([seed, sample]).integers(2**31)))
        kept = Events(np.where(chosen, 1.0, -1.0), self.annotation.offsets)
        ruled_out = np.isneginf(self.examples.space.restricted(np.zeros(true.size), kept))
        return Events(np.where(ruled_out, 0.0, kept.psi), kept.offsets)

    def objective(self, loss: str, annotation: Events) -> Objective:
        """Return the objective of the training pairs of which something is known."""
        known = np.array([bool((annotation.psi[a:b] >= 0).any()) for a, b in pairwise(annotation.offsets)])
        pairs = np.flatnonzero(known)
        batch = Batch(self.examples.take(pairs), annotation.take(pairs), self.bound.cost, np.ones(pairs.size))
        return Objective.of(batch, self.bound.features, named(loss), REGULARIZATION, Threads(1))

    def trained(
        self, loss: str, annotation: Events, solver: Solver, start: Array | None = None
    ) -> tuple[Result, float]:
        """Return how training ended, and its processor seconds."""
        objective = self.objective(loss, annotation)
        begin = None if start is None else Result.start(start)
        stop = self.no_better(annotation) if isinstance(solver, Perceptron) else None
        began = process_time()
        result = solver.minimize(objective, start=begin, callback=stop)
        return result, process_time() - began

    def no_better(self, annotation: Events) -> Any:
        """Return a callback that ends training where its task loss is zero, or stopped improving."""
        losses: list[float] = []

        def stop(record: Any, run: Any) -> bool:
            losses.append(self.task_loss(run.weights, self.examples, annotation))
            return losses[-1] == 0.0 or len(losses) - int(np.argmin(losses)) > PATIENCE

        return stop

    def task_loss(self, weights: Array, examples: Any = None, known: Events | None = None) -> float:
        """Return the share of annotated events that are wrong, in per cent; by default those of the test."""
        examples, known = examples or self.test, known or self.truth
        features = self.bound.features
        scores = features.scores(examples, features.prepared(weights, examples.inputs))
        space = examples.space.using(Partitioning())
        found, there = space.argmax(scores).mean, known.psi >= 0
        return 100.0 * float(np.mean(found[there] != known.psi[there]))

    def starts(self, annotation: Events) -> dict[str, tuple[Array, float]]:
        """Return where CCCP starts, and the seconds that it took to get there."""
        walked, seconds = self.trained("perceptron", annotation, perceptron())
        return {ZERO: (np.zeros_like(walked.weights), 0.0), WALKED: (walked.weights, seconds)}


def cccp(**options: Any) -> CCCP:
    """Return the paper's solver."""
    return CCCP(inner=OneSlack(tolerance=PRECISION), tolerance=PRECISION, **options)


def bundle() -> OneSlack:
    """Return the solver of full annotations."""
    return OneSlack(tolerance=PRECISION)


def perceptron() -> Perceptron:
    """Return the paper's baseline: a step for each pair of frames."""
    return Perceptron(max_iterations=MOST_EPOCHS, batch_size=1)
