"""The methods of the paper on problems that are drawn at random, by its two algorithms.

The paper minimises |w|^2 / 2 + C sum_i loss_i. Our objective is a mean over annotated nodes, of which n examples with m
outputs have n m; with regularization = 1 / (C n m) it is the paper's, divided by C n m. So a step of length eta on the
paper's objective is one of eta / regularization on ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import cast

import numpy as np

from maximand.batch import Batch
from maximand.costs import Cost, Hamming
from maximand.decoding import MaxScore
from maximand.engine import Threads
from maximand.estimators.latent import scattered
from maximand.features import Examples
from maximand.inference import Inference
from maximand.losses import CRF, Loss, marginal
from maximand.objective import Objective
from maximand.papers.ping2014.simulators import STATES, TYPES, Field, Lattice, Sample, Spread
from maximand.solvers import CCCP, LBFGS, NSlack, Result
from maximand.spaces import Graph
from maximand.support import Array, Ints
from maximand.tasks.graphs import GraphTask

C = 1.0
ZERO, RANDOM, DEFAULT = "zero", "random", "default"
SGD, CONCAVE = "SGD", "CCCP"


@dataclass(frozen=True)
class Method:
    """A loss, the temperature of hidden nodes when predicting (0: joint MAP), and how Algorithm 1 goes with it."""

    loss: Loss
    hidden: float
    step: float
    iterations: int


METHODS = {
    "MSSVM": Method(marginal(0.0, 1.0), 1.0, 0.02, 50),
    "LSSVM": Method(marginal(0.0, 0.0), 0.0, 0.001, 250),
    "HCRF": Method(marginal(1.0, 1.0, cost=0.0), 1.0, 0.02, 50),
}


class Problem:
    """Training and test examples of a field that was drawn at random, and the model that they were drawn from.

    Where weights are shared, they are so in the field and in the model.
    """

    def __init__(
        self,
        lattice: Lattice,
        spread: Spread,
        shared: bool,
        sizes: tuple[int, int],
        rng: np.random.Generator,
        inference: Inference | None = None,
        cost: Cost | None = None,
    ):
        self.lattice, self.shared = lattice, shared
        self.field = Field.drawn(lattice, spread, shared, rng)
        self.train, self.test = (self.field.sample(size, rng) for size in sizes)
        task = GraphTask(
            bias=False, cost=cost or Hamming(), classes=dict.fromkeys(TYPES, np.arange(STATES)), inference=inference
        )
        self.bound, self.examples, self.annotation = task.bind(self.train.graphs(shared), self.train.labels())
        self.start_seed = int(rng.integers(2**32))

    @cached_property
    def test_examples(self) -> Examples:
        """The test examples, encoded."""
        return self.bound.encode(self.test.graphs(self.shared))

    @property
    def regularization(self) -> float:
        """That of the paper's C."""
        return 1.0 / (C * self.train.outputs.size)

    @property
    def truth(self) -> Array:
        """The weights of the field, as those of the model."""
        parts = []
        for chosen in (~self.lattice.hidden, self.lattice.hidden):
            places = np.flatnonzero(chosen)[: 1 if self.shared else None]
            parts += [self.field.nodes[places], self.field.by_input[places]]
        parts.append(self.field.tables[: 1 if self.shared else None])
        return np.concatenate([part.ravel() for part in parts])

    def objective(self, loss: Loss) -> Objective:
        """Return the objective of a loss on the training examples."""
        batch = Batch(self.examples, self.annotation, self.bound.cost, np.ones(len(self.train.states)))
        return Objective.of(batch, self.bound.features, loss, self.regularization, Threads(1))

    def only(self, count: int) -> Problem:
        """Return the problem with the first training examples alone."""
        part = object.__new__(Problem)
        vars(part).update(vars(self))
        part.train = self.train.take(slice(count))
        part.examples, part.annotation = self.examples.take(slice(count)), self.annotation.take(slice(count))
        return part

    def start(self, kind: str) -> Array:
        """Return the weights to start from: zeros, or random ones that are the same for all methods."""
        if kind == ZERO:
            return np.zeros(self.bound.features.n_weights)
        return scattered(self.objective(CRF), np.random.default_rng(self.start_seed)).weights

    def theta(self, examples: Examples, weights: Array) -> Array:
        """Return the scores of the parts."""
        features = self.bound.features
        return features.scores(examples, features.expand(weights))

    def accuracy(self, weights: Array, hidden: float, training: bool = False) -> float:
        """Return how many outputs are predicted right, in per cent, with hidden nodes at a temperature."""
        examples, sample = (self.examples, self.train) if training else (self.test_examples, self.test)
        space = cast(Graph, examples.space)
        psi = MaxScore(hidden=hidden)(space, self.theta(examples, weights))
        return percent_right(outputs_of(sample.lattice, space.decode(psi)), sample)

    def log_likelihood(self, weights: Array) -> float:
        """Return the mean of log p(y | x) over the test examples."""
        space = self.test_examples.space
        annotation = self.bound.annotation(self.test_examples, self.test.labels())
        target = Batch(self.test_examples, annotation, self.bound.cost, np.ones(space.n_examples)).target
        return -float(CRF(space, self.theta(self.test_examples, weights), target).value.mean())


def outputs_of(lattice: Lattice, codes: list[Ints]) -> Ints:
    """Return the states of outputs, which come first among the nodes of a graph."""
    return np.array(codes)[:, : np.count_nonzero(~lattice.hidden)]


def percent_right(found: Ints, sample: Sample) -> float:
    """Return how many outputs are right, in per cent."""
    return 100.0 * float(np.mean(found == sample.outputs))


def descent(objective: Objective, weights: Array, step: float) -> Iterator[Array]:
    """Yield the weights of Algorithm 1 after each iteration, for ever."""
    while True:
        _, gradient = objective.value_and_gradient(weights)
        weights = weights - step / objective.regularization * gradient
        yield weights


def rounds(objective: Objective, weights: Array, step: float, tolerance: float, most: int) -> Iterator[Array]:
    """Yield the weights of Algorithm 2 after each iteration of its inner loop, for ever.

    That ends where the gradient is as short as the tolerance, in terms of the paper's objective, or after so many.
    """
    while True:
        frozen = objective.linearized(weights)
        for _ in range(most):
            _, gradient = frozen.value_and_gradient(weights)
            gradient = gradient / objective.regularization
            weights = weights - step * gradient
            yield weights
            if np.linalg.norm(gradient) <= tolerance:
                break


def fitted(problem: Problem, name: str, algorithm: str, start: str) -> Array:
    """Train by one of the algorithms; CCCP solves its convex rounds by cutting planes or L-BFGS, not by fixed steps.

    Our default start is where CCCP on random weights goes with an easier objective first.
    """
    method = METHODS[name]
    objective, weights = problem.objective(method.loss), problem.start(start)
    if algorithm == SGD:
        return next(islice(descent(objective, weights, method.step), method.iterations - 1, None))
    return concave_convex(objective, start == DEFAULT).minimize(objective, Result.start(weights)).weights


def concave_convex(objective: Objective, easier: bool) -> CCCP:
    """Return the procedure with a solver for the rounds of an objective."""
    if objective.smooth:  # rounds that cost little, and gain little each
        return CCCP(inner=LBFGS(tolerance=1e-3, max_iterations=50), tolerance=1e-4, max_iterations=50, easier=easier)
    inner = NSlack(tolerance=1e-2, max_iterations=30)
    return CCCP(inner=inner, tolerance=2e-3, max_iterations=12, easier=easier)
