"""The convex-concave procedure, with bound recycling and adaptive precision."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

from maximand.objective import Objective
from maximand.solvers.base import Iterate, Result, Solver, start_weights
from maximand.solvers.block_frank_wolfe import BlockFrankWolfe
from maximand.solvers.lbfgs import LBFGS
from maximand.solvers.subgradient import Perceptron


@dataclass(frozen=True, kw_only=True)
class CCCP(Solver):
    """Minimise a difference of convex functions by repeatedly freezing the reward (lou2012, Algorithm 1).

    recycle: each round starts from the planes of the last one. They bound the penalty, which does not change.
    adaptive: rounds are solved to `coarse` first and to `rate` times finer each round, down to the tolerance of
    `inner`. Without a start the first round freezes the reward at the annotation, the convex bound of do2008; on
    partial annotations a loss that rewards outputs without regard to them starts from one that does not.
    The objective never increases. It ends when a round at full precision gains at most tolerance * value.
    """

    inner: Solver | None = None
    recycle: bool = True
    adaptive: bool = True
    coarse: float = 0.1
    rate: float = 0.3
    max_iterations: int = 100

    def iterate(self, objective: Objective, start: Result | None) -> Generator[Iterate, None, str]:
        """Yield the weights after each round."""
        easier = objective.rewarding_annotation()
        if start is None and not objective.full and easier.loss != objective.loss:
            start = self.minimize(easier)
        weights = start_weights(objective, start)
        value = objective.value(weights)
        yield Iterate(weights, value)
        surrogate = objective.annotated() if start is None else objective.linearized(weights)
        inner = self.inner or automatic(surrogate, tolerance=self.tolerance)
        precision = max(self.coarse, inner.tolerance) if self.adaptive else inner.tolerance
        result = Result(weights, value, None, False, False, "")
        while True:
            began_with = result if self.recycle else Result(weights, value, None, False, False, "")
            solver = replace(inner, tolerance=precision)
            result = solver.minimize(surrogate, start=began_with)  # lines 6-12
            new_value = objective.value(result.weights)
            gain = value - new_value
            if gain > 0:
                weights, value = result.weights, new_value
            result = replace(result, weights=weights)
            yield Iterate(weights, value)
            finest = precision <= inner.tolerance
            if gain <= self.tolerance * abs(value) and finest:  # line 15
                return f"a round gained at most {self.tolerance:g} of the value"
            precision = max(precision * self.rate, inner.tolerance)  # line 5
            surrogate = objective.linearized(weights)  # line 4


def automatic(objective: Objective, **settings: float) -> Solver:
    """Return a good solver for the objective, with the given settings.

    Homogeneous, as the perceptron's loss: Perceptron. Smooth: LBFGS. Convex and made of planes: BlockFrankWolfe.
    Anything else: CCCP on one of these.
    """
    if objective.loss.homogeneous:
        return Perceptron(**settings)  # type: ignore[arg-type]
    if objective.smooth:
        return LBFGS(**settings)  # type: ignore[arg-type]
    if objective.convex:
        return BlockFrankWolfe(**settings)  # type: ignore[arg-type]
    return CCCP(**settings)  # type: ignore[arg-type]
