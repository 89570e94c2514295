"""The averaged perceptron: steps of length one, from a few examples at a time."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import ClassVar, NamedTuple

import numpy as np

from maximand.answers import Answered
from maximand.batch import CHUNK_PARTS, Batch, cut_evenly
from maximand.losses import Loss
from maximand.objective import PENALTY, Objective
from maximand.passes import OutOfTime, Pass, unlimited
from maximand.shards import Shard
from maximand.solvers.base import Iterate, Result, Solver
from maximand.solvers.earlier import start_weights
from maximand.support import Array, Guarantee, Ints


class Walked(NamedTuple):
    """Where a walk stands: after `time` steps the mean of the weights that followed them is weights - moments / time.

    A step at time t (from 0) that moves the weights by d is in all means after it, and t d in the moments. So both
    change only where d is not zero. `mistaken` says whether some step of the epoch moved the weights.
    """

    weights: Array
    moments: Array
    time: int
    n_examples: int = 0
    mistaken: bool = False
    late: bool = False


class Trail:
    """What the solver holds between epochs."""

    saved = ("begun", "weights", "moments", "time", "rng", "mistaken")

    def __init__(self, weights: Array, rng: np.random.Generator):
        self.begun, self.mistaken = False, True
        self.weights, self.moments, self.time, self.rng = weights, np.zeros_like(weights), 0, rng


@dataclass(frozen=True, kw_only=True)
class Perceptron(Solver):
    """Goes through the examples in random order and moves the weights by the subgradients of the loss, undiminished.

    An iteration is an epoch, and its iterate the mean of the weights after all steps so far (without `averaging`, the
    last ones). Each step is that of `batch_size` examples at the same weights (None: of all), which changes only the
    weights of features that they have. The perceptron loss is least at zero weights, where it says nothing; what
    learns is the path away from there, so the last iterate counts, and the regularisation has no part in it. Other
    losses with bounded gradients learn too, in steps of the same length.
    """

    max_iterations: int = 20
    batch_size: int | None = 8
    averaging: bool = True
    random_state: int = 0

    keeps_last: ClassVar[bool] = True

    def check(self, objective: Objective) -> None:
        """Refuse gradients without bound, and rewards that are not those of single examples."""
        super().check(objective)
        reward = objective.loss.reward
        if not objective.bounded:
            raise ValueError(
                f"Perceptron takes steps as long as gradients, and those of {objective.loss.name} have no bound; use "
                "LBFGS(), or Subgradient()."
            )
        if objective.frozen is not None and reward is not None and not reward.linear(objective.full):
            raise ValueError("Perceptron asks single examples for their reward, which CCCP freezes; use Subgradient().")

    def begin(self, objective: Objective, start: Result | None) -> Trail:
        """Return the start of a walk."""
        return Trail(start_weights(objective, start), np.random.default_rng(self.random_state))

    def iterate(self, objective: Objective, state: Trail) -> Generator[Iterate, None, str]:
        """Yield the mean of the weights after each epoch."""
        while state.mistaken:
            before = state.rng.bit_generator.state
            walked = self._epoch(objective, state)
            chosen = walked.weights.copy()
            if self.averaging:
                chosen -= walked.moments / walked.time
            if walked.late:  # an epoch that is cut short counts, and is begun again by a run that goes on later
                state.rng.bit_generator.state = before
            else:
                state.weights, state.moments, state.time = walked.weights, walked.moments, walked.time
                state.mistaken = walked.mistaken
            with unlimited(objective):
                value = _value(objective, objective.clip(chosen))
            state.begun = True
            yield Iterate(chosen, value)
        return "no step of an epoch moved the weights, which bounds nothing"

    def _epoch(self, objective: Objective, state: Trail) -> Walked:
        """Visit every example once, shard by shard."""
        key = objective.state_key(objective.loss.penalty, PENALTY)
        walked = Walked(state.weights, state.moments, state.time)
        order, share = state.rng.permutation(objective.n_examples), objective.share
        scale = None if share.min() == share.max() else 1.0 / float(share.mean())
        for _, shard, own in objective.of_shards(order):
            arguments = objective.loss, key, walked, own, self.batch_size or own.size, scale
            walked = next(objective.engine.map(walk, [shard], *arguments))
            if walked.late:
                break
        if walked.late and walked.time == state.time:
            raise OutOfTime
        objective.tally.note(Answered(walked.n_examples, Guarantee.EXACT, 0, 0.0))
        return walked


def _value(objective: Objective, weights: Array) -> float:
    """Return the objective; where the reward is the score of the annotation, without the sums that make a slope."""
    if not (objective.loss.homogeneous and objective.full):
        return objective.value(weights)
    penalty = objective.loss.penalty
    found = objective.ask(Shard.slacks, penalty, objective.state_key(penalty, PENALTY), weights)
    values, scores, answered = zip(*found, strict=True)
    objective.tally.note(reduce(and_, answered))
    loss = float(objective.share @ (np.concatenate(values) - np.concatenate(scores)))
    return 0.5 * objective.regularization * float(weights @ weights) + loss


def walk(shard: Shard, loss: Loss, key: str, begun: Walked, order: Ints, size: int, scale: float | None) -> Walked:
    """Take a step for each so many examples of a shard; iterative oracles begin from what their last pass left.

    The scale turns the weights of examples into factors of their gradients; None: all are one.
    """
    features, asked, state = shard.features, Pass(shard.deadlines[-1]), shard.state(key)
    weights, moments = features.expand(begun.weights.copy()), features.expand(begun.moments.copy())
    signed = _signed(shard)
    time, n_examples, mistaken, late = begun.time, begun.n_examples, begun.mistaken, False
    try:
        for group, examples in _groups(shard, order, size):
            asked.check()
            space, target = group.space, group.target
            theta = features.scores(group.examples, weights)
            change = -loss.penalty(space, theta, target, None if state is None else state.take(examples)).mean
            if loss.reward is not None:
                change += target.psi if loss.reward.linear(target.full) else loss.reward(space, theta, target).mean
            if scale is not None:
                change = space.layout.scale(change, scale * group.weight)
            if change.any():
                mistaken = True
                features.move(group.examples, change, weights)
                features.add_sums(group.examples, time * change, moments)
                lifted = np.maximum(-weights[signed], 0.0)
                weights[signed] += lifted
                moments[signed] += time * lifted
            time, n_examples = time + 1, n_examples + examples.size
    except OutOfTime:
        late = True
    return Walked(features.reduce(weights), features.reduce(moments), time, n_examples, mistaken, late)


def _signed(shard: Shard) -> Ints:
    """Return the places of the expanded weights that may not be negative."""
    own = np.zeros(shard.features.n_weights)
    own[shard.features.nonnegative] = 1.0
    return np.flatnonzero(shard.features.expand(own))


def _groups(shard: Shard, order: Ints, size: int) -> Iterator[tuple[Batch, Ints]]:
    """Yield the examples in order, so many at a time: chunks are gathered, and groups share the memory of these."""
    begins = np.arange(0, order.size, size)
    work = np.add.reduceat(shard.batch.space.layout.load[order], begins)
    for chunk in cut_evenly(work, 1, CHUNK_PARTS):
        own = order[chunk.start * size : chunk.stop * size]
        part = shard.batch.take(own)
        for first in range(0, own.size, size):
            some = slice(first, min(first + size, own.size))
            yield part.take(some), own[some]
