"""Modelling latent variables apart: the baseline with a second model for what hidden states are likely in training.

    min over w, theta of the sum over i of sum_h Delta(y_i, h; y(w), h(w)) P_theta(h | x_i, y_i)
                                           - beta sum_{h, h'} Delta(y_i, h; y_i, h') P_theta(h) P_theta(h'),

where (y(w), h(w)) is the joint MAP and Delta counts wrong outputs and wrong hidden states: with outputs alone this is
the latent SVM. Given theta, the first term is bounded like the cost of a latent SVM,
max_(y, h) [score + expected Delta] - max_h score(y_i, h), and CCCP lowers the bound. Given w, theta is smooth: hidden
nodes are independent given all outputs. Both models are regularised alike.
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
    joint_map,
    minimized,
    soft,
    training_chains,
)
from maximand.papers.ping2014.simulators import STATES
from maximand.papers.ping2014.training import Problem
from maximand.support import Array, Ints

ROUNDS, ENOUGH = 8, 5e-3  # at most so many rounds, and the share of the value that the last one gains


@dataclass(frozen=True)
class ModLat:
    """The two models with a given beta."""

    beta: float

    def surrogate(
        self, chains: HiddenChains, before: Scores, chances: Array, temperature: float = COLD
    ) -> Callable[[Scores], Value]:
        """Return the convex loss of the predicting model, given the chances (example, hidden node, state) of the other.

        The reward is frozen at the best hidden states before; maxima are soft at a temperature.
        """
        cost = (1.0 - chances)[:, :, None, None, :]
        known = chains.known(soft(before.hidden[chains.beside], 0.0)[1])

        def loss(scores: Scores) -> Value:
            pairs, shares = soft(scores.hidden + cost, temperature)
            penalty, of_outputs, of_pairs = chains.penalty(scores.outputs, pairs, temperature)
            reward = (known.outputs * scores.outputs).sum(axis=(1, 2))
            reward += (known.hidden * scores.hidden).sum(axis=(1, 2, 3, 4))
            mean = Scores(of_outputs - known.outputs, of_pairs[..., None] * shares - known.hidden)
            return Value(penalty - reward, mean)

        return loss

    def disagreement(self, chains: HiddenChains, guessed: Ints) -> Callable[[Scores], Value]:
        """Return the loss of the other model, given the hidden states (example, hidden node) that are predicted.

        It is the expected number of wrong ones, less beta times the expected number in which two draws differ.
        """
        guess = np.eye(STATES)[guessed]

        def loss(scores: Scores) -> Value:
            chances = soft(scores.hidden[chains.beside], 1.0)[1]
            merit = guess - 2.0 * self.beta * chances  # minus the gradient in the chances
            wrong, differing = 1.0 - (guess * chances).sum(axis=-1), 1.0 - (chances**2).sum(axis=-1)
            slope = -chances * (merit - (merit * chances).sum(axis=-1, keepdims=True))
            values = (wrong - self.beta * differing).sum(axis=1)
            mean = chains.known(slope)
            return Value(values, Scores(np.zeros_like(scores.outputs), mean.hidden))

        return loss

    def fitted(self, problem: Problem, weights: Array) -> Array:
        """Train both models in turns from the same weights; return those of the one that predicts."""
        chains, other, last = training_chains(problem), weights, np.inf
        for _ in range(ROUNDS):
            guessed = joint_map(chains, chains.scores(weights))
            other, _ = minimized(chains, self.disagreement(chains, guessed), other)
            chances = soft(chains.scores(other).hidden[chains.beside], 1.0)[1]
            weights, value = minimized(chains, self.surrogate(chains, chains.scores(weights), chances), weights)
            if abs(last - value) <= ENOUGH * abs(value):
                break
            last = value
        return weights

    def accuracy(self, problem: Problem, weights: Array) -> float:
        """Return how many outputs of the test examples joint MAP predicts right, in per cent."""
        return problem.accuracy(weights, 0.0)
