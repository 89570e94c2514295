"""Max-margin min-entropy models: the baseline that prefers outputs whose hidden states are certain.

    score(y) = [alpha S_(1/alpha)(y) - S_1(y)] / (alpha - 1), where S_tau(y) = tau log sum_h exp(score(y, h) / tau)

This is the log-sum over hidden states less the Renyi entropy of how they are distributed, so outputs count whose hidden
states are certain. For alpha -> infinity it is the maximum over h, the score of the latent SVM. It is a difference of
convex functions inside of a maximum, and so is the loss max_y [cost + score(y)] - score(y*). CCCP replaces S_1 in the
maximum, and S_(1/alpha) at y*, by their tangents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from maximand.papers.ping2014.hidden_chains import (
    COLD,
    HiddenChains,
    Scores,
    Value,
    minimized,
    soft,
    test_chains,
    training_chains,
)
from maximand.papers.ping2014.training import Problem, percent_right
from maximand.support import Array, Ints

ROUNDS, ENOUGH = 8, 5e-3  # at most so many rounds of CCCP, and the share of the value that the last one gains


@dataclass(frozen=True)
class M3E:
    """The model with a given alpha, above 1."""

    alpha: float

    def _mixed(self, peaked: Array, plain: Array) -> Array:
        """Return what is made of both log-sums, or of their gradients."""
        return (self.alpha * peaked - plain) / (self.alpha - 1.0)

    def pairs(self, hidden: Array) -> Array:
        """Return the scores of pairs of outputs around hidden nodes."""
        return self._mixed(soft(hidden, 1.0 / self.alpha)[0], soft(hidden, 1.0)[0])

    def losses(self, chains: HiddenChains, scores: Scores) -> Array:
        """Return max_y [cost + score(y)] - score(y*) of every example."""
        pairs = self.pairs(scores.hidden)
        known = chains.known(np.zeros((*pairs.shape[:2], scores.hidden.shape[-1])))
        own = (known.outputs * scores.outputs).sum(axis=(1, 2)) + pairs[chains.beside].sum(axis=1)
        return chains.penalty(scores.outputs, pairs)[0] - own

    def surrogate(self, chains: HiddenChains, before: Scores, temperature: float = COLD) -> Callable[[Scores], Value]:
        """Return the convex loss that touches at some scores and lies above; maxima are soft at a temperature."""
        plain, plain_shares = soft(before.hidden, 1.0)
        rest = plain - (plain_shares * before.hidden).sum(axis=-1)  # what the tangent has beside its slope
        at_known = before.hidden[chains.beside]
        peaked, peaked_shares = soft(at_known, 1.0 / self.alpha)
        peaked_rest = peaked - (peaked_shares * at_known).sum(axis=-1)

        def loss(scores: Scores) -> Value:
            value, shares = soft(scores.hidden, 1.0 / self.alpha)
            pairs = self._mixed(value, (plain_shares * scores.hidden).sum(axis=-1) + rest)
            penalty, of_outputs, of_pairs = chains.penalty(scores.outputs, pairs, temperature)
            at_known = scores.hidden[chains.beside]
            own, own_shares = soft(at_known, 1.0)
            reward = self._mixed((peaked_shares * at_known).sum(axis=-1) + peaked_rest, own).sum(axis=1)
            known = chains.known(self._mixed(peaked_shares, own_shares))
            values = penalty - reward - (known.outputs * scores.outputs).sum(axis=(1, 2))
            slope = of_pairs[..., None] * self._mixed(shares, plain_shares)
            return Value(values, Scores(of_outputs - known.outputs, slope - known.hidden))

        return loss

    def fitted(self, problem: Problem, weights: Array) -> Array:
        """Train by CCCP from some weights."""
        chains, last = training_chains(problem), np.inf
        for _ in range(ROUNDS):
            weights, value = minimized(chains, self.surrogate(chains, chains.scores(weights)), weights)
            if last - value <= ENOUGH * abs(value):
                break
            last = value
        return weights

    def predicted(self, chains: HiddenChains, weights: Array) -> Ints:
        """Return the outputs of largest score."""
        scores = chains.scores(weights)
        return chains.best(scores.outputs, self.pairs(scores.hidden))

    def accuracy(self, problem: Problem, weights: Array) -> float:
        """Return how many outputs of the test examples are predicted right, in per cent."""
        return percent_right(self.predicted(test_chains(problem), weights), problem.test)
