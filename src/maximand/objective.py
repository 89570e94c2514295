"""The regularised objective: all that a solver sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import product, zip_longest
from operator import and_
from secrets import token_hex
from typing import Any

import numpy as np
from scipy.linalg.blas import daxpy

from maximand.answers import Sums, Tally, below
from maximand.batch import Batch
from maximand.caching import cached_property
from maximand.capabilities import Can
from maximand.engine import Engine, Threads
from maximand.features import FeatureMap
from maximand.identity import identity
from maximand.losses import ANNOTATED, Loss
from maximand.oracles import Oracle, Projection, Soft
from maximand.shards import Shard
from maximand.support import Array, Guarantee, Ints, Plane

PENALTY, REWARD = "penalty", "reward"


@dataclass(frozen=True)
class Objective:
    """regularization / 2 |w|^2 + sum_i weight_i (penalty_i(A_i w) - reward_i(A_i w)) / sum_i weight_i n_annotated_i.

    That is the mean loss of the rows of features of which something is known: of tables, tokens, nodes. So outputs of
    any length are regularised alike, and so is a label of a set, which has weights of its own, whatever the others.
    The examples are in shards, which `engine` has brought to where they live. `frozen` holds the reward once it is
    linear: for CCCP, or because the annotation is full. `token` names the data: planes of one objective hold for all
    with the same data and penalty.
    """

    batches: tuple[Batch, ...]
    features: FeatureMap
    loss: Loss
    regularization: float
    engine: Engine
    placed: list[Any] = field(repr=False)
    frozen: Plane | None = None
    tally: Tally = field(default_factory=Tally, repr=False)
    token: str = field(default_factory=lambda: token_hex(8), repr=False)

    @classmethod
    def of(
        cls,
        data: Batch | Sequence[Batch],
        features: FeatureMap,
        loss: Loss,
        regularization: float,
        engine: Engine | None = None,
        sample_weight: Array | None = None,
    ) -> Objective:
        """Return the objective of a batch, or of several, each of which is a shard of its own.

        sample_weight, where given, replaces equal weights.
        """
        given = (data,) if isinstance(data, Batch) else tuple(data)
        sizes = [batch.n_examples for batch in given]
        weight = np.ones(sum(sizes)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        n_annotated = np.concatenate([batch.annotation.n_annotated for batch in given])
        weight = np.where(n_annotated > 0, weight, 0.0)
        shares = np.split(weight / ((weight @ n_annotated) or 1.0), np.cumsum(sizes)[:-1])
        batches = tuple(replace(batch, weight=share) for batch, share in zip(given, shares, strict=True))
        begins = np.cumsum([0, *sizes[:-1]]).tolist()
        loss = loss.on(np.concatenate([batch.annotation.full for batch in batches]))
        for batch, first in zip(batches, begins, strict=True):
            loss.check(batch.space)
            batch.check_outputs(first)
        engine = engine or Threads()
        placed = engine.place([Shard(batch, features, first) for batch, first in zip(batches, begins, strict=True)])
        objective = cls(batches, features, loss, regularization, engine, placed)
        if loss.reward is not None and loss.convex(objective.full):
            return objective.linearized(np.zeros(features.n_weights))
        return objective

    @cached_property
    def share(self) -> Array:
        """The weights of the examples: those of all annotated rows sum to one."""
        return np.concatenate([batch.weight for batch in self.batches])

    @property
    def can(self) -> Can:
        """What the spaces of all shards can."""
        return reduce(and_, (batch.space.can for batch in self.batches))

    @cached_property
    def full_examples(self) -> Any:
        """Per example: whether the annotation is full."""
        return np.concatenate([batch.annotation.full for batch in self.batches])

    @cached_property
    def full(self) -> bool:
        """Whether every example is fully annotated."""
        return bool(self.full_examples.all())

    @property
    def convex(self) -> bool:
        """Whether the objective is convex: of loss and data, or because the reward is frozen."""
        return self.frozen is not None or self.loss.convex(self.full)

    @property
    def smooth(self) -> bool:
        """Whether the objective is differentiable."""
        return self.loss.smooth(self.full) or (self.frozen is not None and self.loss.penalty.smooth)

    @property
    def nonsmooth(self) -> bool:
        """Whether the objective has kinks, as where outputs are maximised."""
        return not self.smooth

    @property
    def bounded(self) -> bool:
        """Whether the gradients of the loss are bounded, whatever the weights."""
        return self.loss.penalty.bounded

    @property
    def polyhedral(self) -> bool:
        """Whether the objective is, but for its regulariser, convex and made of finitely many planes."""
        return self.convex and self.loss.penalty.polyhedral

    @property
    def n_weights(self) -> int:
        """The number of weights."""
        return self.features.n_weights

    @property
    def signed(self) -> bool:
        """Whether some weights may not be negative."""
        some = self.features.nonnegative
        return some.stop > some.start

    def clip(self, weights: Array) -> Array:
        """Raise weights that may not be negative to zero, in place."""
        some = self.features.nonnegative
        np.maximum(weights[some], 0.0, out=weights[some])
        return weights

    @property
    def n_examples(self) -> int:
        """The number of examples."""
        return self.share.size

    @cached_property
    def edges(self) -> Ints:
        """Shard s has the examples edges[s]:edges[s+1]."""
        return np.cumsum([0] + [batch.n_examples for batch in self.batches])

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """Yield the answers of all shards, in order."""
        return self.engine.map(function, self.placed, *arguments)

    def of_shards(self, examples: Ints) -> Iterator[tuple[int, Any, Ints]]:
        """Yield each shard that owns some of the examples: its number, the shard, and the examples by its own count."""
        for s, placed in enumerate(self.placed):
            first, stop = self.edges[s], self.edges[s + 1]
            own = examples if len(self.placed) == 1 else examples[(examples >= first) & (examples < stop)] - first
            if own.size:
                yield s, placed, own

    def state_key(self, oracle: Oracle, role: str) -> str:
        """Name the state of an oracle in its role."""
        known = oracle is getattr(self.loss, role)
        return f"{role} {self.loss.identities[role] if known else identity(oracle)}"

    def _plane(self, oracle: Oracle, role: str, weights: Array) -> Plane:
        """Return the weighted sum of the planes of all examples."""
        return self._sum(self.ask(Shard.sums, oracle, self.state_key(oracle, role), weights), role, weights)

    def _sum(self, sums: Iterator[Sums], role: str, weights: Array) -> Plane:
        with self.engine.session():
            slope, value, answered = next(sums)
            for more_slope, more_value, more_answered in sums:
                slope = slope + more_slope
                value += more_value
                answered = answered & more_answered
            self.tally.note(answered, negative=role == REWARD)
            return Plane(slope, value - float(slope @ weights), answered.guarantee, answered.excess)

    def _sampled_plane(self, oracle: Oracle, role: str, weights: Array, examples: Ints) -> Plane:
        """Return the plane of all examples as far as some tell, which were drawn as often as their weights say."""
        key, each = self.state_key(oracle, role), float(self.share.sum()) / examples.size
        shards = self.of_shards(examples)
        sums = (next(self.engine.map(Shard.sums, [shard], oracle, key, weights, own, each)) for _, shard, own in shards)
        return self._sum(sums, role, weights)

    @property
    def states(self) -> list[Any]:
        """What the oracles of the penalty would begin from next, shard by shard, then those of the reward."""
        return [state for key in self._keys for state in self.ask(Shard.state, key)]

    def begin_from(self, states: Sequence[Any]) -> None:
        """Let the oracles begin from such states; without any, from scratch."""
        for (key, shard), state in zip_longest(product(self._keys, self.placed), states):
            list(self.engine.map(Shard.begin_from, [shard], key, state))

    @property
    def _keys(self) -> list[str]:
        return [self.state_key(getattr(self.loss, role), role) for role in (PENALTY, REWARD)]

    def penalty(self, weights: Array) -> Plane:
        """Return the plane that touches the penalty at the weights."""
        return self._plane(self.loss.penalty, PENALTY, weights)

    def reward(self, weights: Array) -> Plane:
        """Return the plane that touches the reward at the weights."""
        if self.frozen is not None:
            return self.frozen
        if self.loss.reward is None:
            return Plane(np.zeros(self.n_weights), 0.0)
        return self._plane(self.loss.reward, REWARD, weights)

    def value_of(self, weights: Array, penalty: Plane, reward: Plane) -> float:
        """Return the objective at the weights, given the planes that touch there."""
        loss = penalty(weights) - reward(weights)
        if loss < 0 and self.loss.nonnegative and self.tally.contradicted is None:
            self._doubt(weights, penalty, reward, loss)
        return 0.5 * self.regularization * float(weights @ weights) + loss

    def _doubt(self, weights: Array, penalty: Plane, reward: Plane, loss: float) -> None:
        """Find the example at which oracles make a loss negative that cannot be, unless it is the arithmetic."""
        sizes = sum(abs(plane.offset) + float(np.abs(plane.slope) @ np.abs(weights)) for plane in (penalty, reward))
        if below(loss, 0.0, sizes) and (penalty.guarantee & -reward.guarantee).bounds_from_above:
            rewards = self._values(self.loss.reward, REWARD, weights) if self.loss.reward is not None else 0.0
            self.tally.doubt(int(np.argmin(self._values(self.loss.penalty, PENALTY, weights) - rewards)))

    def _values(self, oracle: Oracle, role: str, weights: Array) -> Array:
        found = self.ask(Shard.slacks, oracle, self.state_key(oracle, role), weights)
        return np.concatenate([values for values, _, _ in found])

    def value_and_gradient(self, weights: Array) -> tuple[float, Array]:
        """Return the objective and a (sub)gradient."""
        penalty, reward = self.penalty(weights), self.reward(weights)
        value = self.value_of(weights, penalty, reward)
        gradient = np.subtract(penalty.slope, reward.slope, out=penalty.slope)  # ours alone, so it may be overwritten
        return value, daxpy(weights, gradient, a=self.regularization)

    def value(self, weights: Array) -> float:
        """Return the objective."""
        return self.value_of(weights, self.penalty(weights), self.reward(weights))

    def sampled_gradient(self, weights: Array, examples: Ints) -> tuple[float, Array]:
        """Return value and (sub)gradient of the objective as some examples tell it, each as likely as its weight."""
        penalty = self._sampled_plane(self.loss.penalty, PENALTY, weights, examples)
        if self.loss.reward is None or (self.frozen is not None and not self.loss.reward.linear(self.full)):
            reward = self.reward(weights)  # none at all, or frozen by CCCP as a sum over all examples
        else:
            reward = self._sampled_plane(self.loss.reward, REWARD, weights, examples)
        gradient = self.regularization * weights + penalty.slope - reward.slope
        loss = penalty(weights) - reward(weights)  # negative, perhaps, where the reward is one of all examples
        return 0.5 * self.regularization * float(weights @ weights) + loss, gradient

    def slacks(self, weights: Array) -> tuple[Array, Array]:
        """Return for each example the penalty less the score of its annotated parts, and that score."""
        found = self.ask(Shard.slacks, self.loss.penalty, self._keys[0], weights)
        values, annotated, answered = zip(*found, strict=True)
        self.tally.note(reduce(and_, answered)._replace(guarantee=Guarantee.EXACT))
        scores = np.concatenate(annotated)
        return np.concatenate(values) - scores, scores

    def annotated_score(self) -> Plane:
        """Return the weighted mean score of the annotated parts: what planes of single examples leave out.

        A linear reward is that very score, less a constant.
        """
        if self.frozen is not None and self.loss.reward is not None and self.loss.reward.linear(self.full):
            return replace(self.frozen, offset=0.0)
        return Plane(reduce(np.add, self.ask(Shard.annotated_score)), 0.0)

    def linearized(self, weights: Array) -> Objective:
        """Return the convex objective whose reward is replaced by the plane that touches it at the weights."""
        return replace(self, frozen=replace(self, frozen=None).reward(weights))

    def rewarding_annotation(self) -> Objective:
        """Return the objective whose reward is the same (soft, regularised) maximum over Y* as the penalty's over Y."""
        return replace(self, loss=self.loss.rewarding_annotation, frozen=None)

    def annotated(self) -> Objective:
        """Return the convex objective whose reward is the mean of the outputs that agree with the annotation.

        It touches the maximum over Y* at zero weights, where all outputs tie; on full annotation it is the convex
        bound that do2008 starts from.
        """
        start = np.zeros(self.n_weights)
        if self.loss.reward is None:
            return self.linearized(start)
        if isinstance(self.loss.penalty, Projection):
            return self.rewarding_annotation().linearized(start)
        heat = 1.0 if Can.MARGINALS in self.can else 0.0
        plane = self._plane(Soft(ANNOTATED, temperature=heat), REWARD, start)
        return replace(self, frozen=Plane(plane.slope, 0.0))
