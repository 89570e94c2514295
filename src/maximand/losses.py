"""Every loss is a penalty minus a reward, both convex in theta."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from maximand.caching import cached_property
from maximand.capabilities import Can
from maximand.identity import identity
from maximand.one_versus_all import OneVersusAll
from maximand.oracles import Entropic, Euclidean, Larger, Oracle, Over, Projection, Rescaled, Soft, Target
from maximand.sets import Everything
from maximand.spaces import OutputSpace
from maximand.support import Array, Bools, Support


@dataclass(frozen=True)
class Loss:
    """loss(theta) = penalty(theta) - reward(theta); without a reward the penalty alone."""

    name: str
    penalty: Oracle
    reward: Oracle | None

    @property
    def needs(self) -> Can:
        """What both sides ask of a space beyond what every space can."""
        return self.penalty.needs if self.reward is None else self.penalty.needs | self.reward.needs

    @cached_property
    def identities(self) -> dict[str, str]:
        """What tells each side from other oracles: all that it holds."""
        return {"penalty": identity(self.penalty), "reward": identity(self.reward)}

    @property
    def reads_cost(self) -> bool:
        """Whether it depends on what mistakes cost."""
        return self.penalty.reads_cost or (self.reward is not None and self.reward.reads_cost)

    def check(self, space: OutputSpace) -> None:
        """Refuse a space that cannot answer."""
        space.require(self.needs)

    def __call__(self, space: OutputSpace, theta: Array, target: Target) -> Support:
        """Return the loss of every example and its gradient in theta, whatever theta was made by: the door for others.

        theta may come from a neural network: multiply its Jacobian with the `mean` of the answer, the gradient. The
        scores of shared kinds have to be given for every example (`layout.expand`), as the gradient is.
        """
        loss = self.on(target.annotation.full)
        loss.check(space)
        penalty = loss.penalty(space, theta, target)
        if loss.reward is None:
            return penalty
        reward = loss.reward(space, theta, target)
        return Support(penalty.value - reward.value, penalty.mean - reward.mean, penalty.guarantee & -reward.guarantee)

    def on(self, full: Bools) -> Loss:
        """Return the same loss of examples that are annotated in full or not; refuse what it cannot do.

        Where all are, nothing is hidden, so both sides have one temperature.
        """
        if not full.all():
            if isinstance(self.penalty, Rescaled):
                raise ValueError(
                    f"{self.name} needs full annotations and example {np.argmin(full)} is partial; use hinge."
                )
            return self
        if not isinstance(self.penalty, Soft):
            return self
        heat, reward = self.penalty.heats[0], self.reward
        if isinstance(reward, Soft) and reward.over is ANNOTATED:
            reward = replace(reward, temperature=heat)
        return replace(self, penalty=replace(self.penalty, temperature=heat), reward=reward)

    @property
    def rewarding_annotation(self) -> Loss:
        """The loss whose reward is the same (soft, regularised) maximum over Y* as the penalty's over Y."""
        if isinstance(self.penalty, Projection):
            return replace(self, reward=replace(self.penalty, over=ANNOTATED))
        heat = self.penalty.heats[1] if isinstance(self.penalty, Soft) else 0.0 if self.penalty.polyhedral else 1.0
        return replace(self, reward=Soft(ANNOTATED, temperature=heat))

    def convex(self, full: bool) -> bool:
        """Whether the loss is convex on data whose annotation is full or not: the reward must be linear."""
        return self.reward is None or self.reward.linear(full)

    @property
    def nonnegative(self) -> bool:
        """Whether the loss is never below zero: the penalty is at least as large a maximum as the reward."""
        return _covers(self.penalty, self.reward)

    @property
    def homogeneous(self) -> bool:
        """Whether scaling theta scales the loss, so that it is least at zero weights: no cost and no temperature."""
        sides = (self.penalty,) if self.reward is None else (self.penalty, self.reward)
        return all(isinstance(side, Soft) and not side.cost and side.polyhedral for side in sides)

    def smooth(self, full: bool) -> bool:
        """Whether the loss is differentiable."""
        return self.penalty.smooth and (self.reward is None or self.reward.smooth or self.reward.linear(full))


def _covers(penalty: Oracle, reward: Oracle | None) -> bool:
    """Whether the penalty is known to be as large as the reward everywhere; costs are not negative."""
    match penalty, reward:
        case Larger(), _:
            return _covers(penalty.first, reward) or _covers(penalty.second, reward)
        case Rescaled() | OneVersusAll(), None:
            return True
        case Soft(), Soft():
            return (
                penalty.over in (Over.ALL, reward.over)
                and penalty.cost >= reward.cost
                and penalty.heats[1] >= reward.heats[1]
                and (
                    reward.over is Over.ANNOTATED or penalty.heats[0] >= reward.heats[0]
                )  # all visible slots are known
            )
        case Projection(), Projection():
            return penalty.geometry is reward.geometry and reward.over is Over.ANNOTATED
    return False


ALL, ANNOTATED, OTHER = Over.ALL, Over.ANNOTATED, Over.OTHER

PERCEPTRON = Loss("perceptron", Soft(ALL), Soft(ANNOTATED))
HINGE = Loss("hinge", Soft(ALL, cost=1), Soft(ANNOTATED))
SLACK_HINGE = Loss("slack_hinge", Rescaled(), None)
RAMP = Loss("ramp", Soft(ALL, cost=1), Soft(ALL))
MAX = Loss("max", Larger(Soft(OTHER, cost=1), Soft(ALL)), Soft(ALL))
BRIDGE = Loss("bridge", Larger(Soft(OTHER, cost=1), Soft(ANNOTATED)), Soft(ANNOTATED))
PAIR = Loss("pair", Larger(Soft(OTHER), Soft(ANNOTATED), margin=1), Soft(ANNOTATED))
CLPL = Loss("clpl", OneVersusAll(), None)
RAMP_MINUS_COST = Loss("ramp_minus_cost", Soft(ALL, cost=1), Soft(ALL, cost=-1))
MAX_MINUS_COST = Loss("max_minus_cost", Larger(Soft(OTHER, cost=1), Soft(ALL, cost=-1)), Soft(ALL, cost=-1))
CRF = Loss("crf", Soft(ALL, temperature=1), Soft(ANNOTATED, temperature=1))
AUGMENTED_CRF = Loss("augmented_crf", Soft(ALL, cost=1, temperature=1), Soft(ANNOTATED, temperature=1))


def generated(projection: Projection, name: str = "") -> Loss:
    """Return the loss that a projection generates: the regularised maximum less that over the annotated outputs.

    It is convex and smooth, and zero where the projection is psi(y).
    """
    geometry, onto = projection.geometry.name.lower(), type(projection.onto).__name__
    return Loss(name or f"{geometry} onto {onto}", projection, replace(projection, over=ANNOTATED))


def marginal(outputs: float = 0.0, hidden: float = 1.0, cost: float = 1.0) -> Loss:
    """Return the loss of ping2014: the temperatures of what is annotated, eps_y, and of what is not, eps_h.

    penalty = soft maximum over visible slots of cost * Delta + the soft maximum over hidden slots; reward = the soft
    maximum over hidden slots, given the annotation. Slots are hidden that an annotation leaves open, or that always
    are. (0, 1) is the marginal structured SVM, (0, 0) the latent one, (1, 1) the loss-augmented likelihood, without a
    cost the hidden CRF; with nothing hidden (0, anything) is the hinge.
    """
    if not all(isinstance(number, Real) and 0.0 <= number < np.inf for number in (outputs, hidden, cost)):
        raise ValueError(
            f"marginal() has the temperatures ({outputs!r}, {hidden!r}) and {cost!r} times the cost; give finite "
            "numbers, at least 0."
        )
    temperatures = float(outputs), float(hidden)
    name = "marginal" if (*temperatures, cost) == (0.0, 1.0, 1.0) else f"marginal({outputs:g}, {hidden:g})"
    penalty = Soft(ALL, cost=cost, temperature=temperatures)
    return Loss(name, penalty, Soft(ANNOTATED, temperature=temperatures[1]))


MARGINAL = marginal()
EUCLIDEAN = generated(Euclidean(), "euclidean")
ENTROPIC = generated(Entropic(), "entropic")
SQUARED = generated(Euclidean(Everything()), "squared")

LOSSES = {
    loss.name: loss
    for loss in (
        PERCEPTRON, HINGE, SLACK_HINGE, RAMP, MAX, BRIDGE, PAIR, CLPL, RAMP_MINUS_COST, MAX_MINUS_COST, CRF,
        AUGMENTED_CRF, MARGINAL, EUCLIDEAN, ENTROPIC, SQUARED,
    )
}  # fmt: skip


def named(loss: str | Loss | Projection) -> Loss:
    """Return the loss of that name, or the one that a projection generates; a Loss is returned as it is."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, Projection):
        return next((known for known in LOSSES.values() if known.penalty == loss), None) or generated(loss)
    if not isinstance(loss, str) or loss not in LOSSES:
        raise ValueError(
            f"There is no loss {loss!r}; choose one of {', '.join(LOSSES)}, or give a Loss, or a projection such as "
            "Euclidean()."
        )
    return LOSSES[loss]
