"""What training with approximate oracles is worth (finley2008)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maximand.objective import Objective
from maximand.oracles import Over, Soft
from maximand.support import Array, Guarantee

Interval = tuple[float, float]


@dataclass(frozen=True)
class Intervals:
    """Where the truth lies when every oracle found at least rho of its maximum: [as found, at most].

    slack: the mean of max over y of score + cost, less the score of the annotation. objective: slack plus regulariser.
    risk: the bound on the mean cost of predictions on the training data, made by an inference that is as approximate.
    Means are over rows, tokens or nodes, as in the objective.
    """

    rho: float
    slack: Interval
    objective: Interval
    risk: Interval


@dataclass(frozen=True)
class Shortfall:
    """What is known at the end of training with oracles that may find too little.

    Of the examples, the slack found, the maximum of score + cost found and the score of the annotation, the last two
    where positive, added up and divided by the number of rows, tokens or nodes, all weighted; and the regulariser.
    """

    slack: float
    found: float
    annotated: float
    regularizer: float

    @classmethod
    def at(cls, objective: Objective, weights: Array) -> Shortfall | None:
        """Measure it at given weights; None for losses that are not a margin-rescaled hinge on full annotations."""
        if objective.loss.penalty != Soft(Over.ALL, cost=1) or not (objective.full and objective.convex):
            return None
        slack, annotated = objective.slacks(weights)
        share = objective.share
        return cls(
            float(share @ slack),
            float(share @ np.maximum(slack + annotated, 0.0)),
            float(share @ np.maximum(annotated, 0.0)),
            0.5 * objective.regularization * float(weights @ weights),
        )

    def intervals(self, rho: float) -> Intervals:
        """Return the paper's three intervals.

        A maximum f of which rho f was found is at most found / rho: hence the slack's, and the objective's. An output
        predicted with rho of the best score costs at most f - rho * score(y*), which is the slack plus (1 - rho)
        score(y*).
        """
        if not 0.0 < rho <= 1.0:
            raise ValueError(f"rho is {rho}; it must be above 0 and at most 1.")
        largest = self.slack + (1.0 - rho) / rho * self.found
        return Intervals(
            rho,
            (self.slack, largest),
            (self.regularizer + self.slack, self.regularizer + largest),
            (self.slack, largest + (1.0 - rho) * self.annotated),
        )


DOUBTS = {
    Guarantee.UNDER: "The oracles returned lower bounds: the true value may be higher.",
    Guarantee.OVER: "The oracles returned upper bounds: the true value may be lower.",
    Guarantee.ESTIMATE: "The oracles returned estimates: the value is one too.",
}


def in_words(
    guarantee: Guarantee,
    convex: bool,
    gap: float | None,
    excess: float | None = None,
    unconverged: int = 0,
    contradicted: int | None = None,
) -> str:
    """Say what the value and the gap of a run are worth."""
    text = _worth(guarantee, convex, gap, excess)
    if contradicted is not None:
        text += f" At example {contradicted} inference found less than the annotated output has: see check_oracle."
    if unconverged:
        text += f" The oracles of {unconverged} examples had not converged when they were last asked."
    return text


def _worth(guarantee: Guarantee, convex: bool, gap: float | None, excess: float | None) -> str:
    if not convex:
        text = "The objective is not convex: the value is that of the weights, and there is no bound on the minimum."
        return f"{text} {DOUBTS[guarantee]}" if guarantee in DOUBTS else text
    if excess is not None:
        return (
            f"The oracles returned lower bounds and knew how far off these may be: the true objective is at most "
            f"{excess:.3g} higher, which the gap includes: it is a certificate."
        )
    if guarantee is Guarantee.UNDER:
        return (
            "The oracles returned lower bounds: the true objective may be higher and the gap is an estimate; "
            "intervals(rho) says how much higher where every oracle found at least rho of its maximum."
        )
    if guarantee is Guarantee.ESTIMATE:
        return "The oracles returned estimates: neither the value nor the gap is proven."
    value = (
        "The oracles returned upper bounds: the value is that of a relaxation, never below the true objective"
        if guarantee is Guarantee.OVER
        else "The oracles were exact"
    )
    if gap is None:
        return f"{value}; this solver has no bound on the minimum."
    relaxed = " of the relaxation" if guarantee is Guarantee.OVER else ""
    return f"{value}; the gap is a certificate: the minimum{relaxed} is at most so much lower."
