"""The regularised objective: all that a solver sees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property, reduce
from hashlib import blake2b
from operator import and_
from typing import Any

import numpy as np
from scipy.linalg.blas import daxpy
from scipy.sparse import issparse

from maximand.batch import Batch, Lanes
from maximand.engine import Threads
from maximand.features import FeatureMap
from maximand.losses import ANNOTATED, Loss
from maximand.oracles import Oracle, Projection, Rescaled, Soft, Target
from maximand.support import EPSILON, Array, Guarantee, Ints, Plane, Support


@dataclass(frozen=True)
class ExamplePlanes:
    """Planes of the penalties of single examples, less the score of their annotated parts.

    The difference has few nonzeros where an output differs little from the annotation. `values` holds it for every
    example asked; `rows` says which of these got a plane. Plane j has `coefficients` on `parts` of its example, from
    pointers[j] to pointers[j+1]; their score plus offsets[j] is at most the value, and equal at the weights asked.
    `rounding` is how much too large an offset may be for the arithmetic.
    """

    rows: Ints
    pointers: Ints
    parts: Ints
    coefficients: Array
    offsets: Array
    values: Array
    guarantee: Guarantee
    rounding: float


Piece = tuple[Batch, Target | None]


@dataclass(frozen=True)
class Objective:
    """regularization / 2 |w|^2 + sum_i weight_i (penalty_i(A_i w) - reward_i(A_i w)), with weights that sum to one.

    `frozen` holds the reward once it is linear: for CCCP, or because the annotation is full.
    """

    batch: Batch
    features: FeatureMap
    loss: Loss
    regularization: float
    engine: Threads
    lanes: Lanes
    frozen: Plane | None = None

    @classmethod
    def of(
        cls,
        batch: Batch,
        features: FeatureMap,
        loss: Loss,
        regularization: float,
        engine: Threads | None = None,
        sample_weight: Array | None = None,
    ) -> Objective:
        """Return the objective of a batch; sample_weight, where given, replaces equal weights."""
        weight = np.ones(batch.space.n_examples) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        batch = replace(batch, weight=weight / weight.sum())
        partial = np.flatnonzero(~batch.annotation.full)
        if isinstance(loss.penalty, Rescaled) and partial.size:
            raise ValueError(f"{loss.name} needs full annotations and example {partial[0]} is partial; use hinge.")
        lanes = Lanes(batch, features.n_weights)
        objective = cls(batch, features, loss, regularization, engine or Threads(), lanes)
        if loss.reward is not None and loss.convex(objective.full):
            return objective.linearized(np.zeros(features.n_weights))
        return objective

    @cached_property
    def full(self) -> bool:
        """Whether every example is fully annotated."""
        return bool(self.batch.annotation.full.all())

    @property
    def convex(self) -> bool:
        """Whether the objective is convex: of loss and data, or because the reward is frozen."""
        return self.frozen is not None or self.loss.convex(self.full)

    @property
    def smooth(self) -> bool:
        """Whether the objective is differentiable."""
        return self.loss.smooth(self.full) or (self.frozen is not None and self.loss.penalty.smooth)

    @property
    def bounded(self) -> bool:
        """Whether the gradients of the loss are bounded, whatever the weights."""
        return bool(getattr(self.loss.penalty, "bounded", True))

    @property
    def polyhedral(self) -> bool:
        """Whether the objective is, but for its regulariser, convex and made of finitely many planes."""
        return self.convex and not self.loss.penalty.smooth

    @property
    def n_weights(self) -> int:
        """The number of weights."""
        return self.features.n_weights

    @property
    def signed(self) -> bool:
        """Whether some weights may not be negative."""
        some = self.features.nonnegative
        return some.stop > some.start

    def lift(self, weights: Array) -> Array:
        """Raise weights that may not be negative to zero, in place."""
        some = self.features.nonnegative
        np.maximum(weights[some], 0.0, out=weights[some])
        return weights

    @property
    def n_examples(self) -> int:
        """The number of examples."""
        return self.batch.space.n_examples

    def _each(
        self, oracle: Oracle, expanded: Array, lane: list[Piece]
    ) -> Iterator[tuple[Batch, Target, Array, Support]]:
        """Ask the oracle at expanded weights, chunk by chunk; yield chunk, target, theta and answer."""
        for chunk, kept in lane:
            target = kept or chunk.target
            theta = self.features.scores(chunk.examples, expanded)
            yield chunk, target, theta, oracle(chunk.space, theta, target)

    def _plane(self, oracle: Oracle, weights: Array, batch: Batch | None = None) -> Plane:
        """Return the weighted sum of the planes of all examples, or of those of another batch."""
        expanded = self.features.expand(weights)
        weight = (batch or self.batch).weight
        even = bool((weight == weight[0]).all())  # then the sums are weighted once, at the end

        def lane_sums(lane: list[Piece]) -> tuple[Array, float, Guarantee]:
            slope, value, guarantee = np.zeros(self.features.n_expanded), 0.0, Guarantee.EXACT
            for chunk, _, _, support in self._each(oracle, expanded, lane):
                mean = support.mean if even else chunk.space.layout.scale(support.mean, chunk.weight)
                self.features.add_sums(chunk.examples, mean, slope)
                value += float(chunk.weight @ support.value)
                guarantee = guarantee & support.guarantee
            return slope, value, guarantee

        lanes: list[list[Piece]] = self.lanes.lanes if batch is None else [[(batch, None)]]
        with self.engine.session():
            sums = self.engine.map(lane_sums, lanes)
            total, value, guarantee = next(sums)
            for slope, lane_value, lane_guarantee in sums:
                total += slope
                value += lane_value
                guarantee = guarantee & lane_guarantee
            self.lanes.note((batch or self.batch).n_examples, -guarantee if oracle is self.loss.reward else guarantee)
            if even:
                total *= weight[0]
            total = self.features.reduce(total)
            return Plane(total, value - float(total @ weights), guarantee)

    @property
    def starts(self) -> list[Array]:
        """What iterative oracles of the penalty would begin from next, chunk by chunk; empty where there is nothing."""
        targets = [target for lane in self.lanes.lanes for _, target in lane if target is not None]
        return [target.starts.get(self.loss.penalty, np.empty(0)) for target in targets]

    def begin_from(self, starts: list[Array]) -> None:
        """Let iterative oracles begin from such starts; without any, from scratch."""
        targets = [target for lane in self.lanes.lanes for _, target in lane if target is not None]
        for target in targets:
            target.starts.clear()
        for target, start in zip(targets, starts, strict=False):
            if start.size:
                target.starts[self.loss.penalty] = start

    def penalty(self, weights: Array) -> Plane:
        """Return the plane that touches the penalty at the weights."""
        return self._plane(self.loss.penalty, weights)

    def reward(self, weights: Array) -> Plane:
        """Return the plane that touches the reward at the weights."""
        if self.frozen is not None:
            return self.frozen
        if self.loss.reward is None:
            return Plane(np.zeros(self.n_weights), 0.0)
        return self._plane(self.loss.reward, weights)

    def value_of(self, weights: Array, penalty: Plane, reward: Plane) -> float:
        """Return the objective at the weights, given the planes that touch there."""
        return 0.5 * self.regularization * float(weights @ weights) + penalty(weights) - reward(weights)

    def value_and_gradient(self, weights: Array) -> tuple[float, Array]:
        """Return the objective and a (sub)gradient."""
        penalty, reward = self.penalty(weights), self.reward(weights)
        value = self.value_of(weights, penalty, reward)
        gradient = penalty.slope  # ours alone, so it may be overwritten
        gradient -= reward.slope
        return value, daxpy(weights, gradient, a=self.regularization)

    def value(self, weights: Array) -> float:
        """Return the objective."""
        return self.value_of(weights, self.penalty(weights), self.reward(weights))

    def sampled_gradient(self, weights: Array, examples: Ints) -> tuple[float, Array]:
        """Return value and (sub)gradient of the objective of some examples alone, each as likely as its weight."""
        part = self.batch.take(examples)
        part = replace(part, weight=np.full(len(examples), 1.0 / len(examples)))
        penalty = self._plane(self.loss.penalty, weights, part)
        if self.loss.reward is None or (self.frozen is not None and not self.loss.reward.linear(self.full)):
            reward = self.reward(weights)  # none at all, or frozen by CCCP as a sum over all examples
        else:
            reward = self._plane(self.loss.reward, weights, part)
        gradient = self.regularization * weights + penalty.slope - reward.slope
        return self.value_of(weights, penalty, reward), gradient

    def planes(self, weights: Array, examples: Ints | None = None, above: Array | None = None) -> ExamplePlanes:
        """Return planes, one for each of the given examples (default: of all).

        With `above`, only for examples whose value exceeds it: what is there already need not be built again.
        """
        batch = self.batch if examples is None else self.batch.take(examples)
        lanes: list[list[Piece]] = self.lanes.lanes if examples is None else [[(batch, None)]]
        threshold = np.full(batch.n_examples, -np.inf) if above is None else above
        expanded = self.features.expand(weights)
        starts = iter(np.cumsum([0] + [sum(chunk.n_examples for chunk, _ in lane) for lane in lanes]))

        def lane_planes(work: tuple[list[Piece], int]) -> list[ExamplePlanes]:
            lane, start = work
            found = []
            for chunk, target, theta, support in self._each(self.loss.penalty, expanded, lane):
                values = support.value - chunk.space.layout.dot(theta, target.psi)
                wanted = np.flatnonzero(values > threshold[start : start + chunk.n_examples])
                scores = chunk.space.layout.dot(theta, support.mean)[wanted]
                offsets = support.value[wanted] - scores
                rounding = EPSILON * float(np.abs(scores).max(initial=0.0))
                difference = chunk.space.layout.nonzeros(support.mean - target.psi, wanted)
                found.append(ExamplePlanes(start + wanted, *difference, offsets, values, support.guarantee, rounding))
                start += chunk.n_examples
            return found

        found = [
            planes for lane in self.engine.map(lane_planes, list(zip(lanes, starts, strict=False))) for planes in lane
        ]
        guarantee = reduce(and_, (planes.guarantee for planes in found))
        self.lanes.note(batch.n_examples, guarantee)
        return ExamplePlanes(
            np.concatenate([planes.rows for planes in found]),
            np.concatenate([[0], np.cumsum(np.concatenate([np.diff(planes.pointers) for planes in found]))]),
            np.concatenate([planes.parts for planes in found]),
            np.concatenate([planes.coefficients for planes in found]),
            np.concatenate([planes.offsets for planes in found]),
            np.concatenate([planes.values for planes in found]),
            guarantee,
            max(planes.rounding for planes in found),
        )

    def slacks(self, weights: Array) -> tuple[Array, Array]:
        """Return for each example the penalty less the score of its annotated parts, and that score."""
        expanded = self.features.expand(weights)

        def lane_slacks(lane: list[Piece]) -> tuple[Array, Array]:
            scores = [
                (support.value, chunk.space.layout.dot(theta, target.psi))
                for chunk, target, theta, support in self._each(self.loss.penalty, expanded, lane)
            ]
            return np.concatenate([value for value, _ in scores]), np.concatenate([score for _, score in scores])

        self.lanes.note(self.n_examples, Guarantee.EXACT)
        found = list(self.engine.map(lane_slacks, self.lanes.lanes))
        penalties, annotated = (np.concatenate(part) for part in zip(*found, strict=True))
        return penalties - annotated, annotated

    def annotated_score(self) -> Plane:
        """Return the weighted mean score of the annotated parts: what `planes` leaves out.

        A linear reward is that very score, less a constant.
        """
        if self.frozen is not None and self.loss.reward is not None and self.loss.reward.linear(self.full):
            return replace(self.frozen, offset=0.0)
        if self.lanes.annotated_score is None:
            slope = np.zeros(self.features.n_expanded)
            for lane in self.lanes.lanes:
                for chunk, target in lane:
                    psi = (target or chunk.target).psi
                    self.features.add_sums(chunk.examples, chunk.space.layout.scale(psi, chunk.weight), slope)
            self.lanes.annotated_score = Plane(self.features.reduce(slope), 0.0)
        return self.lanes.annotated_score

    def linearized(self, weights: Array) -> Objective:
        """Return the convex objective whose reward is replaced by the plane that touches it at the weights."""
        return replace(self, frozen=replace(self, frozen=None).reward(weights))

    def rewarding_annotation(self) -> Objective:
        """Return the objective whose reward is the same (soft, regularised) maximum over Y* as the penalty's over Y."""
        penalty = self.loss.penalty
        reward: Oracle = Soft(ANNOTATED, temperature=1.0 if penalty.smooth else 0.0)
        if isinstance(penalty, Projection):
            reward = replace(penalty, over=ANNOTATED)
        return replace(self, loss=replace(self.loss, reward=reward), frozen=None)

    def annotated(self) -> Objective:
        """Return the convex objective whose reward is the mean of the outputs that agree with the annotation.

        It touches the maximum over Y* at zero weights, where all outputs tie; on full annotation it is the convex
        bound that do2008 starts from.
        """
        start = np.zeros(self.n_weights)
        if isinstance(self.loss.penalty, Projection):
            return self.rewarding_annotation().linearized(start)
        try:
            plane = self._plane(Soft(ANNOTATED, temperature=1.0), start)
        except NotImplementedError:
            plane = self._plane(Soft(ANNOTATED), start)
        return replace(self, frozen=Plane(plane.slope, 0.0))


def fingerprint(objective: Objective, *more: Any) -> str:
    """Return a hash of the data, the space, the features, the loss, the regularisation, and what else is given."""
    digest = blake2b(digest_size=16)
    for value in (objective.batch, objective.features, objective.loss, objective.regularization, *more):
        _feed(digest, value)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    """Add a value to a hash: arrays by their bytes, objects by their class and what they hold."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).view(np.uint8).data if value.size else b"")
    elif issparse(value):
        for part in (value.indptr, value.indices, value.data):
            _feed(digest, part)
    elif isinstance(value, (list, tuple, np.ndarray)):
        for item in value:
            _feed(digest, item)
    elif callable(value) and hasattr(value, "__qualname__"):
        digest.update(f"{value.__module__}.{value.__qualname__}".encode())
    elif type(value).__module__.startswith("maximand") and hasattr(value, "__dict__") and not isinstance(value, Enum):
        digest.update(type(value).__name__.encode())
        for name, item in sorted(vars(value).items()):
            if not isinstance(getattr(type(value), name, None), cached_property):  # it follows from the rest
                digest.update(name.encode())
                _feed(digest, item)
    else:
        digest.update(repr(value).encode())
