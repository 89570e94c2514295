"""Examples that live in one place, and what can be asked about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from operator import and_
from typing import Any, NamedTuple, TypeVar

import numpy as np

from maximand.answers import Answered, ExamplePlanes, Sums
from maximand.batch import Batch, cut
from maximand.caching import cached_property
from maximand.engine import Threads
from maximand.features import FeatureMap
from maximand.numerics.lowering import Stencils
from maximand.oracles import Oracle, Soft, Target
from maximand.passes import Pass
from maximand.support import EPSILON, Array, Ints, Support, Waiting

Found = TypeVar("Found")

LANES = 8  # how many sums run side by side: fixed, so that the answer does not depend on the number of threads
LANES_OF_LARGE_MODELS = 4  # each sum is as long as the weights
LARGE_MODEL = 1 << 15
LITTLE = 1 << 24  # bytes that cost vectors may always take


class _Piece(NamedTuple):
    """A chunk of consecutive examples; its target where that is kept."""

    batch: Batch
    target: Target | None
    examples: Ints | slice


class Shard:
    """A batch and its feature map; it keeps the last state of each oracle, and what solvers keep with it.

    `begins` is the number that its first example has among those of all shards.
    In memory there is one, cut into lanes of about equal work, each a list of chunks. Each lane has a sum of its own;
    the lanes are added up in order.
    """

    def __init__(self, batch: Batch, features: FeatureMap, begins: int = 0):
        self.batch, self.features, self.begins = batch, features, begins
        self.threads = Threads(1)
        self.states: dict[str, Any] = {}  # of each oracle, by a key
        self.kept: dict[str, Any] = {}  # what solvers left here
        self.deadlines = [np.inf]  # of answers; the last one holds, see `passes.limited`

    def on(self, threads: Threads) -> Shard:
        """Return the same shard, its lanes run by some threads."""
        shard = copy(self)
        shard.threads = threads
        return shard

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("laid_out", "lanes", "stencils")}

    @cached_property
    def laid_out(self) -> Batch:
        """The batch with its rows laid out for many passes."""
        return replace(self.batch, examples=self.features.laid_out(self.batch.examples))

    @cached_property
    def lanes(self) -> list[list[_Piece]]:
        """The chunks of each lane, which share the memory of the batch."""
        batch = self.laid_out
        n_lanes = LANES if self.features.n_weights <= LARGE_MODEL else LANES_OF_LARGE_MODELS
        # Cost vectors are kept between calls while they take no more memory than the input itself.
        keep = 8 * batch.space.n_parts <= max(self.batch.examples.inputs.n_bytes, LITTLE)
        pieces = []
        for examples in cut(batch.space.layout, n_lanes, batch.space.quick):
            chunk = batch.take(examples)
            pieces.append(_Piece(chunk, chunk.target if keep else None, examples))
        n_lanes = min(n_lanes, len(pieces))
        cuts = [len(pieces) * lane // n_lanes for lane in range(n_lanes + 1)]
        return [pieces[a:b] for a, b in pairwise(cuts)]

    @cached_property
    def stencils(self) -> Stencils:
        """What stencils are made of."""
        return self.features.stencils(self.batch.examples)

    def _pieces(self, some: Batch, examples: Ints) -> list[_Piece]:
        """Return the chunks of some examples."""
        chunks = cut(some.space.layout, LANES, some.space.quick)
        if len(chunks) == 1:
            return [_Piece(some, None, examples)]
        return [_Piece(some.take(chunk), None, examples[chunk]) for chunk in chunks]

    def _each(
        self, oracle: Oracle, key: str, expanded: Array, lane: list[_Piece], asked: Pass, use: Callable[..., Found]
    ) -> Iterator[Found]:
        """Ask the oracle at expanded weights, none for zeros, chunk by chunk; note its state.

        Yield use(chunk, target, theta, answer, what is known of that); nothing else is kept while the next one is made.
        """
        last = self.states.get(key)
        for piece in lane:
            asked.check()
            yield use(*self._asked(oracle, last, expanded, piece, asked))

    def _asked(
        self, oracle: Oracle, last: Any, expanded: Array, piece: _Piece, asked: Pass
    ) -> tuple[Batch, Target, Array, Support, Answered]:
        target, examples = piece.target or piece.batch.target, piece.batch.examples
        n_scores = examples.space.layout.n_scores
        theta = self.features.scores(examples, expanded) if expanded.size else np.zeros(n_scores)
        state = None if last is None else last.take(piece.examples)
        support = oracle(piece.batch.space, theta, target, state)
        asked.states[_first(piece)] = support.state
        answered = Answered.of(oracle, theta, target, support, piece.batch.weight)
        if answered.contradicted is not None:
            example = np.arange(self.batch.n_examples)[piece.examples][answered.contradicted]
            answered = answered._replace(contradicted=self.begins + int(example))
        return piece.batch, target, theta, support, answered

    def _pass(self) -> Pass:
        return Pass(self.deadlines[-1])

    def _note(self, key: str, lanes: list[list[_Piece]], asked: Pass, examples: Ints | None) -> None:
        """Keep the states that oracles returned, where all did."""
        found = [asked.states[_first(piece)] for lane in lanes for piece in lane]
        if any(state is None for state in found):
            return
        state = type(found[0]).joined(found)
        if examples is None:
            self.states[key] = state
        elif key in self.states:
            self.states[key] = self.states[key].put(examples, state)

    def sums(
        self,
        oracle: Oracle,
        key: str,
        weights: Array,
        examples: Ints | None = None,
        each: float | None = None,
        squared: bool = False,
    ) -> Sums:
        """Return the weighted sum over all examples, or over some; with `each`, as if that were the weight of each.

        `squared`: of how much parts vary, where features count by their squares: the diagonal of the Hessian, if parts
        occur independently of each other. Counts vary by about their mean, projections as much as theta or less.
        """
        expanded = self.features.expand(weights) if weights.any() else np.empty(0)
        some = None if examples is None else self.batch.take(examples)
        if some is not None and each is not None:
            some = some.evenly(each)
        weight = (some or self.batch).weight
        flat = bool((weight == weight[0]).all())  # then the sums are weighted once, at the end
        lanes = self.lanes if some is None or examples is None else [self._pieces(some, examples)]
        asked, spare = self._pass(), list[Array]()  # sums that were added up, zeros again

        def lane_sums(lane: list[_Piece]) -> Sums:
            try:
                slope = spare.pop()
            except IndexError:
                slope = np.zeros(self.features.n_expanded)

            def add(
                chunk: Batch, target: Target, theta: Array, support: Support, answered: Answered
            ) -> tuple[float, Answered]:
                examples, held = chunk.examples, support.held
                if squared:
                    examples, held = examples.squared(), _varying(oracle, held)
                self.features.add_sums(examples, chunk.space.layout.total(held, None if flat else chunk.weight), slope)
                return float(chunk.weight @ support.value), answered

            values, answers = zip(*self._each(oracle, key, expanded, lane, asked, add), strict=True)
            return Sums(slope, sum(values), reduce(and_, answers))

        found = asked.side_by_side(self.threads, lane_sums, lanes)
        total, value, answered = next(found)
        for slope, lane_value, lane_answered in found:
            total += slope
            value += lane_value
            answered = answered & lane_answered
            slope[:] = 0.0
            spare.append(slope)
        self._note(key, lanes, asked, examples)
        if flat:
            total *= weight[0]
        return Sums(self.features.reduce(total), value, answered)

    def planes(
        self, oracle: Oracle, key: str, weights: Array, examples: Ints | None = None, above: Array | None = None
    ) -> ExamplePlanes:
        """Return planes, one for each of the given examples (default: of all).

        With `above`, only for examples whose value exceeds it: what is there already need not be built again.
        """
        some = None if examples is None else self.batch.take(examples)
        pieces = [] if some is None or examples is None else self._pieces(some, examples)
        lanes, asked = [[piece] for piece in pieces] or self.lanes, self._pass()
        threshold = np.full((some or self.batch).n_examples, -np.inf) if above is None else above
        expanded = self.features.expand(weights)
        starts = np.cumsum([0] + [sum(piece.batch.n_examples for piece in lane) for lane in lanes]).tolist()

        def lane_planes(work: tuple[list[_Piece], int]) -> list[ExamplePlanes]:
            lane, start = work

            def plane(
                chunk: Batch, target: Target, theta: Array, support: Support, answered: Answered
            ) -> ExamplePlanes:
                nonlocal start
                layout = chunk.space.layout
                values = support.value - layout.dot(theta, target.known)
                wanted = np.flatnonzero(values > threshold[start : start + chunk.n_examples])
                scores = layout.dot(theta, support.held)[wanted]
                offsets = support.value[wanted] - scores
                rounding = EPSILON * float(np.abs(scores).max(initial=0.0))
                difference = layout.less(support.held, target.known, wanted)
                which, start = start + wanted, start + chunk.n_examples
                return ExamplePlanes(which, *difference, offsets, values, rounding, answered)

            return list(self._each(oracle, key, expanded, lane, asked, plane))

        work = list(zip(lanes, starts[:-1], strict=True))
        found = [planes for lane in asked.side_by_side(self.threads, lane_planes, work) for planes in lane]
        self._note(key, lanes, asked, examples)
        return ExamplePlanes(
            np.concatenate([planes.which for planes in found]),
            np.concatenate([[0], np.cumsum(np.concatenate([np.diff(planes.pointers) for planes in found]))]),
            np.concatenate([planes.parts for planes in found]),
            np.concatenate([planes.coefficients for planes in found]),
            np.concatenate([planes.offsets for planes in found]),
            np.concatenate([planes.values for planes in found]),
            max(planes.rounding for planes in found),
            reduce(and_, (planes.answered for planes in found)),
        )

    def slacks(self, oracle: Oracle, key: str, weights: Array) -> tuple[Array, Array, Answered]:
        """Return for each example the value of the penalty and the score of its annotated parts."""
        expanded, asked = self.features.expand(weights), self._pass()

        def lane_slacks(lane: list[_Piece]) -> list[tuple[Array, Array, Answered]]:
            def slack(
                chunk: Batch, target: Target, theta: Array, support: Support, answered: Answered
            ) -> tuple[Array, Array, Answered]:
                return support.value, target.score(theta), answered

            return list(self._each(oracle, key, expanded, lane, asked, slack))

        found = [scores for lane in asked.side_by_side(self.threads, lane_slacks, self.lanes) for scores in lane]
        values, annotated, answered = zip(*found, strict=True)
        return np.concatenate(values), np.concatenate(annotated), reduce(and_, answered)

    def annotated_score(self) -> Array:
        """Return the slope of the weighted mean score of the annotated parts."""
        return self._annotated_slope

    @cached_property
    def _annotated_slope(self) -> Array:
        slope = np.zeros(self.features.n_expanded)
        for lane in self.lanes:
            for chunk, target, _ in lane:
                psi = (target or chunk.target).known
                self.features.add_sums(chunk.examples, chunk.space.layout.total(psi, chunk.weight), slope)
        return self.features.reduce(slope)

    def state(self, key: str) -> Any:
        """Return the last state of the oracle, by its key."""
        return self.states.get(key)

    def begin_from(self, key: str, state: Any) -> None:
        """Let the oracle, by its key begin from a state; from scratch where that is None."""
        self.states.pop(key, None)
        if state is not None:
            self.states[key] = state

    def ask(self, name: str, method: str, *arguments: Any) -> Any:
        """Call a method of what a solver left here under a name."""
        self._pass().check()
        return getattr(self.kept[name], method)(*arguments)

    def keep(self, name: str, make: Any, *arguments: Any) -> None:
        """Let a solver leave something here: make(shard, *arguments)."""
        self.kept[name] = make(self, *arguments)


def _varying(oracle: Oracle, mean: Array | Waiting) -> Array | Waiting:
    """Return how much parts vary at the most, given their mean."""
    if isinstance(mean, Waiting):
        return mean
    return np.abs(mean) if isinstance(oracle, Soft) else np.ones_like(mean)


def _first(piece: _Piece) -> int:
    """Return the first example of a piece, which tells it from others."""
    return piece.examples.start if isinstance(piece.examples, slice) else int(piece.examples[0])
